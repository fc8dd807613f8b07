"""Times as people write them: a moment here, a time of the day, an interval."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final
from unicodedata import decimal, normalize

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.terminal import sync_texts

_SHORTEST: Final = 60
_LONGEST: Final = 30 * 86_400
_CLOCKS_DIFFER: Final = timedelta(days=1)
"""What the server tells as past may have to come yet by the clock here, which may be wrong."""


def read_moment(text: str, now: datetime) -> datetime:
    """A moment in the past, by the clock here if no zone is said.

    Raises:
        WrongUsage: it is none.
    """
    try:
        moment = datetime.fromisoformat(_plain(text)).astimezone(UTC)
        shown = told(moment)
    except (ValueError, OverflowError) as error:
        raise WrongUsage(sync_texts.BAD_MOMENT.format(text=text)) from error
    if moment > now + _CLOCKS_DIFFER:
        raise WrongUsage(sync_texts.NOT_YET.format(time=shown))
    return moment


def read_clock(text: str) -> time:
    """A time of the day, by the clock here.

    Raises:
        WrongUsage: it is none.
    """
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", _plain(text))
    if found is None:
        raise WrongUsage(sync_texts.BAD_CLOCK.format(text=text))
    return time(int(found[1]), int(found[2]))


def read_interval(text: str) -> int:
    """An interval in seconds.

    Raises:
        WrongUsage: it is none, or shorter or longer than a terminal may wait.
    """
    found = re.fullmatch(r"(\d{1,8}) ?([smhd])", _plain(text).casefold())
    if found is None:
        raise WrongUsage(sync_texts.BAD_INTERVAL.format(text=text))
    seconds = int(found[1]) * sync_texts.UNITS[found[2]]
    if seconds < _SHORTEST:
        raise WrongUsage(sync_texts.TOO_OFTEN.format(text=text, least=told_interval(_SHORTEST)))
    if seconds > _LONGEST:
        raise WrongUsage(sync_texts.TOO_SELDOM.format(text=text, most=told_interval(_LONGEST)))
    return seconds


def told_interval(seconds: int) -> str:
    """An interval as it can be read again."""
    unit, size = next(
        (unit, size) for unit, size in sync_texts.UNITS.items() if seconds % size == 0
    )
    return f"{seconds // size}{unit}"


def told_clock(at: time) -> str:
    """A time of the day as it can be read again."""
    return at.strftime("%H:%M")


def told(moment: datetime) -> str:
    """A moment as the clock here shows it, to the minute and as it can be read again."""
    return moment.astimezone().isoformat(" ", "minutes")


def told_exactly(moment: datetime) -> str:
    """A moment as the clock here shows it, to the microsecond, as it can be read again."""
    return moment.astimezone().isoformat(" ", "microseconds")


def told_to_second(moment: datetime) -> str:
    """A moment as the clock here shows it, to the next full second, as it can be read again.

    What was done then is done by that second: restoring the book to it takes that in.
    """
    full = moment.astimezone() + timedelta(microseconds=-moment.microsecond % 1_000_000)
    return full.isoformat(" ", "seconds")


def _plain(text: str) -> str:
    plain = normalize("NFKC", text).strip()
    return "".join(str(decimal(sign)) if sign.isdecimal() else sign for sign in plain)
