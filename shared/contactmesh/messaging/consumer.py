"""Consuming a queue in batches, with one batch in hand at a time (DESIGN §5).

A batch is whatever has arrived while the one before it was handled: alone when it is quiet, so that
nothing waits, and large under load, so that a transaction is shared by many.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import aiormq
import structlog
from aiormq.channel import Channel
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential_jitter

from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE
from contactmesh.messaging.batches import apart
from contactmesh.messaging.connection import (
    BROKER_FAILURES,
    BrokerUnavailable,
    close,
    connect,
    declare,
    underlay,
)
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.parking import ParkingLimit, TooManyParked, park, sender_of
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import MAX_EVENT_BYTES, Queue
from contactmesh.runtime.waiting import happened_within

log = structlog.get_logger()

RECONNECT_SECONDS: Final = 0.1
BATCH: Final = 200
BATCH_BYTES: Final = 8 * 1024 * 1024
"""A batch is one transaction, which has to fit one message to the database."""
PREFETCH: Final = 2 * BATCH
ANSWER_SECONDS: Final = 10.0
"""How long the broker may take for what a consumer asks of it."""
STEADY_SECONDS: Final = 5.0
"""A connection that lasted as long worked, and is replaced at once; another is waited for longer
each time."""


class BatchHandler(Protocol):
    """What a service does with a batch."""

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Handle every delivery, and return those that can never be handled.

        When it returns, the whole batch is acknowledged; all effects must be durable by then. When
        it raises, nothing of the batch may have taken effect, or a repeat must do no harm.
        """
        ...

    async def poisoned(self, delivery: Delivery) -> None:
        """A delivery was parked because `handle` raised an unexpected error for it, even alone."""
        ...


class BatchConsumer:
    """Consumes one queue for as long as `run` runs, over any number of connections.

    `transient` are the errors that mean "not now": the batch is kept and tried again, and nothing
    is parked. Any other error is taken as a fault of one message: the batch is split down to single
    messages, and those that fail alone are parked.

    A body of more than `max_body` bytes is let go of, and its delivery says so.

    `consuming` says whether messages arrive now; `halted` why they never will again.
    """

    def __init__(
        self,
        url: str,
        queue: Queue,
        handler: BatchHandler,
        publisher: Publisher,
        *,
        name: str,
        max_body: int = MAX_EVENT_BYTES,
        transient: tuple[type[Exception], ...] = (),
    ) -> None:
        self._url = url
        self._queue = queue
        self._handler = handler
        self._publisher = publisher
        self._name = name
        self._max_body = max_body
        self._transient: tuple[type[Exception], ...] = (*transient, BrokerUnavailable)
        self._not_poison: tuple[type[Exception], ...] = (*self._transient, TooManyParked)
        self._limit = ParkingLimit()
        self._stopping = asyncio.Event()
        self.consuming = False
        self.halted: str | None = None

    def stop(self) -> None:
        """Finish the batch in hand, then let `run` return; the rest goes back to the queue."""
        self._stopping.set()

    async def run(self) -> None:
        """Consume until `stop`.

        Raises:
            TooManyParked: nearly everything is invalid; the messages stay in the queue.
        """
        reconnecting = AsyncRetrying(
            retry=retry_if_exception_type(BrokerUnavailable),
            wait=wait_exponential_jitter(multiplier=0.1, max=5, jitter=0.1),
            stop=lambda _: self._stopping.is_set(),
            sleep=self._pause,
            retry_error_callback=lambda _: None,
            before_sleep=lambda _: log.warning("broker away", queue=self._queue.name),
        )
        while not self._stopping.is_set():
            try:
                await reconnecting(self._session)
            except TooManyParked as error:
                self.halted = str(error)
                raise
            await self._pause(RECONNECT_SECONDS)

    async def _session(self) -> None:
        connection = await connect(self._url, f"{self._name} consumer")
        loop = asyncio.get_running_loop()
        steady_at = loop.time() + STEADY_SECONDS
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                channel = await connection.channel(publisher_confirms=False)
                # They may have been deleted since the service started.
                await declare(channel, [self._queue])
                raw = await underlay(channel)
                await raw.basic_qos(prefetch_count=PREFETCH)
                arrivals = _Arrivals(raw, self._queue, self._max_body)
                tag = await arrivals.start()
            self.consuming = True
            log.info("consuming", queue=self._queue.name)
            while batch := await arrivals.take(self._stopping):
                await self._settle([delivery for one in batch for delivery in one.deliveries])
                async with asyncio.timeout(ANSWER_SECONDS):
                    await raw.basic_ack(batch[-1].tag, multiple=True)
            if self._stopping.is_set():
                async with asyncio.timeout(ANSWER_SECONDS):
                    await raw.basic_cancel(tag)
        except BROKER_FAILURES as error:
            if not self.consuming or loop.time() < steady_at:
                raise BrokerUnavailable(f"No consumer: {type(error).__name__}.") from error
            log.warning("lost the broker", queue=self._queue.name, because=type(error).__name__)
        finally:
            self.consuming = False
            await close(connection)

    async def _settle(self, batch: Sequence[Delivery]) -> None:
        """Handle a batch to its end, whatever it takes."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(self._transient),
            wait=wait_exponential_jitter(multiplier=0.05, max=5, jitter=0.05),
            sleep=self._pause,
            stop=lambda _: self._stopping.is_set(),
            reraise=True,
            before_sleep=lambda state: log.warning(
                "waiting to handle a batch",
                queue=self._queue.name,
                messages=len(batch),
                because=type(state.outcome.exception()).__name__ if state.outcome else None,
            ),
        )
        try:
            found: _Found = await retrying(self._find_poison, batch)
            parked = [*found.given_back, *found.poison]
            senders = [sender_of(one.delivery) for one in parked]
            self._limit.count(handled=len(batch) - len(parked), parked=senders)
            if parked:
                await retrying(park, self._publisher, self._queue, parked)
            for one in found.poison:
                # Only now: before, it may still be left in the queue and handled after all.
                await retrying(self._handler.poisoned, one.delivery)
        except self._transient as error:
            raise BrokerUnavailable("Stopped while waiting; the batch goes back.") from error

    async def _find_poison(self, batch: Sequence[Delivery]) -> "_Found":
        try:
            return _Found(await self._handler.handle(batch))
        except self._not_poison:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a message provokes, the others pass
            if len(batch) > 1:
                middle = len(batch) // 2
                first = await self._find_poison(batch[:middle])
                second = await self._find_poison(batch[middle:])
                return _Found(
                    [*first.given_back, *second.given_back], [*first.poison, *second.poison]
                )
            log.error(  # noqa: TRY400 - the error's text may hold contact details
                "poisonous message",
                queue=self._queue.name,
                message_id=batch[0].message_id,
                error=type(error).__name__,
                at=_place(error),
            )
            return _Found([], [Parked(batch[0], f"{type(error).__name__} at {_place(error)}")])

    async def _pause(self, seconds: float) -> None:
        await happened_within(seconds, self._stopping)


@dataclass(frozen=True, slots=True)
class _Found:
    """What of a batch is to be parked."""

    given_back: Sequence[Parked]
    poison: Sequence[Parked] = ()


def _place(error: BaseException) -> str:
    """Where an error came from. Its text may hold contact details; a line number does not."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"


