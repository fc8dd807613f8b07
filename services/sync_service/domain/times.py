"""Times in microseconds, and the corrected times of terminals (row Y1)."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros(time: datetime) -> int:
    """A time in microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def moment(at: int) -> datetime:
    """The time that these microseconds since 1970 are."""
    return _EPOCH + at * _MICROSECOND
