"""Only what a command needs is loaded: people wait for it each time."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("contactmesh.terminal", "contactmesh.contacts", "contactmesh.demo.run", "aiohttp")
SCRIPT = f"""
import sys
from contactmesh.cli.entry import main
try:
    main()
finally:
    print(*(name for name in {HEAVY} if name in sys.modules))
"""


def loaded(home: Path, *arguments: str) -> set[str]:
    """Which of the heavy modules a command loads."""
    ended = subprocess.run(
        (sys.executable, "-c", SCRIPT, *arguments),
        env={"CONTACTMESH_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=100,
    )
    return set(ended.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "not_needed"),
    [
        (("--version",), set(HEAVY)),
        (("terminal", "contacts"), {"contactmesh.demo.run", "aiohttp"}),
        (("vcard", "check", "missing.vcf"), {"contactmesh.demo.run", "aiohttp"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_loads_no_more_than_it_needs(
    tmp_path: Path, arguments: tuple[str, ...], not_needed: set[str]
) -> None:
    assert loaded(tmp_path, *arguments) & not_needed == set()
