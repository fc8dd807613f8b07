"""Publishing what a unit of work left in the outbox.

The process that committed publishes at once, from memory. What a dead process left behind is
found by a sweep: each entry is leased to whoever works on it, and only an expired lease is taken
over. An entry may be published twice that way; its id stays the same.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential_jitter

from contactmesh.messaging.connection import BrokerUnavailable
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.metrics import OUTBOX_OLDEST
from contactmesh.messaging.publisher import Publisher

log = structlog.get_logger()

SWEEP_SECONDS: Final = 5.0
SWEEP_BATCH: Final = 100
"""Messages of up to a megabyte each."""


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A plain event that a transaction has decided on; `id` is the place in the order.

    An outbox keeps no recipients, no headers and nothing transient.
    """

    id: str
    message: Outgoing


class Outbox(Protocol):
    """Where outbox entries are kept."""

    async def take_over(self, limit: int) -> Sequence[OutboxEntry]:
        """Lease entries whose lease has expired, oldest first."""
        ...

    async def oldest_age_seconds(self) -> float:
        """How long the oldest entry has waited; 0 when there is none."""
        ...

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove entries that are published, whoever holds their lease by now."""
        ...


class OutboxRelay:
    """Publishes outbox entries, and deletes them after the broker has taken them."""

    def __init__(
        self, outbox: Outbox, publisher: Publisher, *, transient: tuple[type[Exception], ...] = ()
    ) -> None:
        self._outbox = outbox
        self._publisher = publisher
        self._transient: tuple[type[Exception], ...] = (*transient, BrokerUnavailable)
        self._committed: asyncio.Queue[Sequence[OutboxEntry]] = asyncio.Queue(maxsize=64)
        self._in_hand: set[str] = set()
        self._stopping = asyncio.Event()

    async def committed(self, entries: Sequence[OutboxEntry]) -> None:
        """Hand over entries just committed. Waits when publishing is far behind."""
        if entries:
            ids = [entry.id for entry in entries]
            self._in_hand.update(ids)
            try:
                await self._committed.put(entries)
            except asyncio.CancelledError:
                self._in_hand.difference_update(ids)  # the sweep's, then
                raise

    def stop(self) -> None:
        """Publish what was handed over, then let `run` return.

        When the broker does not take it even now, it stays in the outbox for another process.
        """
        self._stopping.set()

    async def run(self) -> None:
        """Publish until `stop`."""
        async with asyncio.TaskGroup() as group:
            sweeping = group.create_task(self._sweep())
            publishing = group.create_task(self._publish_committed())
            await self._stopping.wait()
            sweeping.cancel()
            await self._committed.join()
            publishing.cancel()

    async def _publish_committed(self) -> None:
        while True:
            handed = [await self._committed.get()]
            while not self._committed.empty():
                handed.append(self._committed.get_nowait())
            entries = [entry for several in handed for entry in several]
            await self._publish(entries)
            self._in_hand.difference_update(entry.id for entry in entries)
            for _ in handed:
                self._committed.task_done()

    async def _sweep(self) -> None:
        while True:
            with contextlib.suppress(*self._transient):
                OUTBOX_OLDEST.set(await self._outbox.oldest_age_seconds())
            with contextlib.suppress(*self._transient):
                await self._take_over()
            await asyncio.sleep(SWEEP_SECONDS)

    async def _take_over(self) -> None:
        """Try once, since the next sweep is the next try: waiting here would stop the gauge."""
        while entries := await self._outbox.take_over(SWEEP_BATCH):
            # While the broker is away, the leases of what was handed over here expire too.
            left = [entry for entry in entries if entry.id not in self._in_hand]
            if left:
                log.info("taking over outbox entries", entries=len(left))
                await self._published(left)
                await self._deleted(left)

    async def _publish(self, entries: Sequence[OutboxEntry]) -> None:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(self._transient),
            wait=wait_exponential_jitter(multiplier=0.05, max=5, jitter=0.05),
            stop=lambda state: self._stopping.is_set() and state.attempt_number > 3,
            retry_error_callback=lambda _: False,
            before_sleep=lambda _: log.warning("outbox waits for the broker", entries=len(entries)),
        )
        fault_point("before_publish")
        published: bool = await retrying(self._published, entries)
        if published:
            fault_point("after_publish")
            await retrying(self._deleted, entries)

    async def _published(self, entries: Sequence[OutboxEntry]) -> bool:
        await self._publisher.publish([entry.message for entry in entries])
        return True

    async def _deleted(self, entries: Sequence[OutboxEntry]) -> bool:
        await self._outbox.delete([entry.id for entry in entries])
        return True