@dataclass(frozen=True, slots=True)
class _Arrived:
    """A message with its delivery tag, as one delivery or as several."""

    tag: int
    deliveries: Sequence[Delivery]

    @property
    def size(self) -> int:
        return sum(len(delivery.body) for delivery in self.deliveries)


class _Arrivals:
    """The messages of one consumer on one channel that are not handled yet."""

    def __init__(self, channel: Channel, queue: Queue, max_body: int) -> None:
        self._channel = channel
        self._queue = queue
        self._max_body = max_body
        self._waiting: deque[_Arrived] = deque()
        self._wake = asyncio.Event()
        self._ended = False

    async def start(self) -> str:
        channel = self._channel
        channel.on_consumer_cancel_callbacks.add(self._end)
        channel.closing.add_done_callback(self._end)
        ok = await channel.basic_consume(self._queue.name, self._arrived)
        return str(ok.consumer_tag)

    async def take(self, stopping: asyncio.Event) -> list[_Arrived]:
        """Whatever has arrived, or, when nothing has, the next; empty when stopping.

        Raises:
            ConnectionError: the channel closed or the broker cancelled the consumer.
        """
        stopped = asyncio.create_task(stopping.wait())
        stopped.add_done_callback(lambda _: self._wake.set())
        try:
            while not stopping.is_set():
                if self._ended:
                    raise ConnectionError("the consumer ended")
                if self._waiting:
                    return self._batch()
                self._wake.clear()
                await self._wake.wait()
            return []
        finally:
            stopped.cancel()

    def _batch(self) -> list[_Arrived]:
        """As many messages as make a batch: none is parted, since it is acknowledged as one."""
        batch = [self._waiting.popleft()]
        number, size = len(batch[0].deliveries), batch[0].size
        while self._waiting:
            number += len(self._waiting[0].deliveries)
            size += self._waiting[0].size
            if number > BATCH or size > BATCH_BYTES:
                break
            batch.append(self._waiting.popleft())
        return batch

    async def _arrived(self, message: aiormq.abc.DeliveredMessage) -> None:
        tag = message.delivery_tag
        if tag is None:
            return
        size = len(message.body)
        properties = message.header.properties
        too_large = size if size > self._max_body else None
        delivery = Delivery(
            body=b"" if too_large else bytes(message.body),
            too_large=too_large,
            key=message.routing_key or "",
            message_id=properties.message_id,
        )
        # A terminal must not make many of one command.
        several = self._queue.brings_events and properties.content_type == BATCH_CONTENT_TYPE
        self._waiting.append(_Arrived(tag, apart(delivery) if several else (delivery,)))
        self._wake.set()

    def _end(self, *_: object) -> None:
        self._ended = True
        self._wake.set()
