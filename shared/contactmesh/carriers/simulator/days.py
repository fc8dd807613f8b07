"""Days in the life of carriers, from a seed: the same seed and start give the same days."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from contactmesh.carriers.simulator.happenings import Fact, Happening, Kind
from contactmesh.carriers.simulator.registry import PREFIXES, Books, Held
from contactmesh.contracts.carrier.feed import StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import DataVolume, NetworkState

DAILY: Final = {
    Kind.STATE: 6.0,
    Kind.USAGE: 1.0,
    Kind.REPLACED: 0.05,
    Kind.PORTED: 0.05,
    Kind.SIM_CHANGED: 0.04,
    Kind.ADDED: 0.04,
    Kind.MOVED: 0.03,
    Kind.WITHDRAWN: 0.03,
    Kind.RECYCLED: 0.03,
}
"""How often each happens to a person in a day, on average. Much more often than in life, where one
number in a hundred is ported in a year: a simulated day should show everything."""

_MOST_NUMBERS: Final = 4
_OLDEST: Final = timedelta(days=1000)
_WEIGHTED_STATES: Final = {
    NetworkState.ONLINE_DATA: 50,
    NetworkState.ONLINE_SMS_ONLY: 5,
    NetworkState.IN_CALL: 10,
    NetworkState.BUSY: 5,
    NetworkState.POWERED_OFF: 12,
    NetworkState.NO_SERVICE: 8,
    NetworkState.NO_PAGING_RESPONSE: 5,
    NetworkState.SUSPENDED: 2,
    NetworkState.UNKNOWN: 3,
}


@dataclass(frozen=True, slots=True)
class Days:
    """What to play.

    Args:
        people: how many people there are.
        seed: what decides everything that is left to chance.
        start: when the days begin; it also tells the identities of one run from another's.
        hours: how long they last.
    """

    people: int
    seed: int
    start: datetime
    hours: float = 24.0

    @property
    def end(self) -> datetime:
        """When they are over."""
        return self.start + timedelta(hours=self.hours)

    @property
    def chances(self) -> int:
        """How many times something may happen; sometimes nothing can."""
        return self.people + round(sum(DAILY.values()) * self.people * self.hours / 24)

    def identity(self, number: int) -> str:
        """The id of a person, counted from 1."""
        return f"sim-{self.seed}-{self.start:%Y%m%d%H}-{number:05d}"


def play(days: Days) -> Iterator[Happening]:
    """What happens, in the order of time. At first everybody gets a number, some days before."""
    random = Random(f"{days.seed}/{days.start.isoformat()}")  # noqa: S311 - a game, no secret
    books = Books(random, base=int(days.start.timestamp()) * 1_000_000)
    people = [days.identity(number) for number in range(1, days.people + 1)]
    begun = sorted(days.start - random.random() * _OLDEST for _ in people)
    for at, identity_id in zip(begun, people, strict=True):
        carrier_id = random.choice(list(PREFIXES))
        yield Happening(
            _whole(at), Kind.BEGUN, (books.begins(_whole(at), identity_id, carrier_id),)
        )
    times = sorted(random.random() for _ in range(days.chances - days.people))
    for part in times:
        at = _whole(days.start + part * (days.end - days.start))
        kind = random.choices(list(DAILY), list(DAILY.values()))[0]
        happening = _happening(at, kind, books, people, random)
        if happening is not None:
            yield happening


def _happening(
    at: datetime, kind: Kind, books: Books, people: list[str], random: Random
) -> Happening | None:
    if kind is Kind.RECYCLED:
        return _recycling(at, books, people, random)
    if kind is Kind.ADDED:
        identity_id = random.choice(people)
        if books.numbers_of[identity_id] >= _MOST_NUMBERS:
            return None
        fact = books.begins(at, identity_id, random.choice(list(PREFIXES)))
        return Happening(at, kind, (fact,))
    if not books.held:
        return None
    held = random.choice(books.held)
    match kind:
        case Kind.STATE:
            state = random.choices(list(_WEIGHTED_STATES), list(_WEIGHTED_STATES.values()))[0]
            return Happening(at, kind, (_said(held, StateSeen, state=state, at=at),))
        case Kind.USAGE:
            remaining = random.choice(list(DataVolume))
            return Happening(at, kind, (_said(held, UsageSeen, remaining=remaining, at=at),))
        case Kind.WITHDRAWN:
            return books.withdrawn(at, held)
        case _:
            return books.replaced(at, held, kind)


def _recycling(at: datetime, books: Books, people: list[str], random: Random) -> Happening | None:
    if not books.retired:
        return None
    old = random.choice(books.retired)
    others = [person for person in people if person != old.identity_id]
    return books.recycled(at, old, random.choice(others)) if others else None


def _said(held: Held, report: type[StateSeen] | type[UsageSeen], **fields: object) -> Fact:
    entry = report.model_validate({"registration_seq": held.ref.registration_seq, **fields})
    return Fact(held.ref.carrier_id, entry)


def _whole(at: datetime) -> datetime:
    """To the millisecond, which is what the registry keeps."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
