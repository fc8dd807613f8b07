"""Where audiences are kept, and the events that wait for one.

An audience is a head with its version and, in collections of their own, a small document for each
member and each block: what a change writes is as large as the change, and no document grows.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from contactmesh.audience.model import Audience, Listener, Touched
from contactmesh.runtime.commands import Clock, utc_now
from contactmesh.storage.database import Database, Index
from contactmesh.storage.errors import StaleState
from contactmesh.storage.transaction import Document, Write

HELD_DAYS: Final = 7
DISSOLVED_DAYS: Final = 30
"""How long a dissolved audience stays, for events that come late or again."""
HELD_BATCH: Final = 200
COUNTED: Final = 100_000
FIRST_WAIT: Final = timedelta(milliseconds=500)
"""How long an event waits for its audience before the audience is asked for."""
LONGEST_WAIT: Final = timedelta(minutes=4)
LOADS: Final = 5

HEADS: Final = "audience_heads"
MEMBERS: Final = "audience_members"
BLOCKS: Final = "audience_blocks"


@dataclass(frozen=True, slots=True)
class Held:
    """An event that has to wait until the copy of its group's audience has reached `needs`.

    `key` is the routing key that it came with.
    """

    event_id: str
    group_id: str
    needs: int
    body: bytes
    held_at: datetime
    key: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that has waited for `wait` since its audience was asked for, or since it came."""

    event_id: str
    group_id: str
    needs: int
    wait: timedelta


@dataclass(frozen=True, slots=True)
class Step:
    """How far a batch moves an audience on; `before` is what is stored now, if anything is.

    Only the members and blocks that `touched` names can differ between the two.
    """

    before: Audience | None
    after: Audience
    touched: Touched


