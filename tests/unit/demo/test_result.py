"""How a run that went wrong is told, to people and to scripts."""

import json

import pytest
import typer
from typer.testing import CliRunner

from contactmesh.cli import demo as command
from contactmesh.demo.checks import Difference, Fault
from contactmesh.demo.narration import Narrator
from contactmesh.demo.result import Counted, Result, told
from contactmesh.demo.run import Demo

WRONG = Difference(Fault.WRONG, "ivy phone", "Henry", "Henry · 1", "Henry · 2")
LEAKED = Difference(Fault.LEAKED, "carol phone", "reply", "", "+44 7700 900388")
COUNTED = Counted(
    members=23,
    changes=13,
    delivered=221,
    withheld_by_block=6,
    leaked=1,
    lost=1,
    p50_ms=20.5,
    p99_ms=45.0,
)
FAILED = Result(COUNTED, (WRONG, LEAKED), contacts=431, messages=878)
RIGHT = Result(COUNTED, (), contacts=431, messages=878)


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(command.demo)
    return app


def ends_with(result: Result | None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(self: Demo) -> Result | None:
        return result

    monkeypatch.setattr(Demo, "run", run)


def test_every_difference_is_one_line() -> None:
    assert told(WRONG) == "wrong: ivy phone: Henry: must be [Henry · 1]: is [Henry · 2]"
    assert told(LEAKED) == "leaked: carol phone: reply: is [+44 7700 900388]"


def test_people_are_told_every_difference(capsys: pytest.CaptureFixture[str]) -> None:
    FAILED.tell(Narrator(), books=25)

    out = capsys.readouterr().out
    assert "Not as it must be: 2" in out
    assert told(LEAKED) in out


def test_a_run_with_differences_fails(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    ends_with(FAILED, monkeypatch)

    ended = CliRunner().invoke(app, ["--json"])

    assert ended.exit_code == 1
    assert json.loads(ended.stdout) == COUNTED.model_dump()
    assert told(LEAKED) in ended.stderr


def test_a_run_without_differences_is_right(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_with(RIGHT, monkeypatch)

    ended = CliRunner().invoke(app, ["--json"])

    assert (ended.exit_code, ended.stderr) == (0, "")


def test_an_interrupted_run_says_so(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    ends_with(None, monkeypatch)

    ended = CliRunner().invoke(app, [])

    assert (ended.exit_code, ended.stdout) == (130, "")
