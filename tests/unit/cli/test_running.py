"""Every foreseen error is one line on standard error and an exit status; no traceback."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner, Result

from contactmesh.cli.errors import RefusedByService, SystemUnreachable, WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.running import OneLineErrors, async_command
from contactmesh.contacts.errors import CardTooLarge
from contactmesh.contracts.errors import ErrorBody, ErrorCode, Refusal, invalid_field
from contactmesh.local.errors import BrokerManagementError, LocalStackError, NoStackRunsError
from contactmesh.terminal.errors import CommandRefused, IdentityUnavailable, NoReply, NotEnrolled


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


def run(error: BaseException | None = None, *arguments: str) -> Result:
    """Run a command that raises `error`."""
    app = typer.Typer(cls=OneLineErrors, no_args_is_help=True)

    @app.command()
    @async_command
    async def work(
        number: Annotated[int, typer.Option(min=0, max=5)] = 0,
        switch: Annotated[Switch, typer.Option()] = Switch.ON,
    ) -> None:
        await asyncio.sleep(0)
        if error is not None:
            raise error
        typer.echo(f"done {number}")

    @app.command()
    def other() -> None:
        """Make the application one with sub-commands."""

    return CliRunner().invoke(app, arguments or ("work",), prog_name="contactmesh")


def test_command_that_returns_is_ok() -> None:
    result = run()
    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.OK, "done 0\n", "")


CONFLICT = ErrorBody(code=ErrorCode.CONFLICT, message="Taken. Choose another.")
AWAY = ErrorBody(code=ErrorCode.UNAVAILABLE, message="Away. Try again.")


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (RefusedByService(CONFLICT), ExitCode.FAILED, "Taken. Choose another."),
        (RefusedByService(AWAY), ExitCode.UNREACHABLE, "Away. Try again."),
        (SystemUnreachable("Nobody answers."), ExitCode.UNREACHABLE, "Nobody answers."),
        (WrongUsage("Not like this."), ExitCode.USAGE, "Not like this."),
        (NotEnrolled("Enrol first."), ExitCode.FAILED, "Enrol first."),
        (CommandRefused(CONFLICT), ExitCode.FAILED, "Taken. Choose another."),
        (IdentityUnavailable("Try later."), ExitCode.UNREACHABLE, "Try later."),
        (NoStackRunsError("None runs."), ExitCode.UNREACHABLE, "None runs."),
        (BrokerManagementError("No broker."), ExitCode.UNREACHABLE, "No broker."),
        (LocalStackError("Cannot start."), ExitCode.FAILED, "Cannot start."),
        (Refusal(ErrorCode.NOT_FOUND, "No such group."), ExitCode.FAILED, "No such group."),
        (CardTooLarge("card", 2, 1), ExitCode.FAILED, str(CardTooLarge("card", 2, 1))),
        (FileNotFoundError(2, "No such file", "a.vcf"), ExitCode.FAILED, "a.vcf: No such file."),
        (LocalStackError("two\nlines"), ExitCode.FAILED, "two lines"),
    ],
)
def test_foreseen_error_is_one_line(error: Exception, status: ExitCode, line: str) -> None:
    result = run(error)
    assert result.exit_code == status
    assert result.stderr == f"error: {line}\n"
    assert result.stdout == ""


def test_refused_field_is_named_with_its_path() -> None:
    result = run(invalid_field("/data/card/name", "too long"))
    assert result.stderr.endswith("/data/card/name: too long.\n")


def test_no_reply_is_a_matter_of_trying_again() -> None:
    assert run(NoReply("group.create", "id-1", 5)).exit_code == ExitCode.UNREACHABLE


def test_fault_of_the_program_is_not_hidden() -> None:
    result = run(ZeroDivisionError())
    assert isinstance(result.exception, ZeroDivisionError)


def test_ctrl_c_has_the_status_that_shells_expect() -> None:
    assert run(KeyboardInterrupt()).exit_code == ExitCode.INTERRUPTED
    assert run(typer.Abort()).exit_code == ExitCode.INTERRUPTED


def test_status_that_a_command_exits_with_is_kept() -> None:
    assert run(typer.Exit(7)).exit_code == 7


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["wrk"], "No such command 'wrk'. Did you mean 'work'? See 'contactmesh --help'."),
        (["work", "--number", "x"], "See 'contactmesh work --help'."),
        (
            ["work", "--nmber", "1"],
            "No such option: --nmber. Did you mean --number? See 'contactmesh work --help'.",
        ),
        (
            ["work", "--number", "9"],
            "'--number': it should be at most 5. See 'contactmesh work --help'.",
        ),
        (
            ["work", "--number", "-1"],
            "Invalid value for '--number': it should be at least 0. See 'contactmesh work --help'.",
        ),
        (
            ["work", "--switch", "maybe"],
            "'--switch': 'maybe' is not one of 'on', 'off'. See 'contactmesh work --help'.",
        ),
        (["work", "more"], "Not understood: more. See 'contactmesh work --help'."),
    ],
)
def test_wrong_usage_is_one_line_that_points_to_the_help(arguments: list[str], line: str) -> None:
    result = run(None, *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert result.stderr.startswith("error: ")
    assert result.stderr.endswith(f"{line}\n")
    assert result.stderr.count("\n") == 1


def test_error_about_a_real_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as raised:
        missing.read_bytes()
    assert run(raised.value).stderr == f"error: {missing}: No such file or directory.\n"
