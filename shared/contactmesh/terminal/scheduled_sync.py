"""Syncing by itself: at every connection, and when the schedule says so (row Y1)."""

import asyncio
import secrets
from datetime import UTC, datetime
from typing import Final

import structlog

from contactmesh.runtime.waiting import happened_within
from contactmesh.terminal.book_sync import BookSync
from contactmesh.terminal.errors import LargeRemoval, NoReply
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import REFUSED
from contactmesh.terminal.rules.scheduling import Schedule, due_after

LOOK_SECONDS: Final = 300.0
"""How often it is looked whether a sync is due: timers stand still while a machine sleeps."""

_log = structlog.get_logger(__name__)
_random = secrets.SystemRandom()


class ScheduledSync:
    """Syncs when it is due, as long as the user has set a schedule.

    Args:
        phonebook: holds the schedule.
        book_sync: syncs.
    """

    def __init__(self, phonebook: Phonebook, book_sync: BookSync) -> None:
        self._phonebook = phonebook
        self._book_sync = book_sync
        self._wake = asyncio.Event()
        self._connected = False

    def wake(self) -> None:
        """Sync soon: there is a connection."""
        self._connected = True
        self._wake.set()

    async def choose(self, schedule: Schedule) -> None:
        """Sync by another schedule from now on."""
        await self._phonebook.save_sync_schedule(schedule)
        self._wake.set()

    async def run(self) -> None:
        """Sync whenever it is due, until cancelled."""
        while True:
            schedule = await self._phonebook.sync_schedule()
            due = due_after(schedule, datetime.now(UTC).astimezone(), _random.random())
            if await self._reached(due):
                await self._sync()

    async def _reached(self, due: datetime | None) -> bool:
        """Wait until then, or a connection; not reached if the schedule was changed."""
        while not self._wake.is_set():
            left = LOOK_SECONDS if due is None else (due - datetime.now(UTC)).total_seconds()
            if left <= 0:
                return True
            await happened_within(min(left, LOOK_SECONDS), self._wake)
        self._wake.clear()
        connected, self._connected = self._connected, False
        return connected and due is not None

    async def _sync(self) -> None:
        try:
            await self._book_sync.sync()
        except NoReply as error:
            _log.info("sync_unanswered", command=error.command)
            self.wake()
        except LargeRemoval as error:
            _log.warning("sync_waits_for_confirmation", removals=error.removals, of=error.contacts)
        except REFUSED as error:
            # The next time is soon enough: the same would be refused again.
            _log.warning("sync_refused", reason=type(error).__name__)
