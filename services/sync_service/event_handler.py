"""What sync_service does about events: it learns which terminals were revoked."""

from collections.abc import Sequence
from typing import Final

from contactmesh.contracts.identity import TerminalRevoked
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.topology import SYNC
from contactmesh.runtime.commands import Clock
from contactmesh.runtime.events import read_events
from contactmesh.storage.revoked import RevokedTerminals

KINDS: Final = {TerminalRevoked.TYPE: TerminalRevoked}


class SyncEvents:
    """Handles batches of the service's events queue. Every effect may be repeated."""

    def __init__(self, revoked: RevokedTerminals, clock: Clock) -> None:
        self._revoked = revoked
        self._clock = clock

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every event of the batch."""
        events, parked = read_events(SYNC.events_queue.name, batch, KINDS)
        for event in events:
            match event.message:
                case TerminalRevoked() as revoked:
                    await self._revoked.add(revoked.terminal_id, self._clock())
        fault_point("before_ack")
        return parked

    async def poisoned(self, delivery: Delivery) -> None:
        """Nobody waits for an answer to an event."""
