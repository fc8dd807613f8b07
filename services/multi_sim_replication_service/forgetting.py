"""Removals that are old enough are forgotten.

No expiry of the database's own does it: a database may look through whole cards to find what is
due, and let everything else wait meanwhile.
"""

import asyncio
import contextlib
from datetime import timedelta
from typing import Final

from contactmesh.runtime.commands import Clock
from contactmesh.runtime.process import TRANSIENT
from contactmesh.runtime.waiting import happened_within
from multi_sim_replication_service.repository.reading import Reading

REMOVALS_KEPT: Final = timedelta(days=90)
EVERY_SECONDS: Final = 3600.0


class Forgetting:
    """Forgets removals that are 90 days old, every hour, for as long as it runs."""

    def __init__(self, reading: Reading, clock: Clock) -> None:
        self._reading = reading
        self._clock = clock
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Let `run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Forget until `stop`."""
        while not self._stopping.is_set():
            with contextlib.suppress(*TRANSIENT):
                await self.forget()
            await happened_within(EVERY_SECONDS, self._stopping)

    async def forget(self) -> None:
        """Delete the removals that are old enough by now."""
        await self._reading.forget_removals(self._clock() - REMOVALS_KEPT)
