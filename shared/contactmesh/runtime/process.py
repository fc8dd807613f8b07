"""The life of a service process: start, be ready, stop cleanly (notes on shutting down).

Not ready → consumers finish the batch in hand → the rest stays unacknowledged → the outbox is
flushed → connections close. Whatever takes longer than the grace time is left to the next process:
nothing that was acknowledged depends on it.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from aiohttp import web
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential_jitter

from contactmesh.messaging.connection import BrokerUnavailable, declare_service
from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.parking import TooManyParked
from contactmesh.messaging.topology import ServiceTopology
from contactmesh.runtime.http import serving
from contactmesh.runtime.settings import ServiceSettings
from contactmesh.storage.database import Database
from contactmesh.storage.errors import DatabaseUnavailable

log = structlog.get_logger()

PING_SECONDS: Final = 1.0
"""How long the database may take for a sign of life before the service counts as not ready."""
PING_FRESH_SECONDS: Final = 1.0
TRANSIENT = (BrokerUnavailable, DatabaseUnavailable)


class Runnable(Protocol):
    """Work that goes on until it is told to stop, like an outbox relay."""

    async def run(self) -> None:
        """Work until `stop`."""
        ...

    def stop(self) -> None:
        """Finish what is in hand, then let `run` return."""
        ...


class DatabaseCheck:
    """Whether a database answers, asked once a second at the most and by one ping at a time.

    However often a probe comes: a ping to a database that hangs takes a thread until it gives up.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pinging: asyncio.Task[bool] | None = None
        self._asked_at = 0.0

    async def answers(self) -> bool:
        """Whether there was a sign of life now or within the last second."""
        now = asyncio.get_running_loop().time()
        if self._pinging is None or (
            self._pinging.done() and now - self._asked_at > PING_FRESH_SECONDS
        ):
            self._asked_at = now
            self._pinging = asyncio.create_task(self._ping())
        pinging = self._pinging
        await asyncio.wait([pinging], timeout=PING_SECONDS)
        return pinging.done() and pinging.result()

    async def _ping(self) -> bool:
        try:
            await self._database.ping()
        except DatabaseUnavailable:
            return False
        return True


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """The parts that a service's `__main__` has put together."""

    topology: ServiceTopology
    settings: ServiceSettings
    database: Database
    prepare: Callable[[], Awaitable[None]]
    """Makes indexes and the like; may be run again."""
    consumers: Sequence[BatchConsumer]
    background: Sequence[Runnable] = ()
    routes: Iterable[web.RouteDef] = ()

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until `stopping` is set.

        Raises:
            ExceptionGroup: a part failed in a way that is not a matter of waiting.
        """
        prepared = asyncio.Event()
        settings = self.settings
        database = DatabaseCheck(self.database)

        async def readiness() -> str | None:
            if stopping.is_set():
                return "stopping"
            if not prepared.is_set():
                return "starting"
            for consumer in self.consumers:
                if not consumer.consuming:
                    return consumer.halted or "no broker"
            return None if await database.answers() else "no database"

        async with serving(settings.http_host, settings.http_port, readiness, self.routes):
            if not await self._prepare(stopping):
                return
            prepared.set()
            async with asyncio.TaskGroup() as group:
                consuming = [group.create_task(_consume(part)) for part in self.consumers]
                working = [group.create_task(part.run()) for part in self.background]
                log.info("started")
                await stopping.wait()
                log.info("stopping")
                for consumer in self.consumers:
                    consumer.stop()
                late = await _within(settings.grace_seconds, consuming)
                for part in self.background:
                    part.stop()
                late += await _within(settings.grace_seconds / 2, working)
                log.info("stopped", unfinished=late)

    async def _prepare(self, stopping: asyncio.Event) -> bool:
        """Get database and broker ready, waiting for them if need be."""

        async def attempt() -> bool:
            await self.database.ping()
            await self.prepare()
            await declare_service(settings.amqp_url.get_secret_value(), self.topology)
            return True

        settings = self.settings
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TRANSIENT),
            wait=wait_exponential_jitter(multiplier=0.1, max=5, jitter=0.1),
            stop=lambda _: stopping.is_set(),
            retry_error_callback=lambda _: False,
            before_sleep=lambda state: log.warning(
                "waiting to start",
                because=str(state.outcome.exception()) if state.outcome else None,
            ),
        )
        return await retrying(attempt)


async def _consume(consumer: BatchConsumer) -> None:
    try:
        await consumer.run()
    except TooManyParked as error:
        # The process stays, not ready, with its messages in the queue: a restart would only park
        # some more of them.
        log.critical("consumer stopped", because=str(error))


async def _within(seconds: float, tasks: Sequence["asyncio.Task[None]"]) -> int:
    if not tasks:
        return 0
    _, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    return len(late)


def run_until_signalled(main: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run a service until SIGTERM or SIGINT."""

    async def run() -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        await main(stopping)

    asyncio.run(run())
