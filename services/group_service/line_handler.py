"""Numbers that changed at a carrier: from line events to the owners' cards."""

from collections.abc import Sequence
from functools import partial

import structlog

from contactmesh.contracts.contact import ContactChanged
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import GROUP
from contactmesh.runtime.commands import Clock, on_fresh_state
from contactmesh.runtime.events import Event, events_of
from contactmesh.storage.unit_of_work import UnitOfWork
from group_service.domain.lines import follow
from group_service.repository.loading import Loading
from group_service.wanted import wanted_for_lines

log = structlog.get_logger()


class LineChanges:
    """Takes line events over into cards, as if their owners had published them."""

    def __init__(self, loading: Loading, unit_of_work: UnitOfWork, relay: OutboxRelay) -> None:
        self._loading = loading
        self._unit_of_work = unit_of_work
        self._relay = relay

    async def take(self, events: Sequence[tuple[Event, ContactChanged]], clock: Clock) -> None:
        """Take a batch of line events in, in one unit of work.

        Raises:
            DatabaseUnavailable: do it again; what was done will change nothing then.
        """
        await on_fresh_state(partial(self._unit, events, clock))

    async def _unit(self, events: Sequence[tuple[Event, ContactChanged]], clock: Clock) -> None:
        now = clock()
        want = wanted_for_lines(changed.owner_id for _, changed in events)
        loaded = await self._loading.load(want, now)
        messages = [
            message
            for event, changed in events
            for message in events_of(
                GROUP.service, follow(loaded.state, changed, now), event.envelope, now
            )
        ]
        writes = loaded.writes()
        if not writes:
            return
        entries = await self._unit_of_work.commit(
            writes=writes, handled=(), messages=messages, now=now
        )
        log.info("lines followed", events=len(events), cards=len(messages))
        await self._relay.committed(entries)
