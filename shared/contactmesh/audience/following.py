"""Following audiences from events (DESIGN §5).

What moves an audience on is applied, an event whose audience is there is handed on with it, and the
rest is kept until it is.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog
import uuid_utils

from contactmesh.audience.model import (
    Audience,
    Touched,
    base_of,
    begun,
    everything,
    moved_on,
    touched,
)
from contactmesh.audience.storage import (
    LONGEST_WAIT,
    Audiences,
    Held,
    HeldEvents,
    Step,
    Waiting,
)
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.group.events import (
    AudienceEvent,
    AudienceRequested,
    AudienceSnapshot,
    GroupCreated,
)
from contactmesh.messaging.message import Delivery as Arrived
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.parking import park
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import ServiceTopology, event_key
from contactmesh.runtime.commands import Clock, utc_now
from contactmesh.runtime.events import Event, read_events
from contactmesh.runtime.process import TRANSIENT
from contactmesh.runtime.waiting import happened_within

log = structlog.get_logger()

CACHED_AUDIENCES: Final = 10_000
HEAL_SECONDS: Final = 0.5
HEAL_BATCH: Final = 500
ATTEMPTS: Final = 3
"""How often a batch is tried on an audience that other processes move on at the same time."""


class AudienceCopies:
    """The audiences that this process has seen last, in front of the stored ones.

    A copy may be behind the stored audience; it is used only for events that need no more than it
    has, and then it holds every block that was set before the event's change.
    """

    def __init__(self, stored: Audiences) -> None:
        self._stored = stored
        self._copies: OrderedDict[str, Audience] = OrderedDict()

    def get(self, group_id: str) -> Audience | None:
        """The copy, if there is one; it counts as used."""
        copy = self._copies.get(group_id)
        if copy is not None:
            self._copies.move_to_end(group_id)
        return copy

    def put(self, audience: Audience) -> None:
        """Keep a copy unless there is a newer one; the longest unused goes when it is too much."""
        copy = self._copies.get(audience.group_id)
        if copy is None or copy.version < audience.version:
            self._copies[audience.group_id] = audience
        self._copies.move_to_end(audience.group_id)
        if len(self._copies) > CACHED_AUDIENCES:
            self._copies.popitem(last=False)

    async def refresh(self, group_ids: Iterable[str]) -> None:
        """Load audiences anew."""
        for audience in (await self._stored.get(sorted(set(group_ids)))).values():
            self.put(audience)

    def versions(self, group_ids: Iterable[str]) -> dict[str, int]:
        """The versions of the copies that are there, by group."""
        return {
            group_id: copy.version
            for group_id in group_ids
            if (copy := self._copies.get(group_id)) is not None
        }

    async def store(self, moves: Mapping[str, "Move"]) -> set[str]:
        """Store how far a batch moves audiences on, and keep the copies.

        Returns:
            The groups that another process was faster with; their copies are loaded anew.
        """
        steps = {group_id: move.step() for group_id, move in moves.items()}
        lost = await self._stored.store(list(steps.values()))
        for group_id, step in steps.items():
            if group_id in lost:
                # Whatever the copy says is not what is stored, even if that should be older.
                self._copies.pop(group_id, None)
            else:
                self.put(step.after)
        await self.refresh(lost)
        return lost


class Move:
    """How far a batch moves one audience on."""

    def __init__(self, before: Audience | None, first: AudienceEvent) -> None:
        self._before = before
        self._whole = False
        self._members: set[str] = set()
        self._blocks: set[tuple[str, str]] = set()
        self.after = self._next(before, first)

    def add(self, event: AudienceEvent) -> None:
        """Take the next step, for which the audience is there."""
        self.after = self._next(self.after, event)

    def step(self) -> Step:
        """All of it at once."""
        if self._whole:
            return Step(self._before, self.after, everything(self._before, self.after))
        changed = Touched(frozenset(self._members), frozenset(self._blocks))
        return Step(self._before, self.after, changed)

    def _next(self, audience: Audience | None, event: AudienceEvent) -> Audience:
        if isinstance(event, GroupCreated | AudienceSnapshot):
            self._whole = True
            return begun(event)
        if audience is None:
            raise ValueError("only an event that brings it whole begins an audience")
        changed = touched(event)
        self._members |= changed.members
        self._blocks |= changed.blocks
        return moved_on(audience, event)


@dataclass(frozen=True, slots=True)
class Ready:
    """An event whose turn it is, with its group's audience; none where it needs no audience."""

    event: Event
    audience: Audience | None = None


