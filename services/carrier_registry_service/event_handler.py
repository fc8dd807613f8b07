"""What the registry learns from events: who shares a group, who blocks whom, what was revoked."""

from collections.abc import Sequence
from typing import Final

from carrier_registry_service.repository.dial_orders import DialOrders
from carrier_registry_service.repository.memberships import Memberships, StandingBlocks
from contactmesh.audience.following import Following, Ready
from contactmesh.audience.storage import Audiences, HeldEvents
from contactmesh.contracts.carrier.events import RegistrationRecycled
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
    SubscriptionChanged,
)
from contactmesh.contracts.identity import TerminalRevoked
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import REGISTRY
from contactmesh.runtime.commands import Clock, utc_now
from contactmesh.runtime.events import read_events
from contactmesh.storage.revoked import RevokedTerminals

KINDS: Final = {
    kind.TYPE: kind
    for kind in (
        AudienceSnapshot,
        BlockLifted,
        BlockSet,
        GroupCreated,
        GroupDissolved,
        MemberJoined,
        MemberLeft,
        RegistrationRecycled,
        StandingBlockChanged,
        SubscriptionChanged,
        TerminalRevoked,
    )
}


class RegistryEvents:
    """Handles batches of the registry's events queue. Every effect may be repeated."""

    def __init__(
        self,
        memberships: Memberships,
        standing_blocks: StandingBlocks,
        dial_orders: DialOrders,
        revoked: RevokedTerminals,
        audiences: Audiences,
        held: HeldEvents,
        publisher: Publisher,
        clock: Clock = utc_now,
    ) -> None:
        self._memberships = memberships
        self._standing_blocks = standing_blocks
        self._dial_orders = dial_orders
        self._revoked = revoked
        self._clock = clock
        self._following = Following(REGISTRY, KINDS, self, audiences, held, publisher, clock)

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every event of the batch, or keep it until its audience is there."""
        events, parked = read_events(REGISTRY.events_queue.name, batch, KINDS)
        await self._following.process(events)
        return parked

    async def poisoned(self, delivery: Delivery) -> None:
        """Nobody waits for an answer to an event."""

    async def heal(self) -> None:
        """Take in what could be by now, and ask for the audiences that others wait for."""
        await self._following.heal()

    async def follow(self, ready: Sequence[Ready]) -> None:
        """Take in events whose audience is there; those about groups, and about blocks, at once."""
        messages = [one.event.message for one in ready]
        await self._memberships.project(
            [
                (one.audience, one.event.message)
                for one in ready
                if one.audience is not None and isinstance(one.event.message, AudienceEvent)
            ]
        )
        await self._standing_blocks.take(
            [one for one in messages if isinstance(one, StandingBlockChanged)]
        )
        for message in messages:
            match message:
                case TerminalRevoked():
                    await self._revoked.add(message.terminal_id, self._clock())
                case RegistrationRecycled():
                    await self._dial_orders.let_go(message)
