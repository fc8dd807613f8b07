"""Which groups users share, and whom they block: audiences by user instead of by group."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from carrier_registry_service.domain.access import Membership
from carrier_registry_service.repository import mapping
from carrier_registry_service.repository.mapping import join_key
from contactmesh.audience.model import STANDING, Audience
from contactmesh.contracts.group.events import (
    AudienceEvent,
    AudienceSnapshot,
    BlockLifted,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    MemberJoined,
    MemberLeft,
    StandingBlockChanged,
)
from contactmesh.storage.database import Database, Index
from contactmesh.storage.errors import StaleState
from contactmesh.storage.transaction import Document


class StandingBlocks:
    """Who blocks whom wherever they meet; a lifted block stays, for what may still arrive late."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(mapping.STANDING_BLOCKS)

    async def take(self, change: StandingBlockChanged) -> None:
        """Take a change over, unless a later one is known."""
        key = join_key(change.setter_id, change.blocked_id)
        # What is newer already is not replaced: there, the upsert finds the key taken.
        with suppress(StaleState):
            await self._collection.update(
                {"_id": key, "rev": {"$lt": change.rev}},
                {"$set": {"rev": change.rev, "blocked": change.blocked}},
                upsert=True,
            )

    async def among(self, pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Those of the pairs, as (setter, blocked), between whom a block stands."""
        keys = {join_key(*pair): pair for pair in pairs}
        found = await self._collection.get_many(sorted(keys))
        return frozenset(keys[id_] for id_, document in found.items() if document["blocked"])


class Memberships:
    """One small document for each member of each group.

    Each says as of which version of its audience it holds, and only a later version replaces it:
    so events may be projected again, late, and by several processes at once.
    """

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(mapping.MEMBERSHIPS)

    async def prepare(self) -> None:
        """Make sure that memberships are found by user and by group."""
        await self._collection.ensure(
            [
                Index((("user_id", 1), ("active", 1))),
                Index((("user_id", 1), ("blocked", 1))),
                Index((("group_id", 1), ("version", 1))),
            ]
        )

    async def project(self, audience: Audience, event: AudienceEvent) -> None:
        """Take over what an event has changed, from an audience that is at least as new."""
        older = {"group_id": audience.group_id, "version": {"$lt": audience.version}}
        gone = {"$set": {"version": audience.version, "active": False, "blocked": []}}
        if audience.dissolved or isinstance(event, GroupDissolved):
            await self._collection.update_all(older, gone)
            return
        changes = [
            (
                {"_id": join_key(audience.group_id, user_id), "version": {"$lt": audience.version}},
                {"$set": _membership(audience, user_id)},
            )
            for user_id in _concerned(audience, event)
        ]
        # What is newer already is not replaced: there, the upsert finds the key taken.
        with suppress(StaleState):
            await self._collection.update_each(changes, upsert=True)
        if isinstance(event, GroupCreated | AudienceSnapshot):
            others = {**older, "user_id": {"$nin": list(audience.members)}}
            await self._collection.update_all(others, gone)

    async def of(self, user_ids: Sequence[str]) -> dict[str, list[str]]:
        """The groups that users are in, by user."""
        groups: dict[str, list[str]] = {user_id: [] for user_id in user_ids}
        if user_ids:
            where = {"user_id": {"$in": list(user_ids)}, "active": True}
            for document in await self._collection.find(where):
                groups[document["user_id"]].append(document["group_id"])
        return groups

    async def blocks_among(self, pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Those of the pairs, as (setter, blocked), of whom one blocks the other in some group.

        The block holds whoever of the two has left the group since, until its setter lifts it.
        """
        wanted = frozenset(pairs)
        if not wanted:
            return frozenset()
        where = {
            "user_id": {"$in": sorted({setter for setter, _ in wanted})},
            "blocked": {"$in": sorted({blocked for _, blocked in wanted})},
        }
        found = await self._collection.find(where)
        return wanted & {
            (document["user_id"], blocked) for document in found for blocked in document["blocked"]
        }

    async def in_groups(self, keys: Iterable[tuple[str, str]]) -> dict[str, list[Membership]]:
        """Those of the memberships, as (group, user), that stand; by user."""
        found = await self._collection.get_many([join_key(*key) for key in sorted(keys)])
        by_user: dict[str, list[Membership]] = {}
        for document in found.values():
            if document["active"]:
                one = mapping.membership(document)
                by_user.setdefault(one.user_id, []).append(one)
        return by_user


def _concerned(audience: Audience, event: AudienceEvent) -> Iterable[str]:
    """The users whose membership an event changes, blocks that they set included."""
    match event:
        case GroupCreated() | AudienceSnapshot():
            return dict.fromkeys((*audience.members, *audience.blocks))
        case MemberJoined():
            return dict.fromkeys((event.user_id, *(setter_id for setter_id, _ in event.blocks)))
        case MemberLeft():
            return (event.user_id,)
        case BlockSet() | BlockLifted():
            return (event.setter_id,)
    return ()


def _membership(audience: Audience, user_id: str) -> Document:
    blocks = audience.blocks.get(user_id, {})
    return {
        "group_id": audience.group_id,
        "user_id": user_id,
        "version": audience.version,
        "active": user_id in audience.members,
        "blocked": sorted(blocked for blocked, lifted in blocks.items() if lifted == STANDING),
    }
