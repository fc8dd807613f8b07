"""Which groups users share, and whom they block: audiences by user instead of by group."""

from collections.abc import Iterable, Mapping, Sequence

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
    MemberJoined,
    MemberLeft,
    StandingBlockChanged,
)
from contactmesh.runtime.commands import on_fresh_state
from contactmesh.storage.database import Collection, Database, Index
from contactmesh.storage.errors import Contended, StaleState
from contactmesh.storage.transaction import Document


class StandingBlocks:
    """Who blocks whom wherever they meet; a lifted block stays, for what may still arrive late."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(mapping.STANDING_BLOCKS)

    async def take(self, changes: Sequence[StandingBlockChanged]) -> None:
        """Take changes over, in whatever order, each unless a later one is known."""
        last: dict[str, StandingBlockChanged] = {}
        for change in changes:
            key = join_key(change.setter_id, change.blocked_id)
            if key not in last or last[key].rev < change.rev:
                last[key] = change
        await _keep_newest(
            self._collection,
            "rev",
            {key: {"rev": one.rev, "blocked": one.blocked} for key, one in last.items()},
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

    async def project(self, steps: Sequence[tuple[Audience, AudienceEvent]]) -> None:
        """Take over what events have changed, each from an audience that is at least as new.

        Of each membership its newest state is written, all of them at once; then whoever is left
        over in the groups that came, or ended, as a whole.
        """
        newest: dict[str, Document] = {}
        whole: dict[str, Audience] = {}
        for audience, event in steps:
            for user_id in _concerned(audience, event):
                key = join_key(audience.group_id, user_id)
                if key not in newest or newest[key]["version"] < audience.version:
                    newest[key] = _membership(audience, user_id)
            if audience.dissolved or isinstance(event, GroupCreated | AudienceSnapshot):
                known = whole.get(audience.group_id)
                if known is None or known.version < audience.version:
                    whole[audience.group_id] = audience
        await _keep_newest(self._collection, "version", newest)
        await self._collection.update_each(
            [
                (
                    {"group_id": one.group_id, "version": {"$lt": one.version}},
                    {"$set": {"version": one.version, "active": False, "blocked": []}},
                )
                for one in whole.values()
            ],
            many=True,
        )

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

        The block holds whoever of the two has left the group since, and after the group's end,
        until its setter lifts it.
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


async def _keep_newest(
    collection: Collection, version: str, documents: Mapping[str, Document]
) -> None:
    """Write documents by id, each unless what is stored has that `version` or a newer one."""
    changes = [
        ({"_id": id_, version: {"$lt": document[version]}}, {"$set": document})
        for id_, document in documents.items()
    ]

    async def write() -> None:
        try:
            await collection.update_each(changes, upsert=True)
        except Contended:
            raise
        except StaleState:
            # Some are there by now: newer ones, which stay, or what another process has just made
            # of an older event, which does not.
            await collection.update_each(changes)

    await on_fresh_state(write)


def _concerned(audience: Audience, event: AudienceEvent) -> Iterable[str]:
    """The users whose membership an event changes, blocks that they set included."""
    if audience.dissolved:
        # All of them, so that no older event that is still being projected finds no document. The
        # blocks outlive the group: only their setters end them.
        return dict.fromkeys((*audience.members, *audience.blocks))
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
        "active": not audience.dissolved and user_id in audience.members,
        "blocked": sorted(blocked for blocked, lifted in blocks.items() if lifted == STANDING),
    }
