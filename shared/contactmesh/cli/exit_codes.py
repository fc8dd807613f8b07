"""What a command's exit status says to the script that ran it."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit status of `contactmesh`."""

    OK = 0
    FAILED = 1
    """It was refused or could not be done."""
    USAGE = 2
    """The command line is wrong."""
    UNREACHABLE = 3
    """The system that it is about cannot be reached. Trying again later may help."""
    INTERRUPTED = 130
    """Ctrl-C."""
