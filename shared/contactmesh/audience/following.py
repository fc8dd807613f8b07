"""Following audiences from events (DESIGN §5).

What moves an audience on is applied, an event whose audience is there is handed on with it, and the
rest is kept until it is.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol

import structlog
import uuid_utils

from contactmesh.audience.model import Audience, base_of, begun, moved_on
from contactmesh.audience.storage import Audiences, Held, HeldEvents
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.group.events import (
    AudienceEvent,
    AudienceRequested,
    AudienceSnapshot,
    GroupCreated,
)
from contactmesh.messaging.message import Delivery as Arrived
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.runtime.commands import Clock, utc_now
from contactmesh.runtime.events import Event, read_events
from contactmesh.runtime.process import TRANSIENT

log = structlog.get_logger()

WAITS_TOO_LONG: Final = timedelta(milliseconds=500)
"""How long an event waits for its audience before the audience is asked for."""
CACHED_AUDIENCES: Final = 10_000
HEAL_SECONDS: Final = 0.5
HEAL_BATCH: Final = 500


class AudienceCopies:
    """The audiences that this process has seen last, in front of the stored ones.

    A copy may be behind the stored audience; it is used only for events that need no more than it
    has, and then it holds every block that was set before the event's change.
    """

    def __init__(self, stored: Audiences) -> None:
        self._stored = stored
        self._copies: OrderedDict[str, Audience] = OrderedDict()

    def get(self, group_id: str) -> Audience | None:
        """The copy, if there is one."""
        return self._copies.get(group_id)

    def put(self, audience: Audience) -> None:
        """Keep a newer copy, and drop the one that was longest unused when there are too many."""
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

    async def apply(self, event: AudienceEvent, base: int) -> bool:
        """Move the audience on by an event.

        Returns:
            Whether it is at least at the event's version now; if not, earlier events are missing.
        """
        if isinstance(event, GroupCreated | AudienceSnapshot):
            audience = begun(event)
            if await self._stored.begin(audience):
                self.put(audience)
            else:
                await self.refresh([event.group_id])
            return True
        for _ in range(2):
            before = self.get(event.group_id)
            if before is not None and before.version >= event.audience_version:
                return True
            if before is not None and before.version == base:
                after = moved_on(before, event)
                if await self._stored.move_on(before, after):
                    self.put(after)
                    return True
            await self.refresh([event.group_id])
        latest = self.get(event.group_id)
        return latest is not None and latest.version >= event.audience_version


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
    """What a batch comes to."""

    ready: list[Ready] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    moved: dict[str, int] = field(default_factory=dict)


class Following:
    """Moves audiences on, and hands events to a service's follower when their audience is there.

    Args:
        service: the service's name; it asks for audiences that it misses under this name.
        kinds: the events that the service reads, by type; what was put aside is read again.
    """

    def __init__(
        self,
        service: str,
        kinds: Mapping[str, type[Message]],
        follower: Follower,
        audiences: Audiences,
        held: HeldEvents,
        publisher: Publisher,
        clock: Clock = utc_now,
    ) -> None:
        self._source = f"/services/{service}"
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

    async def _take_all(self, events: Sequence[Event]) -> _Work:
        work = _Work()
        await self._load_copies(events)
        for event in events:
            await self._take(event, work)
        if work.held:
            await self._held.hold(work.held)
            # The audience may have come while the event was put aside, and found nothing waiting.
            groups = {event.group_id for event in work.held}
            await self._copies.refresh(groups)
            work.moved |= self._copies.versions(groups)
        await self._follower.follow(work.ready)
        return work

    async def heal(self) -> int:
        """Hand on what could be by now, and ask for the audiences that others wait for.

        Returns:
            How many events were found to wait too long.
        """
        stale = await self._held.older_than(self._clock() - WAITS_TOO_LONG, limit=HEAL_BATCH)
        if not stale:
            return 0
        groups = {event.group_id for event in stale}
        await self._copies.refresh(groups)
        await self._release(self._copies.versions(groups))
        missing = {
            event.group_id
            for event in stale
            if (copy := self._copies.get(event.group_id)) is None or copy.version < event.needs
        }
        log.info("asking for audiences", groups=len(missing))
        await self._publisher.publish([self._request(group_id) for group_id in sorted(missing)])
        return len(stale)

    async def _load_copies(self, events: Sequence[Event]) -> None:
        behind = set()
        for event in events:
            version = getattr(event.message, "audience_version", None)
            group_id = getattr(event.message, "group_id", None)
            if version is not None and group_id is not None:
                copy = self._copies.get(group_id)
                if copy is None or copy.version < version:
                    behind.add(group_id)
        await self._copies.refresh(behind)

    async def _take(self, event: Event, work: _Work) -> None:
        if isinstance(event.message, AudienceEvent):
            await self._take_group_event(event, event.message, work)
            return
        version = getattr(event.message, "audience_version", None)
        group_id = getattr(event.message, "group_id", None)
        if version is None or group_id is None:
            work.ready.append(Ready(event))
            return
        audience = self._copies.get(group_id)
        if audience is None or audience.version < version:
            work.held.append(self._hold(event, group_id, version))
        else:
            work.ready.append(Ready(event, audience))

    async def _take_group_event(self, event: Event, about: AudienceEvent, work: _Work) -> None:
        base = base_of(about)
        if base is None:
            copy = self._copies.get(about.group_id)
            there = copy is not None and copy.version >= about.audience_version
        else:
            there = await self._copies.apply(about, base)
        if not there:
            needs = about.audience_version if base is None else base
            work.held.append(self._hold(event, about.group_id, needs))
            return
        audience = self._copies.get(about.group_id)
        if audience is not None:
            if base is not None:
                work.moved[about.group_id] = audience.version
            work.ready.append(Ready(event, audience))

    def _hold(self, event: Event, group_id: str, needs: int) -> Held:
        return Held(event.envelope.id, group_id, needs, event.envelope.encode(), self._clock())

    async def _release(self, versions: dict[str, int]) -> None:
        """Take what has waited for these versions; it may move audiences on by itself.

        What was taken is forgotten before the next is looked for, or it would be found for ever.
        """
        while waiting := await self._held.ready(versions):
            bodies = [
                Arrived(event.body, "", event.event_id, redelivered=True) for event in waiting
            ]
            events, _ = read_events("held_events", bodies, self._kinds)
            work = await self._take_all(events)
            kept = {event.event_id for event in work.held}
            taken = [event.event_id for event in waiting if event.event_id not in kept]
            await self._held.release(taken)
            versions = work.moved if taken else {}

    def _request(self, group_id: str) -> Outgoing:
        envelope = Envelope.of(
            AudienceRequested(group_id=group_id),
            id=str(uuid_utils.uuid7()),
            source=self._source,
            time=self._clock(),
            subject=group_id,
        )
        return Outgoing.event(envelope)


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
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEAL_SECONDS):
                    await self._stopping.wait()
