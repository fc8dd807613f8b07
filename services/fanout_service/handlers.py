"""From events to deliveries: each event goes to those whom its audience lets know of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from contactmesh.audience.following import Following, Ready
from contactmesh.audience.storage import Audiences, HeldEvents
from contactmesh.contracts.contact import ContactChanged, Scope
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.events import (
    AudienceEvent,
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
from contactmesh.runtime.events import read_events
from fanout_service.domain.delivery import (
    Delivery,
    of_book,
    of_change,
    of_group,
    of_invitation,
    of_space,
)
from fanout_service.metrics import DELIVERED, HELD, RECIPIENTS, TO_BROKER, WITHHELD
from fanout_service.repository import Terminals

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
SOURCE: Final = f"/services/{FANOUT.service}"


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
        self._following = Following(FANOUT, KINDS, self, audiences, held, publisher, clock)
        self._terminals = terminals
        self._publisher = publisher
        self._clock = clock

    async def handle(self, batch: Sequence[Arrived]) -> Sequence[Parked]:
        """Deliver every event of the batch, or keep it until its audience is there."""
        events, parked = read_events(FANOUT.events_queue.name, batch, KINDS)
        await self._following.process(events)
        fault_point("before_ack")
        return parked

    async def poisoned(self, delivery: Arrived) -> None:
        """Nobody waits for an answer to an event."""

    async def heal(self) -> None:
        """Deliver what could be by now, and ask for the audiences that others wait for."""
        HELD.set(await self._following.heal())

    async def follow(self, ready: Sequence[Ready]) -> None:
        """Deliver events whose audience is there."""
        deliveries: list[tuple[Envelope, Delivery]] = []
        for one in ready:
            envelope = one.event.envelope
            match one.event.message:
                case ContactChanged(scope=Scope.SPACE) as waits:
                    deliveries += [(envelope, it) for it in of_space(waits)]
                case ContactChanged(scope=Scope.BOOK) as entry:
                    deliveries.append((envelope, of_book(entry)))
                case ContactChanged() as changed:
                    if one.audience is not None and not one.audience.dissolved:
                        deliveries.append((envelope, of_change(one.audience, changed)))
                case AudienceEvent() as about_group if one.audience is not None:
                    deliveries += [(envelope, it) for it in of_group(one.audience, about_group)]
                case InvitationSent() | InvitationClosed() as invitation:
                    deliveries += [(envelope, it) for it in of_invitation(invitation)]
                case TerminalEnrolled() as enrolled:
                    await self._terminals.enrolled(enrolled.terminal_id, enrolled.user_id)
                case TerminalRevoked() as revoked:
                    await self._terminals.revoked(revoked.terminal_id)
        await self._publish(deliveries)

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
            RECIPIENTS.observe(delivery.recipients)
            DELIVERED.labels(delivery.message.TYPE).inc(delivery.recipients)
            WITHHELD.labels("block").inc(delivery.withheld)
            TO_BROKER.observe(max(0.0, (now - cause.time).total_seconds()))


def _keys(delivery: Delivery, terminals: dict[str, list[str]]) -> list[str]:
    muted = dict(delivery.muted_terminals)
    keys = [user_key(user_id) for user_id in delivery.user_ids if user_id not in muted]
    for user_id, left_out in muted.items():
        others = [one for one in terminals[user_id] if one not in left_out]
        keys += [terminal_key(terminal_id) for terminal_id in others]
    return keys + [terminal_key(terminal_id) for terminal_id in delivery.terminal_ids]


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
