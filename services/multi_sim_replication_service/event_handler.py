"""What multi_sim_replication_service does about events: its own, and those of others."""

from collections.abc import Sequence
from typing import Final

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.contact import MAIN_BOOK, ContactChanged, Scope
from contactmesh.contracts.identity import TerminalRevoked
from contactmesh.contracts.multi_sim.events import CatchUp, SimRemoved, SpaceChanged
from contactmesh.contracts.sync.events import BookPage
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.topology import MULTI_SIM
from contactmesh.runtime.commands import Clock
from contactmesh.runtime.events import Event, read_events
from contactmesh.storage.revoked import RevokedTerminals
from multi_sim_replication_service.replication import Replication
from multi_sim_replication_service.repository.reading import Reading

KINDS: Final = {
    kind.TYPE: kind
    for kind in (
        BookPage,
        CatchUp,
        ContactChanged,
        RegistrationRecycled,
        SimRemoved,
        SpaceChanged,
        TerminalRevoked,
    )
}


class SimEvents:
    """Handles batches of the service's events queue. Every effect may be repeated."""

    def __init__(
        self,
        reading: Reading,
        replication: Replication,
        revoked: RevokedTerminals,
        clock: Clock,
    ) -> None:
        self._reading = reading
        self._replication = replication
        self._revoked = revoked
        self._clock = clock

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every event of the batch."""
        events, parked = read_events(MULTI_SIM.events_queue.name, batch, KINDS)
        # Most books are followed by no account: one look tells it for all of a batch.
        owners = {one.message.owner_id for one in events if isinstance(one.message, ContactChanged)}
        following = await self._replication.following_books(owners)
        for event in events:
            await self._take(event, following)
        fault_point("before_ack")
        return parked

    async def poisoned(self, delivery: Delivery) -> None:
        """Nobody waits for an answer to an event."""

    async def _take(self, event: Event, following: set[str]) -> None:
        match event.message:
            case SpaceChanged() as changed:
                await self._replication.changed(event, changed)
            case CatchUp() as wanted:
                await self._replication.catch_up(event, wanted)
            case ContactChanged(scope=Scope.BOOK, book=book) as entry if book == MAIN_BOOK:
                if entry.owner_id in following:
                    await self._replication.book_changed(event, entry)
            case BookPage() as page:
                await self._replication.book_shown(event, page)
            case RegistrationRecycled() as recycled:
                await self._replication.recycled(event, recycled)
            case SimRemoved() as removed:
                await self._reading.forget_view(removed.view_id)
            case TerminalRevoked() as revoked:
                await self._revoked.add(revoked.terminal_id, self._clock())
