"""`contact.changed`: the event that the services exchange and that terminals receive."""

from enum import StrEnum
from typing import Any, ClassVar, Final

from contactmesh.contracts.carrier.records import Line
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import GroupId, Rev, RevOrZero, TerminalId, UserId

MAIN_BOOK: Final = "main"
"""Everybody's first address book: the one that a phonebook is, and that SIM accounts follow."""


class Scope(StrEnum):
    """Whose state changed."""

    CARD = "card"
    """A person's own card as a group sees it."""
    LINE = "line"
    """A carrier registration."""
    BOOK = "book"
    """An entry in a user's address book."""
    SPACE = "space"
    """A SIM account's space."""


class Operation(StrEnum):
    """What happened to the contact."""

    MODIFIED = "modified"
    DELETED = "deleted"


class Origin(Message):
    """Who made the change, for services alone: it never reaches another user's terminal."""

    TYPE: ClassVar[str] = "origin"

    service: str
    terminal_id: TerminalId | None = None


class LineReplaced(Message):
    """How one number came to another, for scope `line`: what stood before, what stands now.

    Without `after` the number was withdrawn, without `before` it is new.
    """

    TYPE: ClassVar[str] = "line_replaced"

    before: Line | None = None
    after: Line | None = None


class PendingSpace(Message):
    """What waits for a SIM, for scope `space`: how many contacts, and in which terminal it is.

    `filling` says that a requested update is still being laid ready; its end is always told.
    """

    TYPE: ClassVar[str] = "pending_space"

    sim_id: str
    terminal_id: TerminalId
    waiting: RevOrZero
    filling: bool = False


class ContactChanged(Message):
    """A contact has a new state, carried whole, so that a consumer needs no order.

    `rev` orders the states of one contact within its group: it grows with each change, and its
    size and gaps say nothing else. `audience_version` is the group's audience at the moment of the
    change; whoever delivers the event must know at least that version.

    For scope `space`, `uid` is the SIM's id and `rev` the revision of its pending space. For scope
    `book`, `book` is the owner's name for the address book, and `own_card` says that the entry is
    its owner's own card, which the groups are to show; `erased` says that nothing of the entry is
    to be kept.
    """

    TYPE: ClassVar[str] = "contact.changed"

    scope: Scope
    owner_id: UserId
    uid: str
    rev: RevOrZero
    op: Operation = Operation.MODIFIED
    card: dict[str, Any] | None = None
    changed_fields: tuple[str, ...] = ()
    origin: Origin
    group_id: GroupId | None = None
    audience_version: Rev | None = None
    lines: tuple[LineReplaced, ...] = ()
    pending: PendingSpace | None = None
    book: str | None = None
    own_card: bool = False
    erased: bool = False


class ContactUpdate(Message):
    """`contact.changed` as a terminal receives it: what it may know and nothing more.

    For scope `space`, `uid` is the SIM's id, `waiting` how many contacts wait for it, and `filling`
    says that a requested update is still being laid ready; its end is always told. For scope
    `book`, `book` is the owner's name for the address book, and `erased` says that nothing of the
    entry is to be kept.
    """

    TYPE: ClassVar[str] = "contact.changed"

    scope: Scope
    owner_id: UserId
    uid: str
    rev: RevOrZero
    op: Operation = Operation.MODIFIED
    card: dict[str, Any] | None = None
    changed_fields: tuple[str, ...] = ()
    group_id: GroupId | None = None
    waiting: RevOrZero | None = None
    filling: bool = False
    book: str | None = None
    erased: bool = False
