"""From events to deliveries.

What moves an audience on is applied, what its audience is there for is delivered, and the rest is
kept until it is.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog
import uuid_utils

from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.events import (
    AudienceEvent,
    AudienceRequested,
    AudienceSnapshot,
    BlockLifted,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    HandedOver,
    InvitationClosed,
    InvitationSent,
    MemberJoined,
    MemberLeft,
    SubscriptionChanged,
)
from contactmesh.contracts.identity import TerminalEnrolled, TerminalRevoked
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Delivery as Arrived
from contactmesh.messaging.message import Outgoing, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import FANOUT, terminal_key, user_key
from contactmesh.runtime.commands import Clock, utc_now
from contactmesh.runtime.events import Event, read_events
from contactmesh.runtime.process import TRANSIENT
from fanout_service.domain.audience import Audience, base_of, begun, moved_on
from fanout_service.domain.delivery import Delivery, of_change, of_group, of_invitation
from fanout_service.metrics import DELIVERED, HELD, RECIPIENTS, TO_BROKER, WITHHELD
from fanout_service.repository import WAITS_TOO_LONG, Audiences, Held, HeldEvents, Terminals

log = structlog.get_logger()

KINDS: Final = {
    kind.TYPE: kind
    for kind in (
        AudienceSnapshot,
        BlockLifted,
        BlockSet,
        ContactChanged,
        GroupCreated,
        GroupDissolved,
        HandedOver,
        InvitationClosed,
        InvitationSent,
        MemberJoined,
        MemberLeft,
        SubscriptionChanged,
        TerminalEnrolled,
        TerminalRevoked,
    )
}
SOURCE: Final = "/services/fanout_service"
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


@dataclass(slots=True)
class _Work:
    """What a batch comes to."""

    deliveries: list[tuple[Envelope, Delivery]] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    moved: dict[str, int] = field(default_factory=dict)


class FanOut:
    """Handles batches of fanout_service's events queue.

    Deliveries are not stored: an event is acknowledged after its deliveries were confirmed, a
    repeat delivers once more, and terminals ignore what they know.
    """

    def __init__(
        self,
        audiences: Audiences,
        held: HeldEvents,
        terminals: Terminals,
        publisher: Publisher,
        clock: Clock = utc_now,
    ) -> None:
        self._copies = AudienceCopies(audiences)
        self._held = held
        self._terminals = terminals
        self._publisher = publisher
        self._clock = clock

    async def handle(self, batch: Sequence[Arrived]) -> Sequence[Parked]:
        """Deliver every event of the batch, or keep it until its audience is there."""
        events, parked = read_events(FANOUT.events_queue.name, batch, KINDS)
        await self._process(events)
        fault_point("before_ack")
        return parked

    async def poisoned(self, delivery: Arrived) -> None:
        """Nobody waits for an answer to an event."""

    async def heal(self) -> None:
        """Deliver what could be by now, and ask for the audiences that others wait for."""
        stale = await self._held.older_than(self._clock() - WAITS_TOO_LONG, limit=HEAL_BATCH)
        HELD.set(len(stale))
        if not stale:
            return
        groups = {event.group_id for event in stale}
        await self._copies.refresh(groups)
        await self._release(self._versions(groups))
        missing = {
            event.group_id
            for event in stale
            if (copy := self._copies.get(event.group_id)) is None or copy.version < event.needs
        }
        log.info("asking for audiences", groups=len(missing))
        await self._publisher.publish([self._request(group_id) for group_id in sorted(missing)])

    async def _process(self, events: Sequence[Event]) -> None:
        """Take events, and then whatever has waited for the audiences that they moved on."""
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
            work.moved |= self._versions(groups)
        await self._publish(work.deliveries)
        return work

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
        match event.message:
            case ContactChanged() as changed:
                self._take_change(event, changed, work)
            case AudienceEvent() as about_group:
                await self._take_group_event(event, about_group, work)
            case InvitationSent() | InvitationClosed() as invitation:
                work.deliveries += [(event.envelope, one) for one in of_invitation(invitation)]
            case TerminalEnrolled() as enrolled:
                await self._terminals.enrolled(enrolled.terminal_id, enrolled.user_id)
            case TerminalRevoked() as revoked:
                await self._terminals.revoked(revoked.terminal_id)

    def _take_change(self, event: Event, changed: ContactChanged, work: _Work) -> None:
        if changed.group_id is None or changed.audience_version is None:
            return
        audience = self._copies.get(changed.group_id)
        if audience is None or audience.version < changed.audience_version:
            work.held.append(self._hold(event, changed.group_id, changed.audience_version))
        elif not audience.dissolved:
            work.deliveries.append((event.envelope, of_change(audience, changed)))

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
            work.deliveries += [(event.envelope, one) for one in of_group(audience, about)]

    def _hold(self, event: Event, group_id: str, needs: int) -> Held:
        return Held(event.envelope.id, group_id, needs, event.envelope.encode(), self._clock())

    def _versions(self, group_ids: Iterable[str]) -> dict[str, int]:
        return {
            group_id: copy.version
            for group_id in group_ids
            if (copy := self._copies.get(group_id)) is not None
        }

    async def _release(self, versions: dict[str, int]) -> None:
        """Take what has waited for these versions; it may move audiences on by itself.

        What was taken is forgotten before the next is looked for, or it would be found for ever.
        """
        while waiting := await self._held.ready(versions):
            bodies = [
                Arrived(event.body, "", event.event_id, redelivered=True) for event in waiting
            ]
            events, _ = read_events("held_events", bodies, KINDS)
            work = await self._take_all(events)
            kept = {event.event_id for event in work.held}
            taken = [event.event_id for event in waiting if event.event_id not in kept]
            await self._held.release(taken)
            versions = work.moved if taken else {}

    async def _publish(self, deliveries: Sequence[tuple[Envelope, Delivery]]) -> None:
        muted = {user_id for _, delivery in deliveries for user_id, _ in delivery.muted_terminals}
        terminals = await self._terminals.of(sorted(muted))
        outgoing: list[Outgoing] = []
        for cause, delivery in deliveries:
            keys = _keys(delivery, terminals)
            if keys:
                outgoing += Outgoing.to_many(_envelope(cause, delivery), keys)
        fault_point("before_push")
        await self._publisher.publish(outgoing)
        fault_point("after_push")
        self._count(deliveries, self._clock())

    def _count(self, deliveries: Sequence[tuple[Envelope, Delivery]], now: datetime) -> None:
        for cause, delivery in deliveries:
            RECIPIENTS.observe(len(delivery.user_ids))
            DELIVERED.labels(delivery.message.TYPE).inc(len(delivery.user_ids))
            WITHHELD.labels("block").inc(delivery.withheld)
            TO_BROKER.observe(max(0.0, (now - cause.time).total_seconds()))

    def _request(self, group_id: str) -> Outgoing:
        envelope = Envelope.of(
            AudienceRequested(group_id=group_id),
            id=str(uuid_utils.uuid7()),
            source=SOURCE,
            time=self._clock(),
            subject=group_id,
        )
        return Outgoing.event(envelope)


def _keys(delivery: Delivery, terminals: dict[str, list[str]]) -> list[str]:
    muted = dict(delivery.muted_terminals)
    keys = [user_key(user_id) for user_id in delivery.user_ids if user_id not in muted]
    for user_id, left_out in muted.items():
        others = [one for one in terminals[user_id] if one not in left_out]
        keys += [terminal_key(terminal_id) for terminal_id in others]
    return keys


def _envelope(cause: Envelope, delivery: Delivery) -> Envelope:
    """The envelope that terminals get: the event's id, so that a repeat is known as one."""
    return Envelope(
        id=cause.id,
        source=SOURCE,
        type=delivery.message.TYPE,
        time=cause.time,
        subject=cause.subject,
        correlationid=cause.correlationid,
        traceparent=cause.traceparent,
        sequence=None if delivery.rev is None else f"{delivery.rev:020d}",
        data=delivery.message.payload(),
    )


class Healing:
    """Looks after events that wait too long, for as long as it runs."""

    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Let `run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Heal twice a second until `stop`."""
        while not self._stopping.is_set():
            with contextlib.suppress(*TRANSIENT):
                await self._fan_out.heal()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEAL_SECONDS):
                    await self._stopping.wait()
