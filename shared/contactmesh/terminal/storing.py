"""Storing the phonebook's entries in the spaces of SIM accounts: what changed, page by page."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contactmesh.contracts.multi_sim.commands import (
    MOST_CHANGES,
    AccountList,
    EntryList,
    ListAccounts,
    ListEntries,
    Store,
    Stored,
    StoredChange,
)
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.messaging.topology import MAX_BODY_BYTES
from contactmesh.terminal.accepting import Accepting
from contactmesh.terminal.decisions import Choice
from contactmesh.terminal.errors import LargeRemoval
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.rules.spaces import too_many
from contactmesh.terminal.space_entries import StoreOutcome
from contactmesh.terminal.space_memory import Space
from contactmesh.terminal.space_records import GoneEntry
from contactmesh.terminal.store_pages import ToStore

ROOM_BYTES: Final = MAX_BODY_BYTES * 3 // 4
"""How much of a command cards may take, so that the rest has room whatever it holds."""


@dataclass(slots=True)
class _Sum:
    written: int = 0
    removed: int = 0
    same: int = 0
    sent: int = 0
    private: int = 0
    moved: int = 0
    waiting: int = 0
    too_large: tuple[str, ...] = ()
    unfit_uid: tuple[str, ...] = ()

    def take(self, stored: Stored) -> None:
        """Add what a page did."""
        self.written += stored.written
        self.removed += stored.removed
        self.same += stored.same
        self.private += len(stored.private)
        self.waiting += len(stored.behind)


class Storing:
    """Stores what differs from what this terminal remembers of a space.

    Nothing is stored over what this terminal has not seen: with each contact goes what the shared
    space is known to hold of it. What a page's reply confirmed is remembered at once, so that a
    store that broke off goes on where it was.

    Args:
        phonebook: whose entries are stored.
        ask: sends a command and gives its result.
        accepting: knows what waits, and whether taking it would change anything.
        one_at_a_time: held while storing.
    """

    def __init__(
        self, phonebook: Phonebook, ask: Ask, accepting: Accepting, one_at_a_time: asyncio.Lock
    ) -> None:
        self._phonebook = phonebook
        self._ask = ask
        self._accepting = accepting
        self._one_at_a_time = one_at_a_time

    async def store(
        self,
        sim_id: str,
        space: Space,
        contact_ids: Iterable[str] | None,
        *,
        removals: bool,
        progress: Progress | None,
    ) -> StoreOutcome:
        """Store entries in a space; see `SimCommands.store`."""
        async with self._one_at_a_time:
            named = None
            if contact_ids is not None:
                carriers = await self._with_sims()
                named = await self._phonebook.name_entries(space, contact_ids, carriers)
            elif not await self._phonebook.knows_space(space):
                await self._learn(space)
            uids = None if named is None else named.uids
            plan = await self._phonebook.to_store(space, uids)
            gone = plan.gone if named is None else ()
            _guard(space, plan, gone, removals=removals)
            # What is in a private space is not shared, so it leaves that one first; what is shared
            # leaves with the store as private.
            moved = await self._unshare(sim_id, space, uids)
            total = _Sum(moved=moved)
            await self._send(sim_id, space, uids, plan, total, progress)
            await self._remove(sim_id, space, gone, total)
            total.moved += await self._leave_shared(sim_id, space)
            unfit = len(total.too_large) + len(total.unfit_uid)
            return StoreOutcome(
                written=total.written,
                removed=total.removed,
                # What was added meanwhile is sent without having been counted.
                same=max(0, plan.held - total.sent - unfit) + total.same,
                private=plan.private + total.private,
                left_out=plan.without_entry if named is None else named.left_out,
                moved=total.moved,
                waiting=total.waiting,
                too_large=total.too_large,
                unfit_uid=total.unfit_uid,
            )

    async def _with_sims(self) -> frozenset[str]:
        listed = await self._ask(ListAccounts(), AccountList)
        return frozenset(one.carrier_id for one in listed.accounts if one.sims)

    async def _learn(self, space: Space) -> None:
        """What is there already as the phonebook has it need not be sent."""
        after: int | None = 0
        while after is not None:
            listed = await self._ask(
                ListEntries(carrier_id=space.carrier_id, space=space.kind, after=after), EntryList
            )
            await self._phonebook.learn(space, {one.uid: one.digest for one in listed.entries})
            after = listed.after

    async def _send(
        self,
        sim_id: str,
        space: Space,
        uids: Collection[str] | None,
        plan: ToStore,
        total: _Sum,
        progress: Progress | None,
    ) -> None:
        after: str | None = ""
        looked_at = 0
        while after is not None:
            page = await self._phonebook.next_to_store(
                space, uids, after, limit=MOST_CHANGES, room=ROOM_BYTES
            )
            if page.entries:
                changes = [
                    StoredChange(uid=one.uid, card=one.card, known=one.known)
                    for one in page.entries
                ]
                await self._phonebook.send(space, page.entries)
                stored = await self._store(sim_id, space, changes)
                left_out = frozenset((*stored.behind, *stored.private))
                total.moved += await self._phonebook.stored(space, page.entries, left_out)
                total.take(stored)
                total.sent += len(page.entries)
            total.too_large += page.too_large
            total.unfit_uid += page.unfit_uid
            after = page.after
            looked_at += page.looked_at
            if progress is not None and page.looked_at:
                progress(looked_at, max(looked_at, plan.differing))

    async def _unshare(self, sim_id: str, space: Space, uids: Collection[str] | None) -> int:
        """Take out of the private space what is to be shared again."""
        if space.kind is SpaceKind.PRIVATE or uids is None:
            return 0
        private, total = Space(space.carrier_id, SpaceKind.PRIVATE), _Sum()
        gone = await self._phonebook.gone_from(private, uids)
        await self._remove(sim_id, private, gone, total)
        return total.removed

    async def _leave_shared(self, sim_id: str, space: Space) -> int:
        """Take out of the shared space what is private at another carrier, or was not sent."""
        if space.kind is SpaceKind.SHARED:
            return 0
        shared, total = Space(space.carrier_id, SpaceKind.SHARED), _Sum()
        gone = await self._phonebook.gone_from(shared)
        await self._remove(sim_id, shared, [one for one in gone if one.private], total)
        return total.removed

    async def _remove(
        self, sim_id: str, space: Space, gone: Sequence[GoneEntry], total: _Sum
    ) -> None:
        shared = space.kind is SpaceKind.SHARED
        for at in range(0, len(gone), MOST_CHANGES):
            page = gone[at : at + MOST_CHANGES]
            changes = [
                # Leaving the private space takes nothing from the shared one.
                StoredChange(uid=one.uid, known=one.known if shared else None)
                for one in page
            ]
            stored = await self._store(sim_id, space, changes)
            behind = frozenset(stored.behind)
            left = [one.uid for one in page if one.uid not in behind]
            await self._phonebook.left_space(space, left)
            total.removed += stored.removed
            total.waiting += len(behind)

    async def _store(self, sim_id: str, space: Space, changes: Sequence[StoredChange]) -> Stored:
        """Store a page, also over what would change nothing here if it were accepted."""
        stored = await self._ask(
            Store(sim_id=sim_id, space=space.kind, changes=tuple(changes)), Stored
        )
        if not stored.behind:
            return stored
        choice = Choice(sim_id, space.carrier_id, frozenset(stored.behind))
        seen = await self._accepting.nothing_new(choice)
        again = tuple(
            StoredChange(uid=one.uid, card=one.card, known=seen[one.uid])
            for one in changes
            if one.uid in seen
        )
        if not again:
            return stored
        then = await self._ask(Store(sim_id=sim_id, space=space.kind, changes=again), Stored)
        return Stored(
            written=stored.written + then.written,
            removed=stored.removed + then.removed,
            same=stored.same + then.same,
            rev=then.rev,
            behind=(*(uid for uid in stored.behind if uid not in seen), *then.behind),
            private=(*stored.private, *then.private),
        )


def _guard(space: Space, plan: ToStore, gone: Sequence[GoneEntry], *, removals: bool) -> None:
    """Ask about a large removal; what belongs in the other space now was meant to leave."""
    moved = space.kind is SpaceKind.SHARED
    number = sum(one.private is not moved for one in gone)
    if not removals and too_many(number, plan.remembered):
        raise LargeRemoval(number, plan.remembered)
