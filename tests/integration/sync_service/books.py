"""A terminal that syncs an address book, from the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.wire import Terminal, card_of, number_of

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.sync.commands import (
    BookListing,
    ConflictList,
    DeletedList,
    Exchange,
    Exchanged,
    Fetch,
    Fetched,
    History,
    ListBook,
    ListBooks,
    ListConflicts,
    ListDeleted,
    ListHistory,
)
from contactmesh.contracts.sync.records import (
    BookEntry,
    Change,
    ChangeResult,
    ConflictView,
    ListedEntry,
    Version,
)

Contents = dict[str, Any]


def uid_of(name: str) -> str:
    """The uid of a contact that tests call so."""
    return f"urn:example:{name}"


def contact(name: str, number: str, **more: object) -> Contents:
    """A contact with a number."""
    return dict(card_of(name, number, name, **more).to_json())


@dataclass
class Book:
    """An address book as one terminal has it: what it sent and what it was given, by uid."""

    terminal: Terminal
    name: str = "main"
    token: str | None = None
    held: dict[str, Contents] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    given: list[BookEntry] = field(default_factory=list)
    """Everything that exchanges gave, in the order of arrival."""

    def change(self, name: str, card: Contents | None, **more: object) -> Change:
        """A change to a contact, made now on what the terminal has."""
        uid = uid_of(name)
        return Change.model_validate(
            {
                "uid": uid,
                "op": Operation.DELETED if card is None else Operation.MODIFIED,
                "base_rev": self.revs.get(uid),
                "updated_at": datetime.now(UTC),
                "card": card,
                **more,
            }
        )

    def exchange(self, *changes: Change, **more: object) -> Exchange:
        """The command of an exchange."""
        return Exchange.model_validate(
            {
                "book": self.name,
                "token": self.token,
                "changes": changes,
                "sent_at": datetime.now(UTC),
                **more,
            }
        )

    async def sends(self, *changes: Change, **more: object) -> list[ChangeResult]:
        """Exchange changes, and go on until the server has nothing more; returns the results."""
        exchanged = await self.does(self.exchange(*changes, **more), changes)
        results = list(exchanged.results)
        while exchanged.has_more:
            exchanged = await self.does(self.exchange())
        return results

    async def saves(self, contacts: Mapping[str, Contents | None]) -> list[ChangeResult]:
        """Send contacts as they are now, all in one exchange; none is a deletion."""
        return await self.sends(*(self.change(*one) for one in contacts.items()))

    async def does(self, command: Exchange, changes: tuple[Change, ...] = ()) -> Exchanged:
        """One exchange that has to be granted, and what it brings taken over."""
        exchanged = await self.terminal.does(command)
        assert isinstance(exchanged, Exchanged)
        for change, result in zip(changes, exchanged.results, strict=True):
            if result.rev is not None:
                card = change.card if result.card is None else result.card
                self._take(result.uid, result.rev, None if result.deleted else card)
        for entry in exchanged.changes:
            self._take(entry.uid, entry.rev, entry.card)
        self.given += exchanged.changes
        self.token = exchanged.token
        return exchanged

    async def catches_up(self) -> None:
        """Exchange nothing, to see what others changed."""
        await self.sends()

    async def lists(self, **more: object) -> tuple[BookListing, list[ListedEntry]]:
        """The first page of a listing, and the entries of all pages."""
        command = ListBook.model_validate({"book": self.name, **more})
        first: BookListing | None = None
        entries: list[ListedEntry] = []
        while True:
            page = await self.terminal.does(command)
            assert isinstance(page, BookListing)
            first = first or page
            entries += page.entries
            if page.after is None:
                return first, entries
            command = command.model_copy(update={"after": page.after})

    async def begins_anew(self) -> None:
        """The full sync of a terminal that has nothing of its own to send."""
        first, entries = await self.lists(cards=True)
        self.held, self.revs = {}, {}
        for entry in entries:
            self._take(entry.uid, entry.rev, entry.card)
        self.token = first.token

    async def fetches(self, *names: str) -> list[BookEntry]:
        """Entries by name."""
        uids = tuple(map(uid_of, names))
        fetched = await self.terminal.does(Fetch(book=self.name, uids=uids))
        assert isinstance(fetched, Fetched)
        return list(fetched.entries)

    async def history(self, name: str, **more: object) -> list[Version]:
        """All versions of a contact, the newest first."""
        command = ListHistory.model_validate({"book": self.name, "uid": uid_of(name), **more})
        versions: list[Version] = []
        while True:
            page = await self.terminal.does(command)
            assert isinstance(page, History)
            versions += page.versions
            if page.before is None:
                return versions
            command = command.model_copy(update={"before": page.before})

    async def conflicts(self) -> list[ConflictView]:
        """What waits in the conflict inbox."""
        listed = await self.terminal.does(ListConflicts(book=self.name))
        assert isinstance(listed, ConflictList)
        assert listed.before is None
        return list(listed.conflicts)

    async def deleted(self, limit: int = 100) -> list[tuple[str, int]]:
        """What can be restored: uids and revisions, the newest first."""
        before = None
        found: list[tuple[str, int]] = []
        while True:
            command = ListDeleted(book=self.name, before=before, limit=limit)
            listed = await self.terminal.does(command)
            assert isinstance(listed, DeletedList)
            found += [(one.uid, one.rev) for one in listed.entries]
            before = listed.before
            if before is None:
                return found

    def numbers(self) -> dict[str, str | None]:
        """The number of each contact, by name."""
        return {
            uid.removeprefix(uid_of("")): number_of(card) for uid, card in sorted(self.held.items())
        }

    def pushed(self) -> list[dict[str, Any]]:
        """What was pushed to the terminal of this user's books, each event once."""
        updates = self.terminal.updates("contact.changed")
        return [one for one in updates if one["scope"] == "book"]

    def _take(self, uid: str, rev: int, card: Contents | None) -> None:
        self.revs[uid] = rev
        if card is None:
            self.held.pop(uid, None)
        else:
            self.held[uid] = card


def ago(**span: float) -> datetime:
    """A time before now."""
    return datetime.now(UTC) - timedelta(**span)


async def books_of(terminal: Terminal) -> dict[str, dict[str, Any]]:
    """A user's books by name."""
    reply = await terminal.ask(ListBooks())
    assert reply.result is not None
    return {one["book"]: one for one in reply.result["books"]}
