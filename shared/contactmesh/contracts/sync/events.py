"""Events by which a service is shown a whole address book, a page at a time (row M4)."""

from typing import Any, ClassVar, Final

from pydantic import Field

from contactmesh.contracts.carrier.records import CarrierId
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import Rev, RevOrZero, UserId
from contactmesh.contracts.multi_sim.records import ContactUid

MOST_HELD: Final = 1_000


class BookWanted(Message):
    """A user's account at a carrier begins to follow their main book, and wants what it holds.

    `after` is the revision up to which the account has it, and `limit` how many entries a page is
    to have at the most, deleted ones counted.
    """

    TYPE: ClassVar[str] = "book.wanted"

    owner_id: UserId
    carrier_id: CarrierId
    after: RevOrZero = 0
    limit: int = Field(ge=1, le=MOST_HELD)


class HeldEntry(Message):
    """An entry of a book that is not deleted."""

    TYPE: ClassVar[str] = "held_entry"

    uid: ContactUid
    rev: Rev
    card: dict[str, Any]


class BookPage(Message):
    """Entries of the main book after a revision, by revision; more follow `next` while it is set.

    An entry that changes meanwhile comes again, on a later page or as its change.
    """

    TYPE: ClassVar[str] = "book.page"

    owner_id: UserId
    carrier_id: CarrierId
    after: RevOrZero
    entries: tuple[HeldEntry, ...]
    next: Rev | None = None
