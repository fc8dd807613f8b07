"""Replies of sync_service for the terminal's tests, short to write down."""

from collections.abc import Sequence
from datetime import UTC, datetime

from contactmesh.contacts import Card
from contactmesh.contracts.contact import MAIN_BOOK, ContactUpdate, Operation, Scope
from contactmesh.contracts.sync.commands import Exchanged
from contactmesh.contracts.sync.records import BookEntry, ChangeResult, Outcome
from contactmesh.terminal import Phonebook
from contactmesh.terminal.book_records import MarkedEntry

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
ROOM = 1_000_000


def entry(one: Card, rev: int) -> BookEntry:
    """An entry as the server has it."""
    return BookEntry(uid=one.uid, rev=rev, updated_at=WHEN, card=one.to_json())


def gone(one: Card, rev: int) -> BookEntry:
    """An entry that was deleted."""
    return BookEntry(uid=one.uid, rev=rev, updated_at=WHEN)


def pushed(one: Card, rev: int, *, deleted: bool = False) -> ContactUpdate:
    """An entry as another terminal's change is pushed."""
    return ContactUpdate(
        scope=Scope.BOOK,
        book=MAIN_BOOK,
        owner_id="alice",
        uid=one.uid,
        rev=rev,
        op=Operation.DELETED if deleted else Operation.MODIFIED,
        card=None if deleted else one.to_json(),
    )


def applied(sent: MarkedEntry, rev: int) -> ChangeResult:
    """A change that the server took as it was."""
    return ChangeResult(uid=sent.uid, outcome=Outcome.APPLIED, rev=rev, deleted=sent.card is None)


def exchanged(
    results: Sequence[ChangeResult] = (), *entries: BookEntry, following: str = "t"
) -> Exchanged:
    """The reply to an exchange."""
    return Exchanged(results=tuple(results), changes=entries, token=following, has_more=False)


async def marked(phonebook: Phonebook, *, new: bool = True) -> tuple[MarkedEntry, ...]:
    """What would be sent now."""
    return (await phonebook.next_to_send(limit=200, room=ROOM, new=new))[0]


async def synced(phonebook: Phonebook, rev: int = 100) -> None:
    """Let the server take all that is marked."""
    sent = await marked(phonebook)
    await phonebook.exchanged(sent, exchanged([applied(one, rev) for one in sent]))
