"""Where audiences are kept, and the events that wait for one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from contactmesh.audience.model import Audience, Listener
from contactmesh.storage.database import Database, Index
from contactmesh.storage.errors import StaleState
from contactmesh.storage.transaction import Document

HELD_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Held:
    """An event that has to wait until the copy of its group's audience has reached `needs`."""

    event_id: str
    group_id: str
    needs: int
    body: bytes
    held_at: datetime


class Audiences:
    """The service's copy of all audiences, shared by its processes."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection("audiences")

    async def get(self, group_ids: Sequence[str]) -> dict[str, Audience]:
        """Audiences by group."""
        found = await self._collection.get_many(group_ids)
        return {id_: _audience(document) for id_, document in found.items()}

    async def begin(self, audience: Audience) -> bool:
        """Store a whole audience, unless the stored one is as new; whether it was stored."""
        document = _document(audience)
        try:
            return await self._collection.update(
                {"_id": audience.group_id, "version": {"$lt": audience.version}},
                {"$set": document},
                upsert=True,
            )
        except StaleState:
            return False

    async def move_on(self, before: Audience, after: Audience) -> bool:
        """Store an audience's next version, unless another process has; whether it was stored."""
        return await self._collection.update(
            {"_id": after.group_id, "version": before.version}, {"$set": _changes(before, after)}
        )


def _document(audience: Audience) -> Document:
    return {
        "version": audience.version,
        "members": {user_id: _listener(one) for user_id, one in audience.members.items()},
        "blocks": {setter: dict(blocked) for setter, blocked in audience.blocks.items()},
        "dissolved": audience.dissolved,
    }


def _listener(listener: Listener) -> Document:
    return {"since": listener.since, "muted": list(listener.muted_terminals)}


def _changes(before: Audience, after: Audience) -> Document:
    """What differs, so that a large audience is not written whole for one member."""
    changes: Document = {"version": after.version, "dissolved": after.dissolved}
    for user_id, listener in after.members.items():
        if before.members.get(user_id) != listener:
            changes[f"members.{user_id}"] = _listener(listener)
    for user_id in before.members:
        if user_id not in after.members:
            changes[f"members.{user_id}"] = None
    for setter_id, blocked in after.blocks.items():
        if before.blocks.get(setter_id) != blocked:
            changes[f"blocks.{setter_id}"] = dict(blocked)
    return changes


def _audience(document: Mapping[str, Any]) -> Audience:
    return Audience(
        group_id=document["_id"],
        version=document["version"],
        members={
            user_id: Listener(one["since"], tuple(one["muted"]))
            for user_id, one in document["members"].items()
            if one is not None
        },
        blocks=document["blocks"],
        dissolved=document["dissolved"],
    )


class HeldEvents:
    """Events that wait for their audience."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection("held_events")

    async def prepare(self) -> None:
        """Make sure that waiting events are found by group, and by age."""
        await self._collection.ensure(
            [
                Index((("group_id", 1), ("needs", 1))),
                Index((("held_at", 1),), expire_seconds=HELD_DAYS * 24 * 3600),
            ]
        )

    async def hold(self, events: Sequence[Held]) -> None:
        """Keep events until their audience is there; keeping one twice is keeping it once."""
        for event in events:
            await self._collection.update(
                {"_id": event.event_id},
                {
                    "$setOnInsert": {
                        "group_id": event.group_id,
                        "needs": event.needs,
                        "body": event.body,
                        "held_at": event.held_at,
                    }
                },
                upsert=True,
            )

    async def ready(self, versions: Mapping[str, int]) -> list[Held]:
        """Events whose audience is there; `versions` are the copy's, by group."""
        found: list[Held] = []
        for group_id, version in versions.items():
            documents = await self._collection.find(
                {"group_id": group_id, "needs": {"$lte": version}}, sort=[("needs", 1)]
            )
            found += map(_held, documents)
        return found

    async def older_than(self, moment: datetime, *, limit: int) -> list[Held]:
        """Events that have waited since before a moment, the oldest first."""
        documents = await self._collection.find(
            {"held_at": {"$lt": moment}}, sort=[("held_at", 1)], limit=limit
        )
        return [_held(document) for document in documents]

    async def release(self, event_ids: Sequence[str]) -> None:
        """Forget events that were delivered."""
        await self._collection.delete(event_ids)


def _held(document: Document) -> Held:
    return Held(
        event_id=document["_id"],
        group_id=document["group_id"],
        needs=document["needs"],
        body=document["body"],
        held_at=document["held_at"],
    )
