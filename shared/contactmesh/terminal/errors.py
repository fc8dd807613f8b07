"""The closed family of errors that a terminal raises; every message says what to do."""

import asyncio

from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.terminal.space_entries import AcceptOutcome


class TerminalError(Exception):
    """Anything that a terminal cannot do.

    Attributes:
        accepted: when accepting contacts failed, what had been accepted before.
    """

    accepted: AcceptOutcome | None = None


class AcceptingCancelled(asyncio.CancelledError):
    """Accepting contacts was cancelled.

    Attributes:
        accepted: what had been accepted before.
    """

    def __init__(self, accepted: AcceptOutcome) -> None:
        super().__init__()
        self.accepted: AcceptOutcome = accepted


class NotEnrolled(TerminalError):
    """The folder holds no credentials, or none that can be read."""


class FolderUnusable(TerminalError):
    """The terminal's folder cannot be read or written; the message says what the system found."""


class AlreadyEnrolled(TerminalError):
    """The folder holds a terminal's credentials; overwriting them would lose that terminal."""


class TerminalInUse(TerminalError):
    """Another process runs this terminal; two would take each other's replies."""


class IdentityUnavailable(TerminalError):
    """identity_service cannot be reached or does not answer. Try again later."""


class TransportNotOffered(TerminalError):
    """The system does not speak the protocol that the terminal is to use. Use another."""


class AuthenticationRefused(TerminalError):
    """The broker or identity_service does not know these credentials. Enrol again."""


class TerminalClosed(TerminalError):
    """The terminal was left (`async with`) while something still waited for it."""


class NoReply(TerminalError):
    """No answer within the deadline. The command may have taken effect or not.

    Attributes:
        command: the command's `type`, for example `group.create`.
        message_id: the id under which it was sent. `Terminal.request` takes it back, so that the
            same command can be asked for again without taking effect twice.
        seconds: how long the terminal waited.
    """

    def __init__(self, command: str, message_id: str, seconds: float) -> None:
        super().__init__(
            f"{command} got no reply within {seconds:g} seconds. Check the connection, then ask "
            f"again with message_id={message_id!r}: it takes effect once however often it is sent."
        )
        self.command = command
        self.message_id = message_id
        self.seconds = seconds


class CommandRefused(TerminalError):
    """A service answered that the command had no effect.

    Attributes:
        error: the reason, with a code of the closed list (DESIGN §4) and its details.
    """

    def __init__(self, error: ErrorBody) -> None:
        super().__init__(f"{error.message} ({error.code})")
        self.error = error

    @property
    def code(self) -> ErrorCode:
        """The reason's code."""
        return self.error.code


class RevisionConflict(CommandRefused):
    """Another of the user's terminals published since; pull, look, and publish again.

    Attributes:
        current_rev: the revision that stands, to base the next try on.
    """

    def __init__(self, error: ErrorBody) -> None:
        super().__init__(error)
        rev = error.details.get("current_rev")
        self.current_rev: int | None = rev if isinstance(rev, int) else None


class EnrolmentRefused(CommandRefused):
    """identity_service refused: the code is wrong, used or expired. Ask for another."""


class UnreadableReply(TerminalError):
    """A reply does not have the form that its command promises. Update the terminal."""


class UnknownContact(TerminalError):
    """The phonebook has no contact with this id; list the contacts to find it."""


class NobodyToAskAbout(TerminalError):
    """A contact is nobody whom the carrier registry could be asked about; the message says why."""


class LinkRefused(TerminalError):
    """The contact and the member cannot be linked or unlinked; the message says why."""


class NoOwnEntry(TerminalError):
    """A group brought the contact; the owner has no entry of their own that could be deleted."""


class UnfitUid(TerminalError):
    """No entry of the book has such a uid: it is too long, or has control characters."""


class UnknownJoin(TerminalError):
    """There is no such join, or it is longer ago than joins can be undone."""


class UnknownSim(TerminalError):
    """The user has no such SIM; list the accounts to find it."""


class SimElsewhere(TerminalError):
    """The SIM is in another terminal; move it to this one first, if it is here."""


class LargeRemoval(TerminalError):
    """More than half of the contacts, and more than ten, would be removed; say that they may be.

    Attributes:
        removals: how many contacts would be removed.
        contacts: how many there are.
        accepted: what was accepted before, all but the removals; none of a store.
    """

    def __init__(self, removals: int, contacts: int) -> None:
        super().__init__(
            f"{removals} of {contacts} contacts would be removed. Look whether that is meant, then "
            "ask again with removals=True."
        )
        self.removals = removals
        self.contacts = contacts


class PhonebookUnusable(TerminalError):
    """The phonebook's file cannot be read or written; the message says what SQLite found."""


class PhonebookTooNew(TerminalError):
    """A newer version wrote this phonebook. Update the terminal."""


def refusal_of(error: ErrorBody) -> CommandRefused:
    """The error to raise for a reply that refuses."""
    if error.code is ErrorCode.CONFLICT and "current_rev" in error.details:
        return RevisionConflict(error)
    return CommandRefused(error)
