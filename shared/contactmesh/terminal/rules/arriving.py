"""What came into the phonebook from the user's address book since the last sync."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Came:
    """An entry that became here what the server told of it.

    Attributes:
        before: its name until then, none if it was not here.
        after: its name since then, none if it is not here any more.
    """

    uid: str
    before: str | None
    after: str | None


class Arrival(StrEnum):
    """What became of an entry."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Arrived:
    """An entry that other terminals added, changed or deleted, by the name that it has or had."""

    uid: str
    display_name: str
    change: Arrival


class Arrivals:
    """Counts each entry once, however often and in whichever way it came: pushed or asked for."""

    def __init__(self) -> None:
        self._came: dict[str, Came] = {}

    def add(self, came: Iterable[Came]) -> None:
        """Further entries came, or came again."""
        for one in came:
            first = self._came.get(one.uid, one)
            self._came[one.uid] = Came(one.uid, first.before, one.after)

    def told(self) -> tuple[Arrived, ...]:
        """What became of each, in the order in which they came first."""
        arrived = (_arrived(one) for one in self._came.values())
        return tuple(one for one in arrived if one is not None)

    def clear(self) -> None:
        """They were told."""
        self._came.clear()


def _arrived(came: Came) -> Arrived | None:
    """What became of an entry, none if it came and went."""
    if came.after is not None:
        change = Arrival.ADDED if came.before is None else Arrival.CHANGED
        return Arrived(came.uid, came.after, change)
    return None if came.before is None else Arrived(came.uid, came.before, Arrival.DELETED)
