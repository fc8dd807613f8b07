"""Answering commands that only ask: books, entries, their history, and what waits."""

import asyncio
from datetime import datetime

from contactmesh.contracts.reply import Result
from contactmesh.contracts.sync import commands
from contactmesh.contracts.sync.records import (
    BookEntry,
    ConflictView,
    ListedEntry,
    Reason,
    Version,
)
from contactmesh.runtime.commands import Request
from sync_service.domain import documents
from sync_service.domain.documents import owner_of
from sync_service.domain.listing import DELETIONS_KEPT, deletions_known_since
from sync_service.domain.times import micros, moment
from sync_service.domain.tokens import listing_token
from sync_service.repository.reading import Reading


class Answers:
    """The reading side: each answer is about the sender's books alone."""

    def __init__(self, reading: Reading, key: bytes) -> None:
        self._reading = reading
        self._key = key

    async def answer(self, request: Request, now: datetime) -> Result:
        """The result of a reading command."""
        user_id = request.sender.user_id
        match request.command:
            case commands.ListBooks():
                return await self._books(user_id)
            case commands.ListBook() as command:
                return await self._entries(user_id, command, now)
            case commands.Fetch() as command:
                return await self._fetch(user_id, command)
            case commands.ListHistory() as command:
                return await self._history(user_id, command)
            case commands.ListDeleted() as command:
                return await self._deleted(user_id, command, now)
            case commands.ListConflicts() as command:
                return await self._conflicts(user_id, command)
            case other:
                raise TypeError(f"not a reading command: {type(other).__name__}")

    async def _books(self, user_id: str) -> commands.BookList:
        books = await self._reading.books(user_id)
        waiting = await asyncio.gather(
            *(self._reading.number_of_conflicts(book.owner) for book in books)
        )
        return commands.BookList(
            books=tuple(_book(*one) for one in zip(books, waiting, strict=True))
        )

    async def _entries(
        self, user_id: str, command: commands.ListBook, now: datetime
    ) -> commands.BookListing:
        # The book is read first, so that the token covers no more than what is listed.
        book = await self._reading.book(user_id, command.book)
        limit = min(command.limit, commands.MOST_WITH_CARDS) if command.cards else command.limit
        found, more = await self._reading.entries(
            book, command.after or 0, limit=limit, cards=command.cards
        )
        after = found[-1].rev if more else None
        if not more and (await self._reading.book(user_id, command.book)).rev > book.rev:
            # What was edited meanwhile may have moved past the end before it was read.
            after = book.rev or None
        return commands.BookListing(
            entries=tuple(
                ListedEntry(
                    uid=one.uid,
                    rev=one.rev,
                    digest=one.digest or None,
                    card=one.card,
                    erased=one.erased,
                )
                for one in found
            ),
            after=after,
            token=listing_token(self._key, book, micros(now)),
            since=deletions_known_since(book, now),
        )

    async def _fetch(self, user_id: str, command: commands.Fetch) -> commands.Fetched:
        found = await self._reading.named(owner_of(user_id, command.book), command.uids)
        return commands.Fetched(
            entries=tuple(
                BookEntry(uid=uid, rev=0, updated_at=moment(0))
                if one is None
                else BookEntry(
                    uid=uid,
                    rev=one.rev,
                    updated_at=moment(one.updated_at),
                    card=one.card,
                    erased=one.erased,
                )
                for uid, one in found.items()
            )
        )

    async def _history(self, user_id: str, command: commands.ListHistory) -> commands.History:
        found, more = await self._reading.versions(
            owner_of(user_id, command.book),
            command.uid,
            command.before,
            limit=command.limit,
            cards=command.cards,
        )
        versions = tuple(_version(*one) for one in found)
        return commands.History(versions=versions, before=versions[-1].rev if more else None)

    async def _deleted(
        self, user_id: str, command: commands.ListDeleted, now: datetime
    ) -> commands.DeletedList:
        book = await self._reading.book(user_id, command.book)
        found, more = await self._reading.deleted(
            book,
            command.before,
            # What is restored is in the history, which is kept no longer than deletions are.
            since=micros(now - DELETIONS_KEPT),
            limit=command.limit,
        )
        return commands.DeletedList(
            entries=tuple(
                commands.Deleted(
                    uid=entry.uid,
                    name=name,
                    rev=entry.was_rev or 0,
                    at=moment(entry.at),
                    terminal_id=entry.by,
                )
                for entry, name in found
            ),
            before=found[-1][0].rev if more else None,
        )

    async def _conflicts(
        self, user_id: str, command: commands.ListConflicts
    ) -> commands.ConflictList:
        found, more = await self._reading.conflicts(
            owner_of(user_id, command.book), command.before, limit=command.limit
        )
        return commands.ConflictList(
            conflicts=tuple(_conflict(one) for one in found),
            before=found[-1].conflict_id if more else None,
        )


def _book(book: documents.Book, conflicts: int) -> commands.BookView:
    return commands.BookView(
        book=book.book,
        policy=book.policy,
        entries=book.entries,
        conflicts=conflicts,
        own_card_uid=book.own_card_uid,
        last_sync_at=moment(book.synced) if book.synced else None,
        last_sync_by=book.synced_by,
    )


def _version(found: documents.Entry | documents.Version, name: str) -> Version:
    was = found if isinstance(found, documents.Version) else None
    return Version(
        rev=found.rev,
        reason=Reason.CURRENT if was is None else was.reason,
        at=moment(found.at),
        updated_at=moment(found.updated_at),
        terminal_id=found.by,
        made=found.made,
        deleted=found.digest == documents.NO_CARD,
        name=name,
        changed_fields=found.changed_fields,
        card=found.card,
        until=None if was is None else was.expires_at,
    )


def _conflict(one: documents.ConflictDocument) -> ConflictView:
    return ConflictView(
        conflict_id=one.conflict_id,
        kind=one.kind,
        uid=one.uid,
        name=one.name,
        at=moment(one.at),
        path=one.path,
        kept=one.kept,
        lost=one.lost,
        lost_by=one.lost_by,
    )
