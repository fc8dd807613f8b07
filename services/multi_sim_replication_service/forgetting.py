"""Removals that are old enough are forgotten.

No expiry of the database's own does it: a database may look through whole cards to find what is
due, and let everything else wait meanwhile.
"""

import asyncio
import contextlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.runtime.commands import Clock, on_fresh_state
from contactmesh.runtime.process import TRANSIENT
from contactmesh.runtime.waiting import happened_within
from contactmesh.storage.unit_of_work import UnitOfWork
from multi_sim_replication_service.domain.forgetting import forget
from multi_sim_replication_service.repository.loading import Loading, writes
from multi_sim_replication_service.repository.reading import Reading
from multi_sim_replication_service.wanted import Wanted

REMOVALS_KEPT: Final = timedelta(days=90)
EVERY_SECONDS: Final = 3600.0
PAGE: Final = 500
"""How many removals are looked at together."""


class Forgetting:
    """Forgets removals that are 90 days old, every hour, for as long as it runs."""

    def __init__(
        self, reading: Reading, loading: Loading, unit_of_work: UnitOfWork, clock: Clock
    ) -> None:
        self._reading = reading
        self._loading = loading
        self._unit_of_work = unit_of_work
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
        """Forget the removals that are old enough by now; each that is kept is due later again."""
        now = self._clock()
        before = now - REMOVALS_KEPT
        while due := await self._reading.removals(before, limit=PAGE):
            for user_id, uids in due.items():
                await on_fresh_state(partial(self._unit, user_id, uids, before, now))

    async def _unit(
        self, user_id: str, uids: Iterable[str], before: datetime, now: datetime
    ) -> None:
        state = await self._loading.begin([user_id])
        contacts = sorted(uids)
        want = Wanted()
        for account in state.accounts_of(user_id):
            for kind in SpaceKind:
                want.entries |= {(account.space_id(kind), uid) for uid in contacts}
        await self._loading.load(state, want)
        forget(state, user_id, contacts, before, now)
        await self._unit_of_work.commit(writes=writes(state), handled=(), messages=(), now=now)
