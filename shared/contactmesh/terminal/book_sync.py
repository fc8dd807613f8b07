"""Syncing the owner's address book with the server, in both directions (rows Y1 to Y6)."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import (
    MOST_CHANGES,
    MOST_LISTED,
    MOST_WITH_CARDS,
    BookList,
    BookListing,
    Exchange,
    Exchanged,
    Fetch,
    Fetched,
    History,
    ListBook,
    ListBooks,
    ListHistory,
)
from contactmesh.contracts.sync.records import Change, ChangeResult, Outcome
from contactmesh.terminal.book_entries import Rejected, SyncOutcome
from contactmesh.terminal.book_records import MarkedEntry
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.errors import (
    AuthenticationRefused,
    CommandRefused,
    LargeRemoval,
    NoReply,
    UnreadableReply,
)
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.rules.arriving import Arrivals, Came
from contactmesh.terminal.rules.full_sync import Listed
from contactmesh.terminal.rules.spaces import too_many
from contactmesh.terminal.storing import ROOM_BYTES
from contactmesh.terminal.updates import Update

_FAILURES: Final = (
    AuthenticationRefused,
    CommandRefused,
    LargeRemoval,
    NoReply,
    UnreadableReply,
)
"""What a sync fails with; any of them is remembered until one ends well."""


@dataclass(slots=True)
class _Run:
    """One sync, as far as it has come."""

    removals: bool
    progress: Progress | None
    arrivals: Arrivals
    due: int = 0
    sent: int = 0
    received: int = 0
    merged: int = 0
    conflicts: int = 0
    full: bool = False
    erased: list[Rejected] = field(default_factory=list)

    def report(self) -> None:
        if self.progress is not None:
            done = self.sent + self.received
            self.progress(done, max(done, self.due))

    def add(self, results: Iterable[ChangeResult]) -> None:
        for result in results:
            self.sent += result.outcome is not Outcome.REJECTED
            self.merged += result.outcome is Outcome.MERGED
            self.conflicts += result.outcome in (Outcome.CONFLICT, Outcome.SUPERSEDED)
            if result.erased:
                problem = result.problem or ""
                self.erased.append(Rejected(result.uid, result.name or "", problem))


class BookSync:
    """Exchanges what changed, here and there, until both sides are the same.

    Each reply is taken over as one with the token that covers it, so that a sync which broke off
    goes on where it was.

    Args:
        phonebook: the local phonebook.
        ask: sends a command and gives its result.
        emit: takes what changed in the phonebook.
    """

    def __init__(
        self, phonebook: Phonebook, ask: Ask, emit: Callable[[Iterable[Update]], None]
    ) -> None:
        self._phonebook = phonebook
        self._ask = ask
        self._emit = emit
        self._arrivals = Arrivals()
        self._one_at_a_time = asyncio.Lock()

    def arrived(self, came: Iterable[Came]) -> None:
        """Entries were pushed: the next sync tells of them, since it finds nothing left to do."""
        self._arrivals.add(came)

    async def sync(
        self, *, removals: bool = False, progress: Progress | None = None
    ) -> SyncOutcome:
        """Sync the book; see `BookCommands.sync`."""
        async with self._one_at_a_time:
            run = _Run(removals, progress, self._arrivals)
            try:
                await self._sync(run)
            except _FAILURES as error:
                problem = error.error.message if isinstance(error, CommandRefused) else str(error)
                await self._phonebook.sync_failed(datetime.now(UTC), problem)
                raise
            await self._phonebook.sync_ended(datetime.now(UTC))
            arrived = self._arrivals.told()
            self._arrivals.clear()
            return SyncOutcome(
                sent=run.sent,
                received=len(arrived),
                merged=run.merged,
                conflicts=run.conflicts,
                rejected=(*run.erased, *await self._phonebook.rejected()),
                full=run.full,
                arrived=arrived,
            )

    async def fetch(self, uids: Sequence[str]) -> None:
        """Take over entries as they stand on the server; what was changed here stays."""
        await self._fetch(_Run(removals=False, progress=None, arrivals=Arrivals()), uids)

    async def _sync(self, run: _Run) -> None:
        count = await self._phonebook.book_count()
        if not run.removals and too_many(count.deleted, count.known):
            raise LargeRemoval(count.deleted, count.known)
        run.due = count.waiting
        # What is new here may be there already under another uid, and is adopted when it comes:
        # so it is sent only once all that changed there is known. An empty book has nothing.
        new = await self._phonebook.book_token() is None
        while True:
            # Before what is sent is read: what is edited from here on counts as later.
            sent_at = datetime.now(UTC)
            sent, sent_all = await self._phonebook.next_to_send(
                limit=MOST_CHANGES, room=ROOM_BYTES, new=new
            )
            try:
                exchanged = await self._exchange(run, sent, sent_at, sent_all=sent_all)
            except CommandRefused as error:
                if error.code is not ErrorCode.FULL_SYNC_REQUIRED or run.full:
                    raise
                run.full = new = True
                await self._full_sync(run, restored=error.error.details.get("reason") == "restored")
                continue
            run.add(exchanged.results)
            self._took(run, *await self._phonebook.exchanged(sent, exchanged))
            if not exchanged.has_more:
                waiting = (await self._phonebook.book_count()).waiting
                if not waiting or (new and _stuck(exchanged.results)):
                    break
                new = True
        await self._fetch(run, await self._phonebook.behind())

    async def _exchange(
        self, run: _Run, sent: Sequence[MarkedEntry], sent_at: datetime, *, sent_all: bool
    ) -> Exchanged:
        command = Exchange(
            token=await self._phonebook.book_token(),
            changes=tuple(_change(one) for one in sent),
            sent_at=sent_at,
            sent_all=sent_all,
            confirm_deletions=run.removals,
        )
        try:
            exchanged = await self._ask(command, Exchanged)
        except CommandRefused as error:
            deleted, of = (error.error.details.get(name) for name in ("deleted", "of"))
            if isinstance(deleted, int) and isinstance(of, int):
                raise LargeRemoval(deleted, of) from error
            raise
        if [result.uid for result in exchanged.results] != [one.uid for one in sent]:
            raise UnreadableReply(
                "The reply to sync.exchange answers other changes. Update the terminal."
            )
        return exchanged

    # The full sync

    async def _full_sync(self, run: _Run, *, restored: bool) -> None:
        cards, waiting = await self._phonebook.book_is_empty(), run.due
        limit = MOST_WITH_CARDS if cards else MOST_LISTED
        if cards and run.progress is not None:
            # Nothing else tells of how many contacts the pages are.
            books = (await self._ask(ListBooks(), BookList)).books
            run.due = waiting + sum(book.entries for book in books)
        page = first = await self._list(run, cards=cards, limit=limit, after=None)
        listed = _listed(first)
        while page.after is not None:
            page = await self._list(run, cards=cards, limit=limit, after=page.after)
            listed.update(_listed(page))
        plan, applied = await self._phonebook.compare_book(listed, first.since, restored=restored)
        lost = [uid for uid, rev in plan.doubted.items() if not await self._remembers(uid, rev)]
        await self._phonebook.lost_there({uid: listed[uid] for uid in lost})
        fetch = [*plan.fetch, *(uid for uid in plan.doubted if uid not in set(lost))]
        run.due = waiting + run.received + len(plan.delete) + len(fetch)
        self._took(run, len(plan.delete), applied)
        await self._fetch(run, fetch)
        await self._phonebook.save_book_token(first.token)

    async def _remembers(self, uid: str, rev: int) -> bool:
        """Whether the server has not lost a revision of an entry."""
        history = await self._ask(ListHistory(uid=uid, before=rev + 1, limit=1), History)
        return any(version.rev == rev for version in history.versions)

    async def _list(self, run: _Run, *, cards: bool, limit: int, after: int | None) -> BookListing:
        page = await self._ask(ListBook(after=after, cards=cards, limit=limit), BookListing)
        if cards:
            entries = [one for one in page.entries if one.card is not None]
            self._took(run, *await self._phonebook.take_entries(entries))
        return page

    async def _fetch(self, run: _Run, uids: Sequence[str]) -> None:
        left = dict.fromkeys(uids)
        while left:
            command = Fetch(uids=tuple(left)[:MOST_WITH_CARDS])
            fetched = await self._ask(command, Fetched)
            got = [entry for entry in fetched.entries if entry.uid in left]
            if not got:
                raise UnreadableReply(
                    "The reply to sync.fetch has nothing that was asked for. Update the terminal."
                )
            self._took(run, *await self._phonebook.take_entries(got))
            for entry in got:
                del left[entry.uid]

    def _took(self, run: _Run, received: int, applied: Applied) -> None:
        self._emit(applied.updates)
        run.arrivals.add(applied.came)
        run.received += received
        run.report()


def _change(entry: MarkedEntry) -> Change:
    return Change(
        uid=entry.uid,
        op=Operation.DELETED if entry.card is None else Operation.MODIFIED,
        base_rev=entry.known.rev or None,
        updated_at=entry.updated_at,
        card=None if entry.card is None else json.loads(entry.card),
    )


def _listed(page: BookListing) -> dict[str, Listed]:
    return {one.uid: Listed(one.rev, one.digest, one.erased) for one in page.entries}


def _stuck(results: Iterable[ChangeResult]) -> bool:
    """Whether the server had no room for any change; the next sync tries again."""
    return all(result.code is ErrorCode.UNAVAILABLE for result in results)
