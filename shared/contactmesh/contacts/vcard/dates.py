"""Dates as vCard writes them (RFC 6350, section 4.3; RFC 2426, section 3.1.5)."""

from __future__ import annotations

import re
from typing import Final

from pydantic import JsonValue

_MIDNIGHT: Final = r"(?:T00:?00(?::?00)?)?\Z"
_WHOLE_DATE: Final = re.compile(rf"(\d{{4}})-?(\d\d)-?(\d\d){_MIDNIGHT}")
_DATE_PART: Final = re.compile(
    rf"(?:(\d{{4}})-(\d\d)|(\d{{4}})|--(\d\d)(?:-?(\d\d))?|---(\d\d)){_MIDNIGHT}"
)
_UTC: Final = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d)(?::?(\d\d))?(\.\d+)?(?:Z|[+-]00:?00)\Z"
)

_EXTENDED: Final = "%04d-%02d-%02d"
_BASIC: Final = "%04d%02d%02d"


def utc_date_time(value: str) -> str | None:
    """Return a UTC time stamp in the form of RFC 9553, section 1.4.5, or None."""
    match = _UTC.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction = match.groups()
    return f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{fraction or ''}Z"


def anniversary_date(value: str, omitted_year: str | None = None) -> dict[str, JsonValue] | None:
    """Return a date as JSContact's PartialDate or Timestamp, or None when it is neither.

    A time without a zone is no point in time; only midnight, which phones write for "no time",
    is dropped.

    Args:
        value: the value of a BDAY, ANNIVERSARY or DEATHDATE.
        omitted_year: the year that stands for "no year" (Apple's X-APPLE-OMIT-YEAR).
    """
    match = _WHOLE_DATE.match(value)
    if match is None:
        return _partial_date(value, omitted_year)
    year, month, day = match.groups()
    parts = int(month), int(day)
    if not (1 <= parts[0] <= 12 and 1 <= parts[1] <= 31):
        return None
    if year == omitted_year:
        return {"month": parts[0], "day": parts[1]}
    return {"year": int(year), "month": parts[0], "day": parts[1]}


def _partial_date(value: str, omitted_year: str | None) -> dict[str, JsonValue] | None:
    match = _DATE_PART.match(value)
    if match is None:
        stamp = utc_date_time(value)
        return None if stamp is None else {"@type": "Timestamp", "utc": stamp}
    groups = match.groups()
    year = groups[0] or groups[2]
    month = groups[1] or groups[3]
    day = groups[4] or groups[5]
    date: dict[str, JsonValue] = {}
    if year is not None and year != omitted_year:
        date["year"] = int(year)
    if month is not None:
        if not 1 <= int(month) <= 12:
            return None
        date["month"] = int(month)
    if day is not None:
        if not 1 <= int(day) <= 31:
            return None
        date["day"] = int(day)
    return date


def date_text(date: dict[str, JsonValue], *, extended: bool) -> tuple[str, str] | None:
    """Return the parameters and value for a JSContact date, or None when vCard cannot say it.

    Args:
        date: a PartialDate or a Timestamp.
        extended: write the hyphens that version 3.0 asks for; a missing year becomes 1604 with
            Apple's X-APPLE-OMIT-YEAR, which phones understand.
    """
    if "utc" in date:
        stamp = str(date["utc"])
        return "", stamp if extended else re.sub(r"[-:]", "", stamp)
    year, month, day = date.get("year"), date.get("month"), date.get("day")
    if isinstance(year, int) and year > 9999:
        return None
    if year is not None and month is not None and day is not None:
        return "", (_EXTENDED if extended else _BASIC) % (year, month, day)
    match (year, month, day):
        case (int(), int(), None):
            text = f"{year:04}-{month:02}"
        case (int(), None, None):
            text = f"{year:04}"
        case (None, int(), int()):
            if extended:
                return ";X-APPLE-OMIT-YEAR=1604", f"1604-{month:02}-{day:02}"
            text = f"--{month:02}{day:02}"
        case (None, int(), None):
            text = f"--{month:02}"
        case (None, None, int()):
            text = f"---{day:02}"
        case _:
            return None
    return "", text
