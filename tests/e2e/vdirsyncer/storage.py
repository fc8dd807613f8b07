"""A storage of vdirsyncer's that is a ContactMesh book, over the terminal SDK.

An item is an entry of the owner's, its href the entry's uid, its etag the digest of what it says.
The book is synced before and after whatever is asked or done, or all that is done `at_once`. What
another terminal changed is a wrong etag where it came in time; the server merges what did not.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vdirsyncer import exceptions
from vdirsyncer.storage.base import Storage
from vdirsyncer.vobject import Item

from contactmesh.contacts import Card, Damage, digest, read_vcards, write_vcards
from contactmesh.terminal import Terminal


class BookStorage(Storage):  # type: ignore[misc]  # it is untyped
    """The book of the terminal in a folder.

    Args:
        folder: where the terminal was enrolled.
        removals: whether more than half of the book may be deleted at once.
        more: what every storage takes.
    """

    storage_name = "contactmesh"
    fileext = ".vcf"
    _repr_attributes = ("folder",)

    def __init__(self, folder: str, removals: bool = False, **more: object) -> None:
        super().__init__(**more)
        self.folder = folder
        self._removals = removals
        self._book: _Book | None = None

    async def list(self) -> AsyncIterator[tuple[str, str]]:
        """Every entry's href and etag."""
        async with self._in_step() as book:
            for uid in await book.uids():
                yield uid, digest((await book.entry(uid))[1])

    async def get(self, href: str) -> tuple[Item, str]:
        """One entry."""
        async with self._in_step() as book:
            _, own = await book.entry(href)
        return _item(own), digest(own)

    async def get_multi(self, hrefs: Iterable[str]) -> AsyncIterator[tuple[str, Item, str]]:
        """Several entries."""
        async with self._in_step():
            async for found in super().get_multi(hrefs):
                yield found

    async def upload(self, item: Item) -> tuple[str, str]:
        """Add an entry."""
        card = _card(item)
        async with self._in_step() as book:
            if card.uid in await book.uids():
                raise exceptions.AlreadyExistingError(existing_href=card.uid)
            await book.terminal.import_cards(item.raw.encode())
            book.contact_ids[card.uid] = None
        return card.uid, digest(card)

    async def update(self, href: str, item: Item, etag: str) -> str:
        """Change an entry that still says what it said."""
        card = _card(item).model_copy(update={"uid": href})
        async with self._in_step() as book:
            await book.terminal.write_own(await book.unchanged(href, etag), card)
        return digest(card)

    async def delete(self, href: str, etag: str) -> None:
        """Delete an entry that still says what it said."""
        async with self._in_step() as book:
            await book.terminal.delete(await book.unchanged(href, etag))
            del book.contact_ids[href]

    @asynccontextmanager
    async def at_once(self) -> AsyncIterator[None]:
        """One sync before, and one after all that is done in the block."""
        async with self._in_step():
            yield

    @asynccontextmanager
    async def _in_step(self) -> AsyncIterator["_Book"]:
        """The book, in step with the server before and after."""
        if self._book is not None:
            yield self._book
            return
        async with Terminal(Path(self.folder), pull=False) as terminal:
            await terminal.sync(removals=self._removals)
            self._book = _Book(terminal)
            try:
                yield self._book
            finally:
                self._book = None
            await terminal.sync(removals=self._removals)


@dataclass
class _Book:
    """The owner's entries on a terminal; the contact's id of each where it is known."""

    terminal: Terminal
    contact_ids: dict[str, str | None] = field(default_factory=dict)

    async def uids(self) -> list[str]:
        if not self.contact_ids:
            await self._look()
        return list(self.contact_ids)

    async def entry(self, uid: str) -> tuple[str, Card]:
        """The contact's id and the owner's part."""
        if self.contact_ids.get(uid) is None:
            await self._look()
        contact_id = self.contact_ids.get(uid)
        own = None if contact_id is None else await self.terminal.phonebook.own_part(contact_id)
        if contact_id is None or own is None:
            raise exceptions.NotFoundError(uid)
        return contact_id, own

    async def unchanged(self, uid: str, etag: str) -> str:
        """The contact's id, if the entry is as it was."""
        contact_id, own = await self.entry(uid)
        if digest(own) != etag:
            raise exceptions.WrongEtagError(etag, digest(own))
        return contact_id

    async def _look(self) -> None:
        # What a group alone brought is none of the book's.
        own = [contact for contact in await self.terminal.contacts() if contact.own]
        ids = [contact.contact_id for contact in own]
        uids = await self.terminal.phonebook.uids_of(ids)
        self.contact_ids = dict(zip(uids, ids, strict=True))


def _item(own: Card) -> Item:
    return Item(b"".join(write_vcards([own], version="3.0")).decode())


def _card(item: Item) -> Card:
    (card,) = read_vcards(item.raw.encode())
    if isinstance(card, Damage):
        raise exceptions.UserError(str(card))
    return card
