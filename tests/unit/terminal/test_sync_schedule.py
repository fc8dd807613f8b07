"""When a terminal syncs by itself, and how it tells that it cannot (row Y1)."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

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


ZONES = (
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Havana",
    "America/New_York",
    "America/Santiago",
    "America/Scoresbysund",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Shanghai",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
)
DAY = timedelta(days=1)


@cache
def _changes(zone: str) -> list[datetime]:
    """The days on which the clocks of a zone were changed, or a day without where they were not."""
    days = [datetime(2008, 1, 1, 12, tzinfo=UTC) + DAY * number for number in range(365 * 16)]
    by = [(day, abs(_offset(after, zone) - _offset(day, zone))) for day, after in pairwise(days)]
    # One zone has left out a whole day, which then has no times: see below.
    found = [day for day, change in by if timedelta() < change < DAY]
    return found or days[:1]


def _offset(at: datetime, zone: str) -> timedelta:
    offset = at.astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return offset


near_changes = st.sampled_from(ZONES).flatmap(
    lambda zone: st.tuples(st.just(ZoneInfo(zone)), st.sampled_from(_changes(zone)))
)
times_of_day = st.builds(time, st.sampled_from([0, 1, 2, 3, 12, 22, 23]), st.integers(0, 59))


@pytest.mark.claim("Y1")
@given(near_changes, times_of_day, st.integers(0, 6 * 24 * 60))
@settings(deadline=None)
def test_a_time_of_the_day_comes_once_a_day_however_the_clocks_are_changed(
    near: tuple[ZoneInfo, datetime], at: time, minutes: int
) -> None:
    zone, changed = near
    schedule = Schedule(at=at)
    found: list[datetime] = [changed - 3 * DAY]
    while found[-1] < changed + 4 * DAY:
        due = due_after(schedule, found[-1], 0.0, zone)
        assert due is not None
        assert due > found[-1], "otherwise it would sync again and again"
        found.append(due)
    first = found[1].astimezone(zone)
    for number, due in enumerate(found[1:]):
        here = due.astimezone(zone)
        wall = datetime.combine(first.date() + DAY * number, at)
        if here.replace(tzinfo=None) == wall:
            assert here.fold == 0, "of a time that comes twice, the first"
        else:
            there = wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
            assert there.replace(tzinfo=None) != wall, "the day has no such time"
            assert wall < here.replace(tzinfo=None) <= wall + DAY, "soon after it would have been"
    now = changed - 3 * DAY + timedelta(minutes=minutes)
    assert due_after(schedule, now, 0.0, zone) == min(one for one in found[1:] if one > now)


@pytest.mark.claim("Y1")
@pytest.mark.parametrize(
    ("zone", "now", "at", "wanted"),
    [
        ("America/Havana", "2026-03-07T23:30-05:00", time(0), "2026-03-08T01:00-04:00"),
        ("Asia/Beirut", "2026-03-28T23:30+02:00", time(0), "2026-03-29T01:00+03:00"),
        ("Africa/Cairo", "2026-04-23T23:30+02:00", time(0, 30), "2026-04-24T01:30+03:00"),
        ("Europe/Berlin", "2026-03-28T12:00+01:00", time(2, 30), "2026-03-29T03:30+02:00"),
        ("Europe/Berlin", "2026-10-24T12:00+02:00", time(2, 30), "2026-10-25T02:30+02:00"),
        ("Europe/Berlin", "2026-10-25T02:31+02:00", time(2, 30), "2026-10-26T02:30+01:00"),
        ("Pacific/Apia", "2011-12-29T12:31-10:00", time(12, 30), "2011-12-31T12:30+14:00"),
        ("Pacific/Apia", "2011-12-31T12:31+14:00", time(12, 30), "2012-01-01T12:30+14:00"),
    ],
)
def test_a_time_that_a_day_does_not_have_is_due_after_the_change(
    zone: str, now: str, at: time, wanted: str
) -> None:
    due = due_after(Schedule(at=at), datetime.fromisoformat(now), 0.0, ZoneInfo(zone))
    assert due == datetime.fromisoformat(wanted)


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
