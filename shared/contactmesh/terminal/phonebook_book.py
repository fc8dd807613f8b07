"""The phonebook's side of the sync: what is to be sent, and what the server says."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time
from typing import Final

from contactmesh.contacts import Card, display_name
from contactmesh.contracts.sync.commands import Exchanged
from contactmesh.terminal.book_changes import News
from contactmesh.terminal.book_entries import Rejected, SyncState
from contactmesh.terminal.book_records import BookCount, MarkedEntry
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.phonebook_file import OWN_CARD, PhonebookFile
from contactmesh.terminal.records import Records
from contactmesh.terminal.rules.full_sync import Listed, Plan
from contactmesh.terminal.rules.scheduling import Schedule
from contactmesh.terminal.rules.spaces import fit_uid, has_fit_uid, storable, that_fit

_TOKEN = "book_token"  # noqa: S105 - a name
_LAST_SYNC = "last_sync_at"
_FAILING = "sync_failing_since"
_PROBLEM = "sync_problem"
_EVERY = "sync_every_seconds"
_AT = "sync_at"

TOO_LARGE: Final = "It is too large. Make a photo or a note of it smaller."


class PhonebookBook(PhonebookFile):
    """What a phonebook has to do with the owner's address book on the server."""

    # How it stands

    async def book_token(self) -> str | None:
        """Where the next exchange goes on, none before the first and for a whole comparison."""
        return await self._read(lambda records: records.setting(_TOKEN))

    async def save_book_token(self, token: str) -> None:
        """Go on from here: all that it covers is in the phonebook."""
        await self._change(lambda _, records: records.save_setting(_TOKEN, token))

    async def save_own_card(self, uid: str | None) -> None:
        """Which entry is the owner's own card: joining it with another one keeps its uid."""
        await self._change(lambda _, records: records.save_setting(OWN_CARD, uid))

    async def book_count(self) -> BookCount:
        """How many entries are known, deleted, and waiting to be sent."""
        return await self._read(lambda records: records.book.count())

    async def book_is_empty(self) -> bool:
        """Whether nothing is here that a listing could be compared with."""
        return await self._read(lambda records: not records.book.entries())

    async def sync_state(self) -> SyncState:
        """How the sync stands, also for another process that reads beside the terminal."""

        def query(records: Records) -> SyncState:
            last, failing = records.setting(_LAST_SYNC), records.setting(_FAILING)
            return SyncState(
                last_sync_at=None if last is None else datetime.fromisoformat(last),
                failing_since=None if failing is None else datetime.fromisoformat(failing),
                problem=records.setting(_PROBLEM),
                waiting=records.book.count().waiting,
                rejected=_rejected(records),
                schedule=_schedule(records),
            )

        return await self._read(query)

    async def rejected(self) -> tuple[Rejected, ...]:
        """The entries that the server does not take as they are here."""
        return await self._read(_rejected)

    async def sync_ended(self, at: datetime) -> None:
        """A sync ended well."""

        def change(_: Changes, records: Records) -> None:
            records.save_setting(_LAST_SYNC, at.isoformat())
            records.save_setting(_FAILING, None)
            records.save_setting(_PROBLEM, None)
            records.book.forget_old_deletions()
            records.joins.forget_old(at)

        await self._change(change)

    async def sync_failed(self, at: datetime, problem: str) -> None:
        """A sync failed, and why."""

        def change(_: Changes, records: Records) -> None:
            if records.setting(_FAILING) is None:
                records.save_setting(_FAILING, at.isoformat())
            records.save_setting(_PROBLEM, problem)

        await self._change(change)

    async def sync_schedule(self) -> Schedule:
        """When the terminal syncs by itself."""
        return await self._read(_schedule)

    async def save_sync_schedule(self, schedule: Schedule) -> None:
        """Keep when the terminal syncs by itself."""

        def change(_: Changes, records: Records) -> None:
            every, at = schedule.every, schedule.at
            records.save_setting(_EVERY, None if every is None else str(every))
            records.save_setting(_AT, None if at is None else at.isoformat())

        await self._change(change)

    # Exchanging

    async def next_to_send(
        self, *, limit: int, room: int, new: bool
    ) -> tuple[tuple[MarkedEntry, ...], bool]:
        """The next entries of which the server has to be told, as many as a command has room for.

        One that no command can carry is passed over from now on, until it is edited; one whose uid
        the book does not take gets another.

        Args:
            limit: how many at most.
            room: how many bytes their cards may have together.
            new: also those of which the server has never been told.

        Returns:
            The entries, and whether they are all of which the server has to be told by now.
        """

        def change(changes: Changes, records: Records) -> tuple[tuple[MarkedEntry, ...], bool]:
            while True:
                found = records.book.marked(limit=limit, new=new)
                unfit = [one.uid for one in found if not has_fit_uid(one.uid)]
                given = [changes.contacts.give_uid(uid, fit_uid(uid)) for uid in unfit]
                if any(given):
                    continue
                problems = [(one, _problem(one, room)) for one in found]
                if all(problem is None for _, problem in problems):
                    page = tuple(found[: that_fit(map(_size, found), room)])
                    return page, len(page) == records.book.count().waiting
                for one, problem in problems:
                    if problem is not None:
                        records.book.told(one.uid, one.known, problem)

        to_send, _ = await self._change(change)
        return to_send

    async def exchanged(
        self, sent: Sequence[MarkedEntry], exchanged: Exchanged
    ) -> tuple[int, Applied]:
        """Take over what became of what was sent, what the server told, and the token, as one.

        Returns:
            How many entries the server told news of, and what changed for the user.
        """

        def change(changes: Changes, records: Records) -> int:
            for one, result in zip(sent, exchanged.results, strict=True):
                changes.book.result(one, result)
            received = sum([changes.book.news(entry) for entry in exchanged.changes])
            records.save_setting(_TOKEN, exchanged.token)
            records.save_setting(OWN_CARD, exchanged.own_card_uid)
            return received

        return await self._change(change)

    async def behind(self) -> tuple[str, ...]:
        """The uids of entries that have to be fetched: the server told of them at a bad time."""
        return tuple(await self._read(lambda records: records.book.behind()))

    # Erasing

    async def uids_of(self, contact_ids: Iterable[str]) -> tuple[str, ...]:
        """The uids of the owner's entries.

        Raises:
            UnknownContact: there is none with one of these ids.
            NoOwnEntry: a group alone brought one of them.
        """

        def query(records: Records) -> tuple[str, ...]:
            return tuple(records.own_of(contact_id).uid for contact_id in contact_ids)

        return await self._read(query)

    async def erased(self, uids: Sequence[str]) -> tuple[tuple[str, ...], Applied]:
        """Keep nothing of entries that were erased from the book.

        Returns:
            The uids of those that were here, and what changed for the user.
        """

        def change(changes: Changes, records: Records) -> tuple[str, ...]:
            here = tuple(uid for uid in uids if changes.book.delete(uid))
            for uid in uids:
                records.joins.forget_of(uid)
            return here

        return await self._change(change)

    # The full sync

    async def compare_book(
        self, listed: Mapping[str, Listed], since: int, *, restored: bool
    ) -> tuple[Plan, Applied]:
        """Take over a whole listing, as far as it goes without what has to be fetched."""
        return await self._change(
            lambda changes, _: changes.book.listed(listed, since, restored=restored)
        )

    async def lost_there(self, listed: Mapping[str, Listed]) -> None:
        """Send entries again, to be joined with what is listed: the server has lost them."""
        await self._change(lambda changes, _: changes.book.lost(listed))

    async def take_entries(self, entries: Iterable[News]) -> tuple[int, Applied]:
        """Take over entries that were fetched or listed; the number of those that changed here."""
        return await self._change(
            lambda changes, _: sum([changes.book.news(entry) for entry in entries])
        )


def _rejected(records: Records) -> tuple[Rejected, ...]:
    return tuple(
        Rejected(uid, "" if card is None else display_name(Card.model_validate(card)), problem)
        for uid, card, problem in records.book.problems()
    )


def _schedule(records: Records) -> Schedule:
    every, at = records.setting(_EVERY), records.setting(_AT)
    return Schedule(
        None if every is None else int(every), None if at is None else time.fromisoformat(at)
    )


def _size(entry: MarkedEntry) -> int:
    return 0 if entry.card is None else len(entry.card.encode())


def _problem(entry: MarkedEntry, room: int) -> str | None:
    """Why no command can carry an entry."""
    if entry.card is None:
        return None
    card = Card.model_validate_json(entry.card)
    return None if storable(card, _size(entry), room) else TOO_LARGE
