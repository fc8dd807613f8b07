"""What changed outside the groups: from events to the cards of their owners."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from contactmesh.contacts import CardTooLarge
from contactmesh.contracts.contact import ContactChanged, Scope
from contactmesh.deciding.decision import Told
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import GROUP
from contactmesh.runtime.commands import Clock, on_fresh_state
from contactmesh.runtime.events import Event, events_of
from contactmesh.storage.unit_of_work import UnitOfWork
from group_service.domain.cards import follow_book
from group_service.domain.documents import Limits
from group_service.domain.lines import follow
from group_service.domain.state import State
from group_service.repository.loading import Loading
from group_service.wanted import wanted_for_cards

log = structlog.get_logger()


class CardChanges:
    """Takes events of a carrier and of address books over, as if the owners had published."""

    def __init__(
        self, loading: Loading, unit_of_work: UnitOfWork, relay: OutboxRelay, limits: Limits
    ) -> None:
        self._loading = loading
        self._unit_of_work = unit_of_work
        self._relay = relay
        self._limits = limits

    async def take(self, events: Sequence[tuple[Event, ContactChanged]], clock: Clock) -> None:
        """Take a batch of events in, in one unit of work.

        Raises:
            DatabaseUnavailable: do it again; what was done will change nothing then.
        """
        await on_fresh_state(partial(self._unit, events, clock))

    async def _unit(self, events: Sequence[tuple[Event, ContactChanged]], clock: Clock) -> None:
        now = clock()
        loaded = await self._loading.load(wanted_for_cards(one for _, one in events), now)
        messages = [
            message
            for event, changed in events
            for message in events_of(
                GROUP.service, self._told(loaded.state, event, changed, now), event.envelope, now
            )
        ]
        writes = loaded.writes()
        if not writes:
            return
        entries = await self._unit_of_work.commit(
            writes=writes, handled=(), messages=messages, now=now
        )
        log.info("cards followed", events=len(events), cards=len(messages))
        await self._relay.committed(entries)

    def _told(
        self, state: State, event: Event, changed: ContactChanged, now: datetime
    ) -> tuple[Told, ...]:
        if changed.scope is Scope.LINE:
            return follow(state, changed, now)
        try:
            return follow_book(state, changed, event.envelope.time, self._limits, now)
        except CardTooLarge as error:
            log.warning("own card not published", why=str(error), event_id=event.envelope.id)
            return ()
