"""When a terminal syncs by itself, and how it tells that it cannot (row Y1)."""

from collections.abc import AsyncIterator
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from contactmesh.terminal import Phonebook, Schedule
from contactmesh.terminal.rules.scheduling import SPREAD_SECONDS, due_after

NOON = datetime(2026, 6, 1, 12).astimezone()


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice") as opened:
        yield opened


@pytest.mark.claim("Y1")
@pytest.mark.parametrize(
    ("schedule", "random", "wanted"),
    [
        (Schedule(every=900), 0.5, timedelta(minutes=15)),
        (Schedule(every=900), 0.0, timedelta(seconds=810)),
        (Schedule(every=900), 1.0, timedelta(seconds=990)),
        (Schedule(at=time(13)), 0.0, timedelta(hours=1)),
        (Schedule(at=time(3)), 0.0, timedelta(hours=15)),
        (Schedule(at=time(12)), 0.0, timedelta(days=1)),
        (Schedule(at=time(13)), 1.0, timedelta(hours=1, seconds=SPREAD_SECONDS)),
        (Schedule(), 0.5, None),
    ],
)
def test_when_a_sync_is_due(schedule: Schedule, random: float, wanted: timedelta | None) -> None:
    due = due_after(schedule, NOON, random)
    assert (None if due is None else due - NOON) == wanted


@pytest.mark.parametrize(
    "schedule", [Schedule(every=900), Schedule(at=time(3, 30)), Schedule()], ids=repr
)
async def test_the_schedule_is_kept(phonebook: Phonebook, schedule: Schedule) -> None:
    await phonebook.save_sync_schedule(Schedule(every=60))
    await phonebook.save_sync_schedule(schedule)
    assert await phonebook.sync_schedule() == schedule
    assert (await phonebook.sync_state()).schedule == schedule


async def test_a_sync_that_fails_for_a_day_tells_so_until_one_ends_well(
    phonebook: Phonebook,
) -> None:
    for hours, long in ((0, False), (23, False), (24, True)):
        now = NOON + timedelta(hours=hours)
        await phonebook.sync_failed(now, f"No answer {hours}.")
        state = await phonebook.sync_state()
        assert (state.failing_since, state.problem) == (NOON, f"No answer {hours}.")
        assert state.failing_long(now) is long
    await phonebook.sync_ended(NOON + timedelta(hours=25))
    state = await phonebook.sync_state()
    assert (state.last_sync_at, state.failing_since, state.problem) == (
        NOON + timedelta(hours=25),
        None,
        None,
    )
    assert not state.failing_long(NOON + timedelta(days=9))