class Audiences:
    """The service's copy of all audiences, shared by its processes."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._heads = database.collection(HEADS)
        self._members = database.collection(MEMBERS)
        self._blocks = database.collection(BLOCKS)
        self._clock = clock

    async def prepare(self) -> None:
        """Make sure that members and blocks are found by group, and that what is over expires."""
        over = Index((("dissolved_at", 1),), expire_seconds=DISSOLVED_DAYS * 24 * 3600)
        await self._heads.ensure([over])
        for parts in (self._members, self._blocks):
            await parts.ensure([Index((("group_id", 1),)), over])

    async def get(self, group_ids: Iterable[str]) -> dict[str, Audience]:
        """Audiences by group, each as it was at one moment."""
        found: dict[str, Audience] = {}
        left = list(dict.fromkeys(group_ids))
        heads = await self._heads.get_many(left)
        for _ in range(LOADS):
            left = [group_id for group_id in left if group_id in heads]
            if not left:
                break
            where = {"group_id": {"$in": left}}
            members, blocks = await asyncio.gather(
                self._members.find(where), self._blocks.find(where)
            )
            # A step takes effect as a whole: with the head unchanged, so was all the rest.
            after = await self._heads.get_many(left)
            same = {id_ for id_ in left if id_ in after and after[id_] == heads[id_]}
            found |= _audiences([heads[id_] for id_ in same], members, blocks)
            left = [group_id for group_id in left if group_id not in same]
            heads = after
        return found

    async def store(self, steps: Sequence[Step]) -> set[str]:
        """Store steps of different groups, each unless another process has moved the audience on.

        Returns:
            The groups whose step was not stored.
        """
        if not steps:
            return set()
        await self._mark_dissolved(steps)
        if await self._store(steps):
            return set()
        if len(steps) == 1:
            return {steps[0].after.group_id}
        return {step.after.group_id for step in steps if not await self._store([step])}

    async def _store(self, steps: Sequence[Step]) -> bool:
        now = self._clock()
        writes = [write for step in steps for write in _writes(step, now)]
        try:
            async with self._database.transaction() as transaction:
                await transaction.write(writes)
        except StaleState:
            return False
        return True

    async def _mark_dissolved(self, steps: Sequence[Step]) -> None:
        """Let the parts of dissolved audiences expire; a group that is dissolved stays so."""
        over = [step.after.group_id for step in steps if step.after.dissolved]
        if over:
            now = {"$set": {"dissolved_at": self._clock()}}
            for parts in (self._members, self._blocks):
                await parts.update_all({"group_id": {"$in": over}}, now)


def _writes(step: Step, now: datetime) -> Iterable[Write]:
    before, after = step.before, step.after
    group_id = after.group_id
    over: Document = {"dissolved_at": now} if after.dissolved else {}
    head = {"etag": after.version, **over}
    yield Write(HEADS, group_id, head, guard=0 if before is None else before.version)
    for user_id in step.touched.members:
        listener = after.members.get(user_id)
        if listener != (before and before.members.get(user_id)):
            member = None
            if listener is not None:
                member = {**_member(group_id, user_id, listener), **over}
            yield Write(MEMBERS, f"{group_id}/{user_id}", member)
    for setter_id, blocked_id in step.touched.blocks:
        lifted = after.blocks.get(setter_id, {}).get(blocked_id)
        if lifted != (before and before.blocks.get(setter_id, {}).get(blocked_id)):
            key = f"{group_id}/{setter_id}/{blocked_id}"
            block = None
            if lifted is not None:
                block = {**_block(group_id, setter_id, blocked_id, lifted), **over}
            yield Write(BLOCKS, key, block)


def _member(group_id: str, user_id: str, listener: Listener) -> Document:
    return {
        "group_id": group_id,
        "user_id": user_id,
        "since": listener.since,
        "muted": list(listener.muted_terminals),
    }


def _block(group_id: str, setter_id: str, blocked_id: str, lifted: int) -> Document:
    return {
        "group_id": group_id,
        "setter_id": setter_id,
        "blocked_id": blocked_id,
        "lifted": lifted,
    }


def _audiences(
    heads: Iterable[Document], members: Iterable[Document], blocks: Iterable[Document]
) -> dict[str, Audience]:
    listeners: dict[str, dict[str, Listener]] = defaultdict(dict)
    for one in members:
        listener = Listener(one["since"], tuple(one["muted"]))
        listeners[one["group_id"]][one["user_id"]] = listener
    lifted: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for one in blocks:
        by_setter = lifted[one["group_id"]].setdefault(one["setter_id"], {})
        by_setter[one["blocked_id"]] = one["lifted"]
    return {
        id_: Audience(
            group_id=id_,
            version=head["etag"],
            members=listeners.get(id_, {}),
            blocks=lifted.get(id_, {}),
            dissolved="dissolved_at" in head,
        )
        for head in heads
        for id_ in [head["_id"]]
    }


class HeldEvents:
    """Events that wait for their audience."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection("held_events")

    async def prepare(self) -> None:
        """Make sure that waiting events are found by group, by age, and by when to ask again."""
        await self._collection.ensure(
            [
                Index((("group_id", 1), ("needs", 1))),
                Index((("held_at", 1),), expire_seconds=HELD_DAYS * 24 * 3600),
                Index((("ask_again_at", 1),)),
            ]
        )
        # What an earlier release has put aside.
        await self._collection.update_all(
            {"ask_again_at": None},
            {"$set": {"ask_again_at": utc_now(), "wait": FIRST_WAIT.total_seconds()}},
        )

    async def hold(self, events: Sequence[Held]) -> None:
        """Keep events until their audience is there; keeping one twice is keeping it once."""
        changes = [
            (
                {"_id": event.event_id},
                {
                    "$setOnInsert": {
                        "group_id": event.group_id,
                        "needs": event.needs,
                        "body": event.body,
                        "key": event.key,
                        "held_at": event.held_at,
                        "ask_again_at": event.held_at + FIRST_WAIT,
                        "wait": FIRST_WAIT.total_seconds(),
                    }
                },
            )
            for event in events
        ]
        # Another process may put aside the same event at the same time.
        with suppress(StaleState):
            await self._collection.update_each(changes, upsert=True)

    async def ready(self, versions: Mapping[str, int]) -> list[Held]:
        """Some events whose audience is there or may be after those before them, in this order.

        `versions` are the copy's, by group. At most `HELD_BATCH` are found: release what was
        handled, and look for more.
        """
        if not versions:
            return []
        documents = await self._collection.find(
            {
                "$or": [
                    {"group_id": group_id, "needs": {"$lte": version + HELD_BATCH}}
                    for group_id, version in versions.items()
                ]
            },
            sort=[("needs", 1)],
            limit=HELD_BATCH,
        )
        return [_held(document) for document in documents]

    async def waiting(self, now: datetime, *, limit: int) -> list[Waiting]:
        """Events whose audiences are to be asked for now, those longest due first."""
        documents = await self._collection.find(
            {"ask_again_at": {"$lte": now}},
            sort=[("ask_again_at", 1)],
            limit=limit,
            without=["body"],
        )
        return [
            Waiting(one["_id"], one["group_id"], one["needs"], timedelta(seconds=one["wait"]))
            for one in documents
        ]

    async def ask_later(self, groups: Mapping[str, timedelta], now: datetime) -> None:
        """Let all events of groups wait at least so long until their audience is asked for."""
        by_wait: dict[timedelta, list[str]] = defaultdict(list)
        for group_id, wait in groups.items():
            by_wait[wait].append(group_id)
        for wait, group_ids in by_wait.items():
            await self._collection.update_all(
                {"group_id": {"$in": group_ids}},
                {"$max": {"ask_again_at": now + wait, "wait": wait.total_seconds()}},
            )

    async def count(self, now: datetime) -> int:
        """How many events have waited too long, counted up to `COUNTED`."""
        return await self._collection.count({"held_at": {"$lt": now - FIRST_WAIT}}, limit=COUNTED)

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
        key=document.get("key", ""),
    )
