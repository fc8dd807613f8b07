"""Loading what a unit of work looks at, and writing what it changed."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from contactmesh.contracts.multi_sim.commands import MOST_DECIDED
from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Document, Write
from multi_sim_replication_service.domain.documents import Entry
from multi_sim_replication_service.domain.state import State
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
            *(self._load_covered(state, *one) for one in sorted(want.covered)),
        )

    async def page(self, space_id: str, after: str | None, limit: int) -> tuple[list[Entry], bool]:
        """Contacts of a space with their cards, removed ones too, by uid; whether more follow."""
        found = await self._entries.find(
            {"space_id": space_id, "uid": {"$gt": after or ""}}, sort=[("uid", 1)], limit=limit + 1
        )
        return [mapping.entry(document) for document in found[:limit]], len(found) > limit

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

    async def _load_covered(
        self, state: State, view_id: str, rev: int, now: int, waiting: int
    ) -> None:
        where: Document = {"view_id": view_id, "waits": True}
        if rev < now:
            where["pending_rev"] = {"$lte": rev}
            waiting = await self._sim_entries.count(where, limit=1_000_000)
        state.covered[view_id, rev] = waiting
        found = map(
            mapping.sim_entry,
            await self._sim_entries.find(where, sort=[("uid", 1)], limit=MOST_DECIDED),
        )
        state.sim_entries.load(((one.view_id, one.uid), one) for one in found)


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