class Follower(Protocol):
    """What a service does with events once their audiences are there. It may be repeated."""

    async def follow(self, ready: Sequence[Ready]) -> None:
        """Act on events, in their order."""
        ...


@dataclass(slots=True)
class _Work:
    """What a batch comes to; `taken` has what becomes of each event, in their order."""

    taken: list[Ready | Held | None] = field(default_factory=list)
    moved: dict[str, int] = field(default_factory=dict)

    @property
    def ready(self) -> list[Ready]:
        return [one for one in self.taken if isinstance(one, Ready)]

    @property
    def held(self) -> list[Held]:
        return [one for one in self.taken if isinstance(one, Held)]


class Following:
    """Moves audiences on, and hands events to a service's follower when their audience is there.

    Args:
        topology: the service's; it asks for audiences that it misses under its name, and what was
            put aside and can no longer be read goes to the parking queue of its events.
        kinds: the events that the service reads, by type; what was put aside is read again.
    """

    def __init__(
        self,
        topology: ServiceTopology,
        kinds: Mapping[str, type[Message]],
        follower: Follower,
        audiences: Audiences,
        held: HeldEvents,
        publisher: Publisher,
        clock: Clock = utc_now,
    ) -> None:
        self._source = f"/services/{topology.service}"
        self._queue = topology.events_queue
        self._kinds = kinds
        self._follower = follower
        self._copies = AudienceCopies(audiences)
        self._held = held
        self._publisher = publisher
        self._clock = clock

    async def process(self, events: Sequence[Event]) -> None:
        """Hand on every event of the batch, or keep it until its audience is there."""
        work = await self._take_all(events)
        await self._release(work.moved)

    async def heal(self) -> int:
        """Hand on what could be by now, and ask for the audiences that others wait for.

        Each time that an audience is asked for in vain, the next time is twice as far away.

        Returns:
            How many events wait too long.
        """
        now = self._clock()
        due = await self._held.waiting(now, limit=HEAL_BATCH)
        if due:
            groups = {event.group_id for event in due}
            await self._copies.refresh(groups)
            versions = self._copies.versions(groups)
            await self._release(versions)
            await self._ask([one for one in due if one.needs > versions.get(one.group_id, 0)], now)
        return await self._held.count(now)

    async def _ask(self, missing: Sequence[Waiting], now: datetime) -> None:
        if not missing:
            return
        waits: dict[str, timedelta] = {}
        for event in missing:
            wait = min(2 * event.wait, LONGEST_WAIT)
            waits[event.group_id] = max(wait, waits.get(event.group_id, wait))
        log.info("asking for audiences", groups=len(waits))
        await self._publisher.publish([self._request(group_id) for group_id in sorted(waits)])
        await self._held.ask_later(waits, now)

    async def _take_all(self, events: Sequence[Event], *, waited: bool = False) -> _Work:
        """Take a batch: each audience is stored once, and before anybody is told of anything.

        What has `waited` is put aside already.
        """
        work = _Work(taken=[None] * len(events))
        await self._copies.refresh(self._behind(events))
        left = list(enumerate(events))
        for attempt in range(ATTEMPTS):
            moves: dict[str, Move] = {}
            for place, event in left:
                work.taken[place] = self._take(event, moves, work.moved)
            lost = await self._copies.store(moves)
            left = [(place, event) for place, event in left if _group_of(event) in lost]
            if not left:
                break
            if attempt + 1 == ATTEMPTS:
                for place, event in left:
                    work.taken[place] = self._put_aside(event)
        held = work.held
        if held and not waited:
            await self._held.hold(held)
            # The audience may have come while the event was put aside, and found nothing waiting.
            groups = {event.group_id for event in held}
            await self._copies.refresh(groups)
            work.moved |= self._copies.versions(groups)
        await self._follower.follow(work.ready)
        return work

    def _behind(self, events: Sequence[Event]) -> set[str]:
        """The groups whose copies are older than the batch needs and cannot get there by it."""
        behind: set[str] = set()
        versions: dict[str, int] = {}
        for event in events:
            group_id, needs = _group_of(event), _needs(event)
            if group_id is None or needs is None:
                continue
            if group_id not in versions:
                copy = self._copies.get(group_id)
                versions[group_id] = 0 if copy is None else copy.version
            message = event.message
            if isinstance(message, AudienceEvent) and needs <= versions[group_id]:
                versions[group_id] = max(versions[group_id], message.audience_version)
            elif needs > versions[group_id]:
                behind.add(group_id)
        return behind

    def _take(
        self, event: Event, moves: dict[str, Move], moved: dict[str, int]
    ) -> Ready | Held | None:
        group_id, needs = _group_of(event), _needs(event)
        if group_id is None or needs is None:
            return Ready(event)
        move = moves.get(group_id)
        audience = self._copies.get(group_id) if move is None else move.after
        message = event.message
        base = base_of(message) if isinstance(message, AudienceEvent) else None
        if not isinstance(message, AudienceEvent) or base is None:
            there = audience is not None and audience.version >= needs
            return Ready(event, audience) if there else self._put_aside(event)
        if audience is None or audience.version < message.audience_version:
            if base != 0 and (audience is None or audience.version != base):
                return self._put_aside(event)
            if move is None:
                move = moves[group_id] = Move(audience, message)
            else:
                move.add(message)
            audience = move.after
        moved[group_id] = audience.version
        return Ready(event, audience)

    def _put_aside(self, event: Event) -> Held:
        group_id, needs = _group_of(event) or "", _needs(event) or 0
        envelope = event.envelope
        key = event_key(envelope.type, envelope.data.get("scope"))
        return Held(envelope.id, group_id, needs, envelope.encode(), self._clock(), key)

    async def _release(self, versions: dict[str, int]) -> None:
        """Take what has waited for these versions; it may move audiences on by itself.

        What was taken is forgotten before the next is looked for, or it would be found for ever.
        """
        while waiting := await self._held.ready(versions):
            bodies = [Arrived(event.body, event.key, event.event_id) for event in waiting]
            events, unreadable = read_events("held_events", bodies, self._kinds)
            if unreadable:
                await park(self._publisher, self._queue, unreadable)
            work = await self._take_all(events, waited=True)
            kept = {event.event_id for event in work.held}
            taken = [event.event_id for event in waiting if event.event_id not in kept]
            await self._held.release(taken)
            if not taken:
                break
            versions = {**versions, **work.moved}

    def _request(self, group_id: str) -> Outgoing:
        envelope = Envelope.of(
            AudienceRequested(group_id=group_id),
            id=str(uuid_utils.uuid7()),
            source=self._source,
            time=self._clock(),
            subject=group_id,
        )
        return Outgoing.event(envelope)


def _group_of(event: Event) -> str | None:
    group_id: str | None = getattr(event.message, "group_id", None)
    return group_id


def _needs(event: Event) -> int | None:
    """The audience version that an event needs to be handed on, if it needs an audience."""
    base = base_of(event.message) if isinstance(event.message, AudienceEvent) else None
    version: int | None = getattr(event.message, "audience_version", None)
    return version if base is None else base


class Healing:
    """Looks after events that wait too long, for as long as it runs."""

    def __init__(self, heal: Callable[[], Awaitable[object]]) -> None:
        self._heal = heal
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Let `run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Heal twice a second until `stop`."""
        while not self._stopping.is_set():
            with contextlib.suppress(*TRANSIENT):
                await self._heal()
            await happened_within(HEAL_SECONDS, self._stopping)
