"""Times in microseconds, the corrected times of terminals, and the times of fields (Y1, Y4)."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from sync_service.domain.documents import Stamp, Times

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros(time: datetime) -> int:
    """A time in microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def span(duration: timedelta) -> int:
    """A duration in microseconds."""
    return duration // _MICROSECOND


def moment(at: int) -> datetime:
    """The time that these microseconds since 1970 are."""
    return _EPOCH + at * _MICROSECOND


def corrected(updated_at: datetime, sent_at: datetime, *, received: int, after: int) -> int:
    """An update time of a terminal by the server's clock, however wrong the terminal's is.

    Args:
        updated_at: by the terminal's clock.
        sent_at: when it sent the command, by the same clock.
        received: when the command was received; the update was not later.
        after: the update was not before that.
    """
    offset = received - micros(sent_at)
    return min(received, max(after, 0, micros(updated_at) + offset))


def stamp_at(times: Times, path: str) -> Stamp | None:
    """When a field was changed last, itself, a part of it or what it is a part of."""
    return max(
        (stamp for at, stamp in times.items() if _related(at, path)),
        default=None,
    )


def following(at: int, seen: Times, path: str) -> int:
    """The time of an edit whose author had seen these: later than they are, by whatever clock."""
    before = stamp_at(seen, path)
    return at if before is None else max(at, before.at + 1)


def stamped(
    times: Times, paths: Iterable[str], seen: Times, *, at: int, terminal_id: str
) -> dict[str, Stamp]:
    """The times of fields after an edit whose author had seen those of `seen`."""
    return {**times, **{path: Stamp(following(at, seen, path), terminal_id) for path in paths}}


def recent(times: Mapping[str, Stamp], *, since: int) -> dict[str, Stamp]:
    """The times that still matter: a version from before `since` is no base of an edit any more."""
    return {path: stamp for path, stamp in times.items() if stamp.at >= since}


def _related(one: str, other: str) -> bool:
    if one in ("", other) or other == "":
        return True
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
