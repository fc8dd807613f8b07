"""Loading what a unit of work looks at, and writing what it changed."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from contactmesh.contracts.multi_sim.commands import MOST_DECIDED
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.storage.database import Database
from contactmesh.storage.errors import StaleState
from contactmesh.storage.transaction import Document, Write
from contactmesh.storage.windows import ascending
from multi_sim_replication_service.domain.documents import Account, Entry, Sim
from multi_sim_replication_service.domain.state import Covered, State
from multi_sim_replication_service.repository import mapping
from multi_sim_replication_service.repository.mapping import join_key
from multi_sim_replication_service.wanted import Wanted


class Loading:
    """Loads the documents that a unit of work looks at."""

    def __init__(self, database: Database) -> None:
        self._users = database.collection(mapping.USERS)
        self._accounts = database.collection(mapping.ACCOUNTS)
        self._entries = database.collection(mapping.ENTRIES)
        self._sim_entries = database.collection(mapping.SIM_ENTRIES)

    async def begin(self, user_ids: Iterable[str]) -> State:
        """Load users, then their accounts, to which `load` adds.

        Whatever another process commits meanwhile, an `etag` of these is outdated when the unit of
        work commits: a user's guards which accounts there are, an account's what its spaces hold.
        """
        state = State()
        ids = sorted(set(user_ids))
        found = await self._users.get_many(ids)
        state.users.load((id_, mapping.user(document)) for id_, document in found.items())
        accounts = await self._accounts.find({"user_id": {"$in": ids}}) if ids else []
        state.accounts.load((one.key, one) for one in map(mapping.account, accounts))
        return state

    async def load(self, state: State, want: Wanted) -> None:
        """Load contacts, and what SIMs have seen of them."""
        await self._load_whole(state, want)
        await asyncio.gather(
            self._load_entries(state, want),
            self._load_sim_entries(state, want),
            *(self._load_covered(state, *one) for one in want.covered),
        )

    async def page(self, account: Account, *, after: int, limit: int) -> tuple[list[Entry], bool]:
        """Contacts of a shared space with their cards, removed ones too, by revision.

        One that changes during a walk comes again at its end.

        Returns:
            The contacts, and whether more follow.

        Raises:
            StaleState: contacts were written since the account was loaded, and more may follow.
        """
        found = await ascending(
            self._entries,
            {"space_id": account.space_id(SpaceKind.SHARED)},
            "rev",
            after=after,
            until=account.shared.rev,
            limit=limit + 1,
        )
        more = len(found) > limit
        if not more:
            now = await self._accounts.get(join_key(*account.key))
            if now is None or mapping.account(now).shared.rev != account.shared.rev:
                raise StaleState
        return [mapping.entry(document) for document in found[:limit]], more

    async def _load_whole(self, state: State, want: Wanted) -> None:
        for space_id, views in sorted(want.whole):
            found = await self._entries.find({"space_id": space_id, "live": True}, without=["card"])
            entries = [mapping.entry(document) for document in found]
            state.entries.load(((one.space_id, one.uid), one) for one in entries)
            state.whole.add(space_id)
            want.sim_entries |= {(view_id, one.uid) for view_id in views for one in entries}

    async def _load_entries(self, state: State, want: Wanted) -> None:
        ids = [join_key(*key) for key in sorted(want.entries)]
        if ids:
            found = await self._entries.find({"_id": {"$in": ids}}, without=["card"])
            entries = map(mapping.entry, found)
            state.entries.load(((one.space_id, one.uid), one) for one in entries)

    async def _load_sim_entries(self, state: State, want: Wanted) -> None:
        ids = [join_key(*key) for key in sorted(want.sim_entries)]
        found = map(mapping.sim_entry, (await self._sim_entries.get_many(ids)).values())
        state.sim_entries.load(((one.view_id, one.uid), one) for one in found)

    async def _load_covered(self, state: State, sim: Sim, rev: int) -> None:
        until = min(rev, sim.pending_rev)
        found = await ascending(
            self._sim_entries,
            _waits(sim),
            "pending_rev",
            after=sim.settled_rev,
            until=until,
            limit=MOST_DECIDED,
        )
        first = [mapping.sim_entry(document) for document in found]
        all_loaded = len(first) < MOST_DECIDED
        state.covered[sim.view_id, rev] = Covered(
            number=len(first) if all_loaded else await self._number_until(sim, until),
            loaded_to=until if all_loaded else first[-1].pending_rev,
        )
        state.sim_entries.load(((one.view_id, one.uid), one) for one in first)

    async def _number_until(self, sim: Sim, rev: int) -> int:
        """How many contacts wait up to a revision; what is counted is the shorter side of it."""
        if rev - sim.settled_rev < sim.pending_rev - rev:
            return await self._count(sim, after=sim.settled_rev, until=rev)
        later = sim.pending_rev - rev
        return sim.waiting - (await self._count(sim, rev, sim.pending_rev) if later else 0)

    async def _count(self, sim: Sim, after: int, until: int) -> int:
        between = {"$gt": after, "$lte": until}
        return await self._sim_entries.count(
            {**_waits(sim), "pending_rev": between}, limit=until - after
        )


def _waits(sim: Sim) -> Document:
    return {"view_id": sim.view_id, "waits": True}


GUARDED: Final[tuple[tuple[str, str, Callable[[Any], Document]], ...]] = (
    ("users", mapping.USERS, mapping.stored_user),
    ("accounts", mapping.ACCOUNTS, mapping.stored_account),
)
"""What is written only if no other process has written it since it was loaded."""

PLAIN: Final[tuple[tuple[str, str, Callable[[Any], Document]], ...]] = (
    ("entries", mapping.ENTRIES, mapping.stored_entry),
    ("sim_entries", mapping.SIM_ENTRIES, mapping.stored_sim_entry),
)
"""What is written under the guard of its account."""


def writes(state: State) -> list[Write]:
    """What a unit of work changed, guarded by what it was based on."""
    found = [
        Write(
            collection,
            key if isinstance(key, str) else join_key(*key),
            {**stored(document), "etag": document.etag + 1},
            guard=document.etag,
        )
        for name, collection, stored in GUARDED
        for key, document in getattr(state, name).changed.items()
    ]
    return found + [
        Write(collection, join_key(*key), None if document is None else stored(document))
        for name, collection, stored in PLAIN
        for key, document in getattr(state, name).changed.items()
    ]
