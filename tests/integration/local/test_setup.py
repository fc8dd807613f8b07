"""What a newcomer meets first: `make` and the setup script."""

import os
import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[3]
SETUP = PROJECT / "deploy" / "local" / "setup.sh"


def run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        cwd=PROJECT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_make_alone_teaches_every_target() -> None:
    help_text = run("make", MAKEFLAGS="").stdout
    (targets,) = re.findall(r"^\.PHONY: (help .*)$", (PROJECT / "Makefile").read_text(), re.M)
    taught = re.findall(r"^  make (\w+)", help_text, re.M)
    assert set(taught) == set(targets.split()) - {"help"}


def test_an_old_python_is_told_with_what_to_do(tmp_path: Path) -> None:
    old = tmp_path / "old python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.10.1 || exit 1\n')
    old.chmod(0o755)
    setup = run("sh", str(SETUP), "python", PYTHON=str(old))
    assert setup.returncode == 1
    assert "Python 3.11 or newer is needed; found: Python 3.10.1." in setup.stderr
    assert "make setup PYTHON=" in setup.stderr


def test_a_given_broker_needs_no_installation() -> None:
    setup = run("sh", str(SETUP), "broker", AMQP_URL="amqp://elsewhere/", PATH="/usr/bin:/bin")
    assert (setup.returncode, setup.stdout, setup.stderr) == (0, "", "")
