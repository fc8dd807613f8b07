"""What a terminal tells of its address book and of syncing it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from contactmesh.terminal.entries import Contact
from contactmesh.terminal.rules.arriving import Arrived
from contactmesh.terminal.rules.scheduling import Schedule

TELLING_AFTER: Final = timedelta(days=1)
"""A sync that fails for so long is told wherever contacts are shown."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that the server does not take as it is here. It is sent again once it is edited.

    One that was erased elsewhere is not here any more, and is told by the sync that found it out.

    Attributes:
        uid: the entry's uid.
        display_name: its name here, empty if it was deleted here.
        problem: why, in words.
    """

    uid: str
    display_name: str
    problem: str


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What a sync did.

    Attributes:
        sent: changes that the server took.
        received: contacts that other terminals added, changed or deleted, and that are so here
            now: also what was pushed since this terminal was opened, or synced last.
        merged: changes that were joined with what other terminals had changed.
        conflicts: changes that met others of the same; what lost is kept, see `conflicts`.
        rejected: all that the server does not take now, of this sync and of earlier ones.
        full: whether the whole book had to be compared.
        arrived: what was received, each contact once.
    """

    sent: int = 0
    received: int = 0
    merged: int = 0
    conflicts: int = 0
    rejected: tuple[Rejected, ...] = ()
    full: bool = False
    arrived: tuple[Arrived, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncState:
    """How the sync of a phonebook stands.

    Attributes:
        last_sync_at: when the last one ended well, none if none did.
        failing_since: when the first one failed since then.
        problem: why the last one failed.
        waiting: entries of which the server has still to be told.
        rejected: entries that the server does not take as they are.
        schedule: when it syncs by itself.
    """

    last_sync_at: datetime | None = None
    failing_since: datetime | None = None
    problem: str | None = None
    waiting: int = 0
    rejected: tuple[Rejected, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)

    def failing_long(self, now: datetime) -> bool:
        """Whether it has failed for a day or longer."""
        return self.failing_since is not None and now - self.failing_since >= TELLING_AFTER


@dataclass(frozen=True, slots=True)
class RestoredBook:
    """What restoring the book did.

    Attributes:
        restored: entries that are again as they were.
        before: when it was still as it had been, by the server's clock: restoring it to that
            moment takes this back.
    """

    restored: int
    before: datetime


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two of the owner's entries that may be of one person.

    Attributes:
        score: from 0 to 1, how likely it is.
        reasons: what they share, the strongest first.
    """

    first: Contact
    second: Contact
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Two entries that were made one, for `undo_join`."""

    join_id: str
    joined_at: datetime
    display_name: str
