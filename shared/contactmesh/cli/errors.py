"""Errors of the command line itself, and how every error that is foreseen is told: in one line."""

from typing import Final

from contactmesh.cli import texts
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.contacts.errors import ContactError
from contactmesh.contracts.errors import ErrorBody, ErrorCode, Refusal
from contactmesh.local.errors import BrokerManagementError, LocalStackError, NoStackRunsError
from contactmesh.terminal.errors import CommandRefused, IdentityUnavailable, NoReply, TerminalError


class CommandError(Exception):
    """A command could not do what it was asked; the text is one line that says what to do."""

    exit_code = ExitCode.FAILED


class RefusedByService(CommandError):
    """A service said no."""

    def __init__(self, error: ErrorBody) -> None:
        super().__init__(_one_line(error))
        if error.code is ErrorCode.UNAVAILABLE:
            self.exit_code = ExitCode.UNREACHABLE


class SystemUnreachable(CommandError):
    """Nothing answers, or not what was expected."""

    exit_code = ExitCode.UNREACHABLE


class WrongUsage(CommandError):
    """Arguments that are wrong in a way that parsing the command line does not find."""

    exit_code = ExitCode.USAGE


FORESEEN: Final = (
    CommandError,
    TerminalError,
    LocalStackError,
    ContactError,
    Refusal,
    OSError,
)
"""What is told in one line. Anything else is a fault of the program and shows where it happened."""

_UNREACHABLE: Final = (
    IdentityUnavailable,
    NoReply,
    NoStackRunsError,
    BrokerManagementError,
    ConnectionError,
)


def exit_code_of(error: Exception) -> ExitCode:
    """The exit status that one of the `FORESEEN` errors ends a command with."""
    if isinstance(error, CommandError):
        return error.exit_code
    return ExitCode.UNREACHABLE if isinstance(error, _UNREACHABLE) else ExitCode.FAILED


def told(error: Exception) -> str:
    """One of the `FORESEEN` errors in one line."""
    match error:
        case Refusal(body=body) | CommandRefused(error=body):
            return _one_line(body)
        case OSError(filename=str(name), strerror=str(reason)):
            return texts.FILE_FAILED.format(name=name, reason=reason)
        case _:
            return " ".join(str(error).split()) or type(error).__name__


def _one_line(error: ErrorBody) -> str:
    fields = error.details.get("fields")
    problems = [
        texts.FIELD_PROBLEM.format(path=field.get("path"), problem=field.get("problem"))
        for field in (fields if isinstance(fields, list) else [])
        if isinstance(field, dict)
    ]
    return " ".join([error.message, *problems])
