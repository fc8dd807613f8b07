"""Telling how the sync of the address book stands, beside what a command is about."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from contactmesh.cli.errors import CommandError
from contactmesh.cli.output import print_note
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.times import told, told_clock, told_interval
from contactmesh.runtime.waiting import happened_within
from contactmesh.terminal import LargeRemoval, Phonebook, Schedule, SyncState, Terminal

LOOK_SECONDS: Final = 300.0
"""How often a command that goes on looks whether the sync still works."""


def failing(state: SyncState, now: datetime) -> str | None:
    """What to say of a sync that has failed for a day or longer."""
    if state.failing_since is None or not state.failing_long(now):
        return None
    problem = (state.problem or "").rstrip(".")
    return suggested(sync_texts.FAILING, time=told(state.failing_since), problem=f"{problem}.")


async def tell_failing(phonebook: Phonebook) -> bool:
    """Say it if the sync has failed for a day; whether it was said."""
    text = failing(await phonebook.sync_state(), datetime.now(UTC))
    if text is not None:
        print_note(text)
    return text is not None


@asynccontextmanager
async def telling_failing(phonebook: Phonebook) -> AsyncIterator[None]:
    """Say it once if the sync has failed for a day, now or while the block runs."""
    ended = asyncio.Event()
    looking = asyncio.create_task(_until_failing(phonebook, ended))
    try:
        yield
    finally:
        ended.set()
        await looking


async def _until_failing(phonebook: Phonebook, ended: asyncio.Event) -> None:
    while not await tell_failing(phonebook) and not await happened_within(LOOK_SECONDS, ended):
        pass


async def tell_waiting(phonebook: Phonebook) -> None:
    """Say it if the server does not know yet all that changed here."""
    if (await phonebook.sync_state()).waiting:
        print_note(suggested(sync_texts.WAITING_HERE))


def told_schedule(schedule: Schedule) -> str:
    """When a terminal syncs by itself."""
    if schedule.every is not None:
        return sync_texts.SYNCS_EVERY.format(interval=told_interval(schedule.every))
    if schedule.at is not None:
        return sync_texts.SYNCS_AT.format(time=told_clock(schedule.at))
    return sync_texts.SYNCS_BY_HAND


def told_state(state: SyncState) -> str:
    """When the address book was synced last, and when it is by itself."""
    last = sync_texts.NEVER if state.last_sync_at is None else told(state.last_sync_at)
    schedule = state.schedule
    if schedule.every is not None:
        return sync_texts.AND_EVERY.format(last=last, interval=told_interval(schedule.every))
    if schedule.at is not None:
        return sync_texts.AND_AT.format(last=last, time=told_clock(schedule.at))
    return last


async def sync_before(terminal: Terminal) -> None:
    """Sync, so that what changed here counts as before what is done next.

    Raises:
        CommandError: it would delete much, which nobody has agreed to.
    """
    try:
        await terminal.sync()
    except LargeRemoval as large:
        text = suggested(sync_texts.DELETED_MUCH, removed=large.removals, contacts=large.contacts)
        raise CommandError(text) from large
