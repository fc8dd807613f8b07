"""When a terminal does by itself what it does again and again (rows G4, Y1)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

JITTER: Final = 0.1
"""The share by which an interval varies, so that terminals are not in step."""
SPREAD_SECONDS: Final = 60.0
"""How long after a time of the day a sync begins at the latest, so that not all begin at once."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a terminal syncs by itself, beside at every connection; never without either.

    Attributes:
        every: after so many seconds.
        at: at this time of the day, by the terminal's clock and zone.
    """

    every: int | None = None
    at: time | None = None


def jittered(seconds: float, random: float) -> float:
    """An interval moved by up to 10 % either way; `random` is from 0 to 1."""
    return seconds * (1 + JITTER * (2 * random - 1))


def due_after(
    schedule: Schedule, now: datetime, random: float, local: tzinfo | None = None
) -> datetime | None:
    """When the next sync is due, none if the terminal does not sync by itself.

    A time of the day that a day does not have, because clocks are put forward over it, is due as
    much after the change as it is after what they are put forward from; of one that a day has
    twice, the first is due.

    Args:
        schedule: what the user chose.
        now: the time.
        random: from 0 to 1, to keep terminals out of step.
        local: the terminal's zone, by default that of the machine.
    """
    if schedule.every is not None:
        return now + timedelta(seconds=jittered(schedule.every, random))
    if schedule.at is None:
        return None
    # What the day before does not have is due on this one.
    day = now.astimezone(local).date() - timedelta(days=1)
    due = _at(day, schedule.at, local)
    while due <= now:
        day += timedelta(days=1)
        due = _at(day, schedule.at, local)
    return due + timedelta(seconds=SPREAD_SECONDS * random)


def _at(day: date, at: time, local: tzinfo | None) -> datetime:
    """A time of a day, in UTC: comparing it with others heeds no change of clocks."""
    wall = datetime.combine(day, at, local)
    # Of a time that is left out, the earlier reading lies before the change, which is too soon.
    readings = [wall.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
    there = readings[0].astimezone(local).replace(tzinfo=None) == wall.replace(tzinfo=None)
    return readings[0] if there else max(readings)
