"""What sync_service does about events: it learns who was revoked, and shows what a book holds."""

from collections.abc import Sequence
from typing import Final

from contactmesh.contracts.contact import MAIN_BOOK
from contactmesh.contracts.identity import TerminalRevoked
from contactmesh.contracts.sync.events import BookPage, BookWanted, HeldEntry
from contactmesh.deciding.decision import Told
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import SYNC
from contactmesh.runtime.commands import Clock
from contactmesh.runtime.events import Event, events_of, read_events
from contactmesh.storage.revoked import RevokedTerminals
from sync_service.repository.reading import Reading

KINDS: Final = {kind.TYPE: kind for kind in (BookWanted, TerminalRevoked)}


class SyncEvents:
    """Handles batches of the service's events queue. Every effect may be repeated."""

    def __init__(
        self, reading: Reading, revoked: RevokedTerminals, publisher: Publisher, clock: Clock
    ) -> None:
        self._reading = reading
        self._revoked = revoked
        self._publisher = publisher
        self._clock = clock

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every event of the batch."""
        events, parked = read_events(SYNC.events_queue.name, batch, KINDS)
        for event in events:
            match event.message:
                case TerminalRevoked() as revoked:
                    await self._revoked.add(revoked.terminal_id, self._clock())
                case BookWanted() as wanted:
                    await self._show(event, wanted)
        fault_point("before_ack")
        return parked

    async def poisoned(self, delivery: Delivery) -> None:
        """Nobody waits for an answer to an event."""

    async def _show(self, cause: Event, wanted: BookWanted) -> None:
        """Show a page; if that breaks off, the event comes again."""
        book = await self._reading.book(wanted.owner_id, MAIN_BOOK)
        found, more = await self._reading.entries(
            book, wanted.after, limit=wanted.limit, cards=True
        )
        page = BookPage(
            owner_id=wanted.owner_id,
            carrier_id=wanted.carrier_id,
            after=wanted.after,
            entries=tuple(
                HeldEntry(uid=one.uid, rev=one.rev, card=one.card)
                for one in found
                if one.card is not None
            ),
            next=found[-1].rev if more else None,
        )
        told = [Told(page, wanted.owner_id)]
        await self._publisher.publish(events_of(SYNC.service, told, cause.envelope, self._clock()))
