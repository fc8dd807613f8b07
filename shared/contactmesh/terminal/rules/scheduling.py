"""When a terminal does by itself what it does again and again (rows G4, Y1)."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
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


def due_after(schedule: Schedule, now: datetime, random: float) -> datetime | None:
    """When the next sync is due, none if the terminal does not sync by itself.

    Args:
        schedule: what the user chose.
        now: the time in the terminal's zone.
        random: from 0 to 1, to keep terminals out of step.
    """
    if schedule.every is not None:
        return now + timedelta(seconds=jittered(schedule.every, random))
    if schedule.at is None:
        return None
    # Without the offset, which another day may not have.
    due = datetime.combine(now.date(), schedule.at).astimezone()
    if due <= now:
        due = datetime.combine(now.date() + timedelta(days=1), schedule.at).astimezone()
    return due + timedelta(seconds=SPREAD_SECONDS * random)
