"""What can go wrong with a local stack: a closed family, each message saying what to do."""


class LocalStackError(Exception):
    """Any failure of a local stack; its text is one line written for the person at the terminal."""


class NotInstalledError(LocalStackError):
    """A program that the stack starts is not on this machine."""


class DidNotStartError(LocalStackError):
    """A process ended, or was not ready in time, while the stack was starting."""


class StackRunsAlreadyError(LocalStackError):
    """Another stack uses the same data folder."""


class NoStackRunsError(LocalStackError):
    """No stack runs on the data folder that was asked about."""


class StackSettingsError(LocalStackError):
    """A setting of the stack cannot be used: an unknown service, a number of copies below one."""


class BrokerManagementError(LocalStackError):
    """The broker's management API refused a request or could not be reached."""
