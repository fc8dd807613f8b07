"""Terminals that are enrolled but that no system is behind."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner, Result

from contactmesh.cli.app import app
from contactmesh.contracts.identity import Credentials
from contactmesh.terminal import Enrolment, TerminalFolder

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data folder, on a terminal of 100 columns."""
    for name in ("CONTACTMESH_AS", "CONTACTMESH_TERMINAL", "CONTACTMESH_IDENTITY_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "a stack"
    monkeypatch.setenv("CONTACTMESH_HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """What a command sets up for its process does not stay for the tests that follow."""
    configured = structlog.get_config()
    levels = {name: logging.getLogger(name).level for name in ("aio_pika", "aiormq")}
    yield
    structlog.configure(**configured)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def enrolled(data: Path) -> Callable[[str], None]:
    """Enrols a terminal under a name, as if identity_service had let it in."""

    def enrol(name: str) -> None:
        terminal_id = f"{name}_aaaaaaaa"
        credentials = Credentials(
            user_id=name,
            display_name=name,
            terminal_id=terminal_id,
            secret="a secret",
            queue=f"terminal.{terminal_id}",
            broker_url="amqp://127.0.0.1:9/",
        )
        enrolment = Enrolment(
            identity_url="http://127.0.0.1:9", credentials=credentials, region="CN"
        )
        TerminalFolder(data / "terminals" / name).write(enrolment)

    return enrol


@pytest.fixture
def run() -> Run:
    """Runs `contactmesh terminal`."""

    def run(*arguments: str, stdin: str = "") -> Result:
        result = CliRunner().invoke(
            app, ["terminal", *arguments], input=stdin.encode(), prog_name="contactmesh"
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
