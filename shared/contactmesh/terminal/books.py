"""What a terminal can do with the user's address book on the server (rows Y1 to Y7)."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, time
from typing import Final

import uuid_utils

from contactmesh.contracts.reply import Done
from contactmesh.contracts.sync.commands import (
    MOST_RESTORED,
    BookList,
    BookRestored,
    ConflictList,
    Deleted,
    DeletedList,
    Erase,
    Erased,
    History,
    ListBooks,
    ListConflicts,
    ListDeleted,
    ListHistory,
    Restore,
    RestoreBook,
    Restored,
    SetOwnCard,
    SetPolicy,
    Settle,
)
from contactmesh.contracts.sync.records import ConflictView, Policy, Version
from contactmesh.terminal.book_entries import Duplicate, Joined, RestoredBook, SyncOutcome
from contactmesh.terminal.commands import ServiceCommands
from contactmesh.terminal.errors import UnfitUid
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.rules.scheduling import Schedule
from contactmesh.terminal.rules.spaces import has_fit_uid

SHORTEST_SECONDS: Final = 60
"""The shortest interval at which a terminal syncs by itself."""


class BookCommands(ServiceCommands):
    """The commands to sync_service, each as a method; the phonebook has one book, `main`.

    Every one of them raises `CommandRefused` when the service says no, `NoReply` when it does not
    answer within the deadline, and `AuthenticationRefused` when the terminal was revoked.
    """

    # Syncing

    async def sync(
        self, *, removals: bool = False, progress: Progress | None = None
    ) -> SyncOutcome:
        """Make the owner's entries here and the book on the server the same (rows Y1 to Y6).

        What changed here is sent, and what other terminals changed comes. Edits of different
        fields are both kept. A sync that broke off goes on where it was, and nothing is sent twice.

        Args:
            removals: whether it is meant when more than half of the book, and more than ten
                entries, would be deleted.
            progress: told how many contacts are done, and of how many.

        Raises:
            LargeRemoval: so much would be deleted; nothing was.
        """
        return await self._book_sync.sync(removals=removals, progress=progress)

    async def set_sync_schedule(self, *, every: int | None = None, at: time | None = None) -> None:
        """Sync by itself from now on: at every connection, and then (row Y1).

        It is done by a terminal that runs with `pull`. Large removals wait for a sync by hand.

        Args:
            every: after so many seconds, at least 60.
            at: at this time of the day, by the terminal's clock and zone. Neither: no longer.
        """
        if every is not None and (every < SHORTEST_SECONDS or at is not None):
            raise ValueError("Give an interval of at least 60 seconds, or a time of the day.")
        await self._scheduled_sync.choose(Schedule(every, at))

    # The book

    async def books(self) -> BookList:
        """The user's address books as the service has them."""
        return await self._requests.ask(ListBooks(), BookList)

    async def set_policy(self, policy: Policy) -> None:
        """Set what becomes of edits that meet (row Y4)."""
        await self._requests.ask(SetPolicy(policy=policy), Done)

    async def set_own_card(self, contact_id: str | None) -> None:
        """Say which entry is the user's own card: its changes are published to the groups.

        Args:
            contact_id: the contact, which has to be synced; none for no longer any.

        Raises:
            UnknownContact: there is none with this id.
            NoOwnEntry: a group alone brought the contact.
            UnfitUid: its uid is none that the book takes.
        """
        uid = None
        if contact_id is not None:
            (uid,) = await self.phonebook.uids_of((contact_id,))
            _check_uid(uid)
        await self._requests.ask(SetOwnCard(uid=uid), Done)
        await self.phonebook.save_own_card(uid)

    # What was

    async def history(self, uid: str, *, cards: bool = False) -> tuple[Version, ...]:
        """The versions of an entry of the last 30 days, the newest first.

        Args:
            uid: the entry's; of a contact `Phonebook.uids_of` tells it.
            cards: whether to get what they said.

        Returns:
            None where the server has never had such an entry.

        Raises:
            UnfitUid: no entry of the book has such a uid.
        """
        _check_uid(uid)
        found: list[Version] = []
        before: int | None = None
        while True:
            command = ListHistory(uid=uid, before=before, cards=cards)
            page = await self._requests.ask(command, History)
            found += page.versions
            before = page.before
            if before is None:
                return tuple(found)

    async def deleted(self) -> tuple[Deleted, ...]:
        """The entries that were deleted in the last 30 days, the newest first."""
        found: list[Deleted] = []
        before: int | None = None
        while True:
            page = await self._requests.ask(ListDeleted(before=before), DeletedList)
            found += page.entries
            before = page.before
            if before is None:
                return tuple(found)

    async def restore(self, uid: str, rev: int) -> None:
        """Let an entry be again as one of its versions is.

        It is so here when this returns, unless it was edited here and not synced yet.

        Args:
            uid: the entry's, also of a deleted one.
            rev: the version's revision, as `history` and `deleted` tell it.

        Raises:
            UnfitUid: no entry of the book has such a uid.
        """
        _check_uid(uid)
        await self._requests.ask(Restore(uid=uid, rev=rev), Restored)
        await self._book_sync.fetch((uid,))

    async def restore_book(
        self, at: datetime, progress: Callable[[int], None] | None = None
    ) -> RestoredBook:
        """Let the whole book be as it was at a time of the last 30 days.

        What was not synced yet is synced before, so that it is not taken for newer than that.

        Args:
            at: when.
            progress: told how many entries have been looked at.
        """
        await self.sync()
        restored = looked_at = 0
        through: int | None = None
        after: int | None = None
        while True:
            command = RestoreBook(at=at, through=through, after=after)
            page = await self._requests.ask(command, BookRestored)
            restored, looked_at = restored + page.restored, looked_at + page.looked_at
            if progress is not None:
                progress(looked_at)
            through, after = page.through, page.after
            if through is None:
                break
        await self.sync()
        return RestoredBook(restored, page.before)

    async def erase(self, uids: Iterable[str]) -> tuple[str, ...]:
        """Erase entries with their history and conflicts: nothing can restore them.

        Args:
            uids: the entries', also of deleted ones.

        Returns:
            The uids of those that there were, here or on the server.
        """
        asked = list(dict.fromkeys(uids))
        erased: set[str] = set()
        for at in range(0, len(asked), MOST_RESTORED):
            page = asked[at : at + MOST_RESTORED]
            there = tuple(uid for uid in page if has_fit_uid(uid))
            if there:
                erased.update((await self._requests.ask(Erase(uids=there), Erased)).uids)
            here, applied = await self.phonebook.erased(page)
            erased.update(here)
            self._tell(applied)
            await self._book_sync.fetch(there)
        return tuple(uid for uid in asked if uid in erased)

    # Conflicts

    async def conflicts(self) -> tuple[ConflictView, ...]:
        """The conflicts that wait to be looked at, the newest first."""
        found: list[ConflictView] = []
        before: str | None = None
        while True:
            page = await self._requests.ask(ListConflicts(before=before), ConflictList)
            found += page.conflicts
            before = page.before
            if before is None:
                return tuple(found)

    async def settle(self, conflict_id: str, *, take_lost: bool) -> None:
        """Settle a conflict: leave things as they are, or take the value that lost instead."""
        uids = {one.conflict_id: one.uid for one in await self.conflicts()}
        await self._requests.request(Settle(conflict_id=conflict_id, take_lost=take_lost))
        if take_lost and conflict_id in uids:
            await self._book_sync.fetch((uids[conflict_id],))

    # One person twice

    async def duplicates(self) -> list[Duplicate]:
        """The owner's entries that may be of one person, the likeliest first."""
        return await self.phonebook.duplicates()

    async def join_duplicates(self, first_id: str, second_id: str) -> str:
        """Make one of two entries: all of both is kept, and of what differs the first one's.

        Returns:
            What `undo_join` takes, for 30 days.

        Raises:
            UnknownContact: there is none with one of these ids.
            NoOwnEntry: a group alone brought one of them.
            LinkRefused: they are two members of the user's groups, or one contact.
        """
        join_id = str(uuid_utils.uuid7())
        self._tell(await self.phonebook.join(first_id, second_id, datetime.now(UTC), join_id))
        return join_id

    async def undo_join(self, join_id: str) -> None:
        """Let two entries be again as they were; what was edited since stays with the first.

        Raises:
            UnknownJoin: there is none with this id.
        """
        self._tell(await self.phonebook.undo_join(join_id, datetime.now(UTC)))

    async def joins(self) -> list[Joined]:
        """What can be undone, the latest first."""
        return await self.phonebook.joins(datetime.now(UTC))


def _check_uid(uid: str) -> None:
    if not has_fit_uid(uid):
        raise UnfitUid(
            "The contact's uid is too long for the address book, or has control characters. "
            "The next sync gives it another."
        )
