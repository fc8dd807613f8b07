"""What the server holds and the terminal lacks, a page at a time (rows Y3, Y4, Y6)."""

from dataclasses import dataclass
from typing import NamedTuple

from pydantic_core import to_json

from contactmesh.contracts.sync.records import BookEntry
from sync_service.domain.documents import Contents, Entry
from sync_service.domain.state import Page, State
from sync_service.domain.times import moment
from sync_service.domain.tokens import Token


@dataclass(slots=True)
class Room:
    """How many bytes the cards of a reply may take; one card always has room."""

    limit: int
    used: int = 0

    def take(self, card: Contents | None) -> bool:
        """Take room for a card, if there is as much left."""
        size = 0 if card is None else len(to_json(card))
        if self.used and self.used + size > self.limit:
            return False
        self.used += size
        return True


class Given(NamedTuple):
    """A page for a terminal.

    Attributes:
        entries: by revision.
        through: the revision up to which the terminal has seen all, none where nothing is left.
    """

    entries: tuple[BookEntry, ...]
    through: int | None


def unseen(state: State, owner: str, token: Token, *, limit: int, room: Room) -> Given:
    """The entries of a book that a terminal has not seen, the oldest revision first.

    Args:
        state: holds the page after the token's revision.
        owner: the book's.
        token: what the terminal has seen, and what it wrote itself: that is left out.
        limit: how many to give.
        room: for their cards.
    """
    page = state.pages[owner, token.rev]
    given: list[BookEntry] = []
    through = token.rev
    for entry in _following(state, owner, token.rev, page):
        if not any(first <= entry.rev <= last for first, last in token.own):
            if len(given) >= limit or not room.take(entry.card):
                return Given(tuple(given), through)
            given.append(_given(entry))
        through = entry.rev
    return Given(tuple(given), None if page.complete else page.entries[-1][0])


def _following(state: State, owner: str, since: int, page: Page) -> list[Entry]:
    """The entries after a revision as they are by now, as far as the page goes.

    What this unit of work has written has later revisions than anything that was loaded.
    """
    loaded = (state.entries.get((owner, uid)) for _, uid in page.entries)
    found = {entry.uid: entry for entry in loaded if entry is not None}
    for (of, uid), entry in state.entries.changed.items():
        if of == owner and entry is not None:
            found[uid] = entry
    return sorted(
        (
            entry
            for entry in found.values()
            if entry.rev > since and (page.complete or entry.rev <= page.entries[-1][0])
        ),
        key=lambda entry: entry.rev,
    )


def _given(entry: Entry) -> BookEntry:
    return BookEntry(
        uid=entry.uid,
        rev=entry.rev,
        updated_at=moment(entry.updated_at),
        card=entry.card,
        erased=entry.erased,
    )
