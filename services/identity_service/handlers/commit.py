"""Committing a decision with the event that tells of it."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final

import uuid_utils

from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.runtime.commands import Clock
from contactmesh.storage.transaction import Addition, Write
from contactmesh.storage.unit_of_work import UnitOfWork

SOURCE: Final = "/services/identity_service"
HAND_OVER_SECONDS: Final = 0.5


class Committer:
    """Commits writes and the event that they mean together, and has the event published."""

    def __init__(self, unit_of_work: UnitOfWork, relay: OutboxRelay, clock: Clock) -> None:
        self._unit_of_work = unit_of_work
        self._relay = relay
        self._clock = clock

    async def commit(
        self,
        writes: Sequence[Write | Addition],
        event: Message | None = None,
        *,
        subject: str | None = None,
    ) -> None:
        """Commit.

        Raises:
            StaleState: something changed since it was loaded; load and decide again.
            DatabaseUnavailable: it may or may not be committed.
        """
        now = self._clock()
        messages = []
        if event is not None:
            envelope = Envelope.of(
                event, id=str(uuid_utils.uuid7()), source=SOURCE, time=now, subject=subject
            )
            messages.append(Outgoing.event(envelope))
        entries = await self._unit_of_work.commit(
            writes=writes, handled=(), messages=messages, now=now
        )
        # While the broker is away the relay takes no more at some point. Who asked over HTTP does
        # not have to wait for that: the relay's sweep finds the entry when its lease is over.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HAND_OVER_SECONDS):
                await self._relay.committed(entries)
