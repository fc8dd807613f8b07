"""What group_service does about events: of others, and of its own that leave work behind."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import uuid_utils

from contactmesh.contracts.contact import ContactChanged, Scope
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.events import (
    AudienceBlock,
    AudienceMember,
    AudienceRequested,
    AudienceSnapshot,
    GroupDissolved,
)
from contactmesh.contracts.identity import TerminalRevoked
from contactmesh.messaging.message import Delivery, Outgoing, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import GROUP
from contactmesh.runtime.commands import Clock, on_fresh_state, utc_now
from contactmesh.runtime.events import Event, read_events
from contactmesh.storage.errors import StaleState
from contactmesh.storage.revoked import RevokedTerminals
from group_service.card_handler import CardChanges
from group_service.repository.cleaning import Cleaning
from group_service.repository.reading import Reading

KINDS: Final = {
    kind.TYPE: kind for kind in (AudienceRequested, ContactChanged, GroupDissolved, TerminalRevoked)
}


class GroupEvents:
    """Handles batches of group_service's events queue. Every effect may be repeated."""

    def __init__(
        self,
        reading: Reading,
        cleaning: Cleaning,
        revoked: RevokedTerminals,
        cards: CardChanges,
        publisher: Publisher,
        clock: Clock = utc_now,
    ) -> None:
        self._reading = reading
        self._cleaning = cleaning
        self._revoked = revoked
        self._cards = cards
        self._publisher = publisher
        self._clock = clock

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every event of the batch."""
        events, parked = read_events(GROUP.events_queue.name, batch, KINDS)
        wanted: dict[str, Event] = {}
        changes: list[tuple[Event, ContactChanged]] = []
        for event in events:
            match event.message:
                case TerminalRevoked() as revoked:
                    await self._revoked.add(revoked.terminal_id, self._clock())
                case GroupDissolved() as dissolved:
                    await self._cleaning.purge_group(dissolved.group_id)
                case AudienceRequested() as requested:
                    wanted[requested.group_id] = event
                case ContactChanged(scope=Scope.LINE) as changed:
                    changes.append((event, changed))
                case ContactChanged(scope=Scope.BOOK, own_card=True) as changed:
                    changes.append((event, changed))
        if changes:
            await self._cards.take(changes, self._clock)
        for group_id, event in wanted.items():
            snapshot = await on_fresh_state(partial(self._snapshot, group_id, event))
            if snapshot is not None:
                await self._publisher.publish([snapshot])
        return parked

    async def poisoned(self, delivery: Delivery) -> None:
        """Nobody waits for an answer to an event."""

    async def _snapshot(self, group_id: str, cause: Event) -> Outgoing | None:
        """The group's audience, exactly as of the version that it says.

        Raises:
            StaleState: the audience changed while it was read.
        """
        group = await self._reading.group(group_id)
        if group is None:
            return None
        members = await self._reading.all_members(group_id)
        blocks = await self._reading.all_blocks(group_id)
        after = await self._reading.group(group_id)
        if after is None or after.audience_version != group.audience_version:
            raise StaleState("the audience changed while it was read")
        snapshot = AudienceSnapshot(
            group_id=group_id,
            audience_version=group.audience_version,
            members=()
            if group.dissolved
            else tuple(
                AudienceMember(
                    user_id=member.user_id,
                    since=member.joined_version,
                    muted_terminals=member.muted_terminals,
                )
                for member in members
            ),
            blocks=tuple(
                AudienceBlock(
                    setter_id=block.setter_id,
                    blocked_id=block.blocked_id,
                    lifted_version=block.lifted_version,
                )
                for block in blocks
            ),
            dissolved=group.dissolved,
        )
        return Outgoing.event(
            Envelope.of(
                snapshot,
                id=str(uuid_utils.uuid7()),
                source="/services/group_service",
                time=self._clock(),
                subject=group_id,
                cause=cause.envelope,
            )
        )
