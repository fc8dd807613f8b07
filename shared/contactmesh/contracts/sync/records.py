"""What sync_service keeps of address books, in the words that commands and results share."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, StringConstraints

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identifiers import GROUP_ID_PATTERN, Rev, TerminalId
from contactmesh.contracts.multi_sim.records import ContactUid, Digest

BookId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$")]
"""What its owner calls an address book; `main` is everybody's first."""

Token = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""Where the next exchange goes on: opaque, signed, good for one user's one book for 30 days."""

ConflictId = Annotated[str, StringConstraints(pattern=GROUP_ID_PATTERN)]


def _in_utc(time: datetime) -> datetime:
    # Phones write times without a zone; what `sent_at` measures corrects the difference.
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


TerminalTime = Annotated[datetime, AfterValidator(_in_utc)]
"""A time by the terminal's clock, which may be wrong."""


class Policy(StrEnum):
    """What becomes of an edit where another terminal has edited the same contact."""

    MERGE = "merge"
    """Edits of different fields are both kept; of the same field the later one wins (row Y4)."""
    LATEST_WINS = "latest_wins"
    """The contact with the later update time wins whole, as the claim has it (rows Y3, Y4)."""


class Change(Message):
    """An entry's new contents, or its deletion, since the terminal last synced (rows Y1, Y2).

    `base_rev` is the revision that the terminal changed, none for an entry that it made. `card`
    is validated by itself, so that one bad card holds up nothing.
    """

    TYPE: ClassVar[str] = "change"

    uid: ContactUid
    op: Operation = Operation.MODIFIED
    base_rev: Rev | None = None
    updated_at: TerminalTime
    card: dict[str, Any] | None = None


class Outcome(StrEnum):
    """What became of a change."""

    APPLIED = "applied"
    """The entry is as the terminal has it."""
    SAME = "same"
    """It was so before; nothing was written."""
    MERGED = "merged"
    """It was joined with what others had changed; take over `card`."""
    SUPERSEDED = "superseded"
    """A later change stands, this one is in the history; take over `card`, or delete."""
    CONFLICT = "conflict"
    """Both sides changed the same; what lost is in the conflict inbox. Take over `card`."""
    REJECTED = "rejected"
    """It cannot be applied, and why. The others are not held up."""


class ChangeResult(Message):
    """What became of one change.

    Attributes:
        rev: the entry's revision now, none where it was rejected.
        deleted: whether the entry is deleted now.
        erased: it was rejected because the entry was erased: nothing of it is to be kept.
        card: the entry as it stands, where that is not what the terminal sent.
        name: the contact's name, where the change was rejected or is a conflict.
        code: why it was rejected.
        problem: the same in words, without contact details.
    """

    TYPE: ClassVar[str] = "change_result"

    uid: ContactUid
    outcome: Outcome
    rev: int | None = None
    deleted: bool = False
    erased: bool = False
    card: dict[str, Any] | None = None
    name: str | None = None
    code: ErrorCode | None = None
    problem: str | None = None


class BookEntry(Message):
    """An entry as it stands: its contents, or that it was deleted where there is no card.

    Of one that was `erased` nothing is to be kept that could bring it back.
    """

    TYPE: ClassVar[str] = "book_entry"

    uid: ContactUid
    rev: int
    updated_at: datetime
    card: dict[str, Any] | None = None
    erased: bool = False


class ListedEntry(Message):
    """An entry of a listing; without `digest` it was deleted. `card` only where asked for.

    `erased` is as in `BookEntry`.
    """

    TYPE: ClassVar[str] = "listed_entry"

    uid: ContactUid
    rev: int
    digest: Digest | None = None
    card: dict[str, Any] | None = None
    erased: bool = False


class Reason(StrEnum):
    """Why a version is in the history."""

    CURRENT = "current"
    """It stands."""
    REPLACED = "replaced"
    """It stood until a later one replaced it."""
    LOST = "lost"
    """It was sent and never stood, because a later change won."""


class Version(Message):
    """A version of an entry, as its history lists it; `card` only where asked for.

    `rev` names it for restoring. `made` says that it made the entry: none stood before. `until` is
    when it will be forgotten, none for what stands.
    """

    TYPE: ClassVar[str] = "version"

    rev: int
    reason: Reason
    at: datetime
    updated_at: datetime
    terminal_id: TerminalId | None = None
    made: bool = False
    deleted: bool = False
    name: str = ""
    changed_fields: tuple[str, ...] = ()
    card: dict[str, Any] | None = None
    until: datetime | None = None


class ConflictKind(StrEnum):
    """What two terminals did to one entry."""

    FIELD = "field"
    """Both changed the same field."""
    DELETION = "deletion"
    """One deleted what the other had edited; the edit stands."""
    WHOLE = "whole"
    """The later contact won whole, by the policy `latest_wins`."""


class ConflictView(Message):
    """A conflict that waits for its owner to look at it.

    `path` is where, as a JSON pointer without the first slash; `kept` and `lost` are the values
    there, none where there is none. For a whole contact, `lost` is the card that lost, none where
    that was a deletion; for a deletion it is none, because the edit stands.
    """

    TYPE: ClassVar[str] = "conflict_view"

    conflict_id: ConflictId
    kind: ConflictKind
    uid: ContactUid
    name: str
    at: datetime
    path: str = ""
    kept: Any = None
    lost: Any = None
    lost_by: TerminalId | None = None
