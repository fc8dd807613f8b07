"""Times in microseconds, the corrected times of terminals, and the times of fields (Y1, Y4)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from sync_service.domain.documents import Stamp, Times

MOST_TIMES: Final = 1_000
"""How many times of fields an entry has; of more, those of a property are one."""
NOBODY: Final = ""
"""The terminal of a time that stands for those of several terminals."""
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


class Changed:
    """When fields were changed, made once to be asked for many of them."""

    def __init__(self, times: Times) -> None:
        self._times = times
        self._within: dict[str, Stamp] = {}
        for path, stamp in times.items():
            for one in _way_to(path):
                self._within[one] = max(stamp, self._within.get(one, stamp))

    def at(self, path: str) -> Stamp | None:
        """When a field was changed last, itself, a part of it or what it is a part of."""
        found = [self._times[one] for one in _way_to(path) if one in self._times]
        if path in self._within:
            found.append(self._within[path])
        return max(found, default=None)

    def following(self, at: int, path: str) -> int:
        """The time of an edit whose author had seen these: later than they are, by any clock."""
        before = self.at(path)
        return at if before is None else max(at, before.at + 1)


def stamped(
    times: Times, paths: Iterable[str], seen: Times, *, at: int, terminal_id: str
) -> dict[str, Stamp]:
    """The times of fields after an edit whose author had seen those of `seen`."""
    before = Changed(seen)
    return {**times, **{path: Stamp(before.following(at, path), terminal_id) for path in paths}}


def recent(times: Mapping[str, Stamp], *, since: int) -> dict[str, Stamp]:
    """The times that still matter: a version from before `since` is no base of an edit any more."""
    return _bounded({path: stamp for path, stamp in times.items() if stamp.at >= since})


def _bounded(times: dict[str, Stamp]) -> dict[str, Stamp]:
    """Times that are not too many: those of whole properties, or of the card, stand for more."""
    if len(times) <= MOST_TIMES:
        return times
    of = Counter(map(_property_of, times))
    left, whole = len(times), set[str]()
    for name, number in of.most_common():
        if left <= MOST_TIMES:
            break
        whole.add(name)
        left -= number - 1
    if left > MOST_TIMES:
        return _joined(times, lambda _: "")
    return _joined(times, lambda path: name if (name := _property_of(path)) in whole else path)


def _joined(times: Times, under: Callable[[str], str]) -> dict[str, Stamp]:
    found: dict[str, Stamp] = {}
    for path, stamp in times.items():
        before = found.get(under(path), stamp)
        terminal_id = stamp.terminal_id if stamp.terminal_id == before.terminal_id else NOBODY
        found[under(path)] = Stamp(max(stamp.at, before.at), terminal_id)
    return found


def _property_of(path: str) -> str:
    return path.partition("/")[0]


def _way_to(path: str) -> Iterator[str]:
    """The card, each part of it that leads to a field, and the field."""
    if path:
        yield ""
    end = path.find("/")
    while end >= 0:
        if end:
            yield path[:end]
        end = path.find("/", end + 1)
    yield path
