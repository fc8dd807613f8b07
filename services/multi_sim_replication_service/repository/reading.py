"""The queries behind lists and looks, what all collections need as indexes, and what is let go."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from contactmesh.storage.database import Database, Index
from contactmesh.storage.windows import ascending
from multi_sim_replication_service.domain.documents import (
    Account,
    Entry,
    Sim,
    SimEntry,
    User,
    account_of,
)
from multi_sim_replication_service.repository import mapping
from multi_sim_replication_service.repository.mapping import join_key

INDEXES: Final = {
    mapping.ACCOUNTS: [Index((("user_id", 1),)), Index((("account_id", 1),))],
    mapping.ENTRIES: [
        Index((("space_id", 1), ("rev", 1))),
        Index((("space_id", 1), ("live", 1), ("rev", 1))),
        Index((("live", 1), ("deleted_at", 1))),
    ],
    mapping.SIM_ENTRIES: [
        Index((("view_id", 1), ("waits", 1), ("pending_rev", 1))),
    ],
}


class Reading:
    """Reads for commands that only ask, and the little that is written without a rule."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._users = database.collection(mapping.USERS)
        self._accounts = database.collection(mapping.ACCOUNTS)
        self._entries = database.collection(mapping.ENTRIES)
        self._sim_entries = database.collection(mapping.SIM_ENTRIES)

    async def prepare(self) -> None:
        """Make sure that every query has its index."""
        for name, indexes in INDEXES.items():
            await self._database.collection(name).ensure(indexes)

    async def user(self, user_id: str) -> User:
        """What holds over all accounts of a user."""
        found = await self._users.get(user_id)
        return User(user_id) if found is None else mapping.user(found)

    async def accounts(self, user_id: str) -> list[Account]:
        """A user's accounts, by carrier."""
        found = await self._accounts.find({"user_id": user_id}, sort=[("_id", 1)])
        return [mapping.account(document) for document in found]

    async def account(self, user_id: str, carrier_id: str) -> Account | None:
        """A user's account at a carrier."""
        found = await self._accounts.get(join_key(user_id, carrier_id))
        return None if found is None else mapping.account(found)

    async def contacts(
        self, space_id: str, *, after: int, until: int, limit: int, cards: bool
    ) -> list[Entry]:
        """Contacts of a space by revision, up to the one it has now; removed ones left out."""
        found = await ascending(
            self._entries,
            {"space_id": space_id, "live": True},
            "rev",
            after=after,
            until=until,
            limit=limit,
            without=() if cards else ["card"],
        )
        return [mapping.entry(document) for document in found]

    async def named(self, space_id: str, uids: Sequence[str]) -> dict[str, Entry]:
        """Contacts of a space with their cards, by uid."""
        found = await self._entries.get_many([join_key(space_id, uid) for uid in uids])
        return {one.uid: one for one in map(mapping.entry, found.values())}

    async def waiting(self, sim: Sim, *, after: int, limit: int) -> list[SimEntry]:
        """What waits for a SIM, by revision, up to the one it has now."""
        found = await ascending(
            self._sim_entries,
            {"view_id": sim.view_id, "waits": True},
            "pending_rev",
            after=max(after, sim.settled_rev),
            until=sim.pending_rev,
            limit=limit,
        )
        return [mapping.sim_entry(document) for document in found]

    async def waiting_of(self, view_id: str, uids: Sequence[str]) -> list[SimEntry]:
        """What waits for a SIM of some contacts, by revision."""
        keys = sorted({join_key(view_id, uid) for uid in uids})
        found = map(mapping.sim_entry, (await self._sim_entries.get_many(keys)).values())
        waiting = (one for one in found if one.pending is not None)
        return sorted(waiting, key=lambda one: one.pending_rev)

    async def removals(self, before: datetime, *, limit: int) -> dict[str, set[str]]:
        """Some of the contacts whose removal was stored before a time, by user."""
        found = await self._entries.find(
            {"live": False, "deleted_at": {"$lt": before}}, limit=limit, without=["card"]
        )
        by_account: defaultdict[str, set[str]] = defaultdict(set)
        for entry in map(mapping.entry, found):
            by_account[account_of(entry.space_id)].add(entry.uid)
        accounts = await self._accounts.find({"account_id": {"$in": sorted(by_account)}})
        by_user: defaultdict[str, set[str]] = defaultdict(set)
        for account in map(mapping.account, accounts):
            by_user[account.user_id] |= by_account[account.account_id]
        return by_user

    async def forget_view(self, view_id: str) -> None:
        """Delete what a terminal had seen that a SIM has left."""
        await self._sim_entries.delete_where({"view_id": view_id})
