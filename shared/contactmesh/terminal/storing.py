"""Storing the phonebook's entries in the spaces of SIM accounts: what changed, page by page."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from contactmesh.contracts.multi_sim.commands import (
    MOST_CHANGES,
    EntryList,
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
from contactmesh.terminal.rules.spaces import PendingChange, too_many
from contactmesh.terminal.space_entries import StoreOutcome
from contactmesh.terminal.space_records import GoneEntry, Space
from contactmesh.terminal.store_pages import ToStore

ROOM_BYTES: Final = MAX_BODY_BYTES * 3 // 4
"""How much of a command cards may take, so that the rest has room whatever it holds."""


@dataclass(slots=True)
class _Sum:
    written: int = 0
    removed: int = 0
    same: int = 0
    sent: int = 0
    moved: int = 0
    waiting: int = 0
    too_large: tuple[str, ...] = ()


class Storing:
    """Stores what differs from what this terminal remembers of a space.

    What a page's reply confirmed is remembered at once, so that a store that broke off goes on
    where it was.

    Args:
        phonebook: whose entries are stored.
        ask: sends a command and gives its result.
        accepting: knows what waits: a contact that another terminal changed is not stored over.
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
                named = await self._phonebook.name_entries(space, contact_ids)
            elif not await self._phonebook.knows_space(space):
                await self._learn(space)
            uids = None if named is None else named.uids
            plan = await self._phonebook.to_store(space, uids)
            waiting = await self._waiting(sim_id, space)
            gone = [one for one in plan.gone if one.uid not in waiting] if named is None else []
            _guard(space, plan, gone, removals=removals)
            total = _Sum()
            await self._send(sim_id, space, uids, plan, waiting, total, progress)
            total.removed = await self._remove(sim_id, space, gone)
            total.moved = await self._move(sim_id, space, uids)
            return StoreOutcome(
                written=total.written,
                removed=total.removed,
                # What was added meanwhile is sent without having been counted.
                same=max(0, plan.held - total.sent - total.waiting - len(total.too_large))
                + total.same,
                private=plan.private,
                left_out=plan.without_entry if named is None else named.left_out,
                moved=total.moved,
                waiting=total.waiting,
                too_large=total.too_large,
            )

    async def _waiting(self, sim_id: str, space: Space) -> frozenset[str]:
        """The contacts that another terminal changed, and this one has not decided on."""
        if space.kind is SpaceKind.PRIVATE:
            return frozenset()
        pending = await self._accepting.pending(Choice(sim_id, space.carrier_id))
        return frozenset(
            one.uid for one in pending.contacts if one.change is not PendingChange.SAME
        )

    async def _learn(self, space: Space) -> None:
        """What is there already as the phonebook has it need not be sent."""
        after: str | None = None
        while True:
            listed = await self._ask(
                ListEntries(carrier_id=space.carrier_id, space=space.kind, after=after), EntryList
            )
            await self._phonebook.learn(space, {one.uid: one.digest for one in listed.entries})
            after = listed.after
            if after is None:
                return

    async def _send(
        self,
        sim_id: str,
        space: Space,
        uids: Collection[str] | None,
        plan: ToStore,
        waiting: frozenset[str],
        total: _Sum,
        progress: Progress | None,
    ) -> None:
        after: str | None = ""
        looked_at = 0
        while after is not None:
            page = await self._phonebook.next_to_store(
                space, uids, after, limit=MOST_CHANGES, room=ROOM_BYTES
            )
            entries = [one for one in page.entries if one.uid not in waiting]
            if entries:
                changes = [StoredChange(uid=one.uid, card=one.card) for one in entries]
                stored = await self._store(sim_id, space.kind, changes)
                await self._phonebook.stored(space, entries)
                total.written += stored.written
                total.same += stored.same
                total.sent += len(entries)
            total.waiting += len(page.entries) - len(entries)
            total.too_large += page.too_large
            after = page.after
            looked_at += page.looked_at
            if progress is not None and page.looked_at:
                progress(looked_at, max(looked_at, plan.differing))

    async def _move(self, sim_id: str, space: Space, uids: Collection[str] | None) -> int:
        """Take out of the account's other space what belongs in this one now."""
        if space.kind is SpaceKind.PRIVATE:
            other = Space(space.carrier_id, SpaceKind.SHARED)
            gone = await self._phonebook.gone_from(other)
            return await self._remove(sim_id, other, [one for one in gone if one.private])
        if uids is None:
            return 0
        other = Space(space.carrier_id, SpaceKind.PRIVATE)
        return await self._remove(sim_id, other, await self._phonebook.gone_from(other, uids))

    async def _remove(self, sim_id: str, space: Space, gone: Sequence[GoneEntry]) -> int:
        removed = 0
        for at in range(0, len(gone), MOST_CHANGES):
            uids = [one.uid for one in gone[at : at + MOST_CHANGES]]
            stored = await self._store(sim_id, space.kind, [StoredChange(uid=uid) for uid in uids])
            await self._phonebook.left_space(space, uids)
            removed += stored.removed
        return removed

    async def _store(self, sim_id: str, kind: SpaceKind, changes: Sequence[StoredChange]) -> Stored:
        return await self._ask(Store(sim_id=sim_id, space=kind, changes=tuple(changes)), Stored)


def _guard(space: Space, plan: ToStore, gone: Sequence[GoneEntry], *, removals: bool) -> None:
    """Ask about a large removal; what belongs in the other space now was meant to leave."""
    moved = space.kind is SpaceKind.SHARED
    number = sum(one.private is not moved for one in gone)
    if not removals and too_many(number, plan.remembered):
        raise LargeRemoval(number, plan.remembered)
