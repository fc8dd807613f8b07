"""Bringing the broker into line with the database, as often as it takes."""

import asyncio
import contextlib
from typing import Final

import structlog

from contactmesh.contracts.identifiers import integrator_of
from contactmesh.messaging.connection import BrokerUnavailable
from contactmesh.runtime.commands import Clock
from contactmesh.runtime.waiting import happened_within
from contactmesh.storage.errors import DatabaseUnavailable
from identity_service.broker import TerminalBroker
from identity_service.domain.upkeep import Upkeep
from identity_service.repository import Repository

log = structlog.get_logger()

SWEEP_SECONDS: Final = 5.0
SWEEP_BATCH: Final = 100


class BrokerUpkeep:
    """Does what was noted for the broker: at once when asked, else in a sweep.

    Any number of copies may sweep at the same time: doing it twice does no harm.
    """

    def __init__(self, repository: Repository, broker: TerminalBroker, clock: Clock) -> None:
        self._repository = repository
        self._broker = broker
        self._clock = clock
        self._stopping = asyncio.Event()

    async def attempt(self, upkeep: Upkeep) -> None:
        """Do it now if the broker is there; otherwise a sweep will."""
        with contextlib.suppress(BrokerUnavailable, DatabaseUnavailable):
            await self._do(upkeep)

    def stop(self) -> None:
        """Finish the sweep in hand, then let `run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Sweep until `stop`."""
        while not self._stopping.is_set():
            try:
                await self._sweep()
            except (BrokerUnavailable, DatabaseUnavailable) as error:
                log.warning("upkeep waits", because=str(error))
            await happened_within(SWEEP_SECONDS, self._stopping)

    async def _sweep(self) -> None:
        for upkeep in await self._repository.upkeep_due(self._clock(), SWEEP_BATCH):
            await self._do(upkeep)

    async def _do(self, upkeep: Upkeep) -> None:
        integrator = integrator_of(upkeep.terminal_id)
        if integrator is None:
            await self._do_for_terminal(upkeep)
        elif await self._repository.integrator(integrator) is None:
            await self._broker.remove_integrator(upkeep.terminal_id)
            log.info("integrator removed from the broker", name=integrator)
        remaining = upkeep.after(self._clock())
        if remaining is None:
            await self._repository.upkeep_done(upkeep)
        else:
            await self._repository.note_upkeep(remaining)

    async def _do_for_terminal(self, upkeep: Upkeep) -> None:
        terminal = await self._repository.terminal(upkeep.terminal_id)
        if terminal is None or not terminal.active:
            await self._broker.remove(upkeep.terminal_id)
            log.info("terminal removed from the broker", terminal_id=upkeep.terminal_id)
        elif terminal.must_rotate:
            await self._broker.close_connections(upkeep.terminal_id)
