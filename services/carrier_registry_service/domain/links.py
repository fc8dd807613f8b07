"""Which registration of an identity came in which one's place: said, seen, or inferred."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final, NamedTuple

from carrier_registry_service.domain.registration import Beginning, Ref, Registration
from contactmesh.contracts.carrier.records import EARLIEST, EndReason

LEFT_FOR_ANOTHER: Final = frozenset({EndReason.REPLACED, EndReason.PORTED_OUT, EndReason.CANCELLED})


class Left(NamedTuple):
    """A registration whose subscriber left."""

    ref: Ref
    valid_from: datetime
    left_at: datetime


@dataclass(frozen=True, slots=True)
class Links:
    """What came in the place of what.

    `above` has what each registration took the place of, in `inferred` those of which nobody said
    so. `renewed` has, in the order of time, the newer registration of each one whose number its
    carrier has begun anew for the same person: that ends the older one.
    """

    above: Mapping[Ref, Ref]
    renewed: Mapping[Ref, Ref]
    inferred: frozenset[Ref]


def links_among(
    begun: Mapping[Ref, Registration], declared: Mapping[Ref, Ref], within: timedelta
) -> Links:
    """The links between the registrations of one identity.

    What a carrier says comes first, then what follows from its numbers, then what time suggests.

    Args:
        begun: the registrations that began.
        declared: what each says that it replaces, as far as that counts; without a cycle.
        within: as in `Rules.inferred_within`.
    """
    above, renewed = _renewals(begun, declared)
    named = {beginning_of(one).replaces for one in begun.values()}
    came = [
        (beginning_of(one).valid_from, ref)
        for ref, one in begun.items()
        if beginning_of(one).replaces is None and ref not in above
    ]
    left = [
        Left(ref, beginning_of(one).valid_from, ending.valid_to)
        for ref, one in begun.items()
        if ref not in named and ref not in renewed
        for ending in one.endings
        if ending.reason in LEFT_FOR_ANOTHER
    ]
    inferred: set[Ref] = set()
    tops = dict(above)
    for before, after in lone_pairs(left, came, within):
        if _top(before, tops) != after:
            above[after] = tops[after] = before
            inferred.add(after)
    return Links(above, renewed, frozenset(inferred))


def beginning_of(registration: Registration) -> Beginning:
    """How a registration began, for those that did."""
    assert registration.began is not None  # noqa: S101 - only asked of those that began
    return registration.began


def lone_pairs(
    left: Iterable[Left], came: Iterable[tuple[datetime, Ref]], within: timedelta
) -> list[tuple[Ref, Ref]]:
    """The pairs of one that left and one that came near enough, where neither has another choice.

    What came began later than what left; between leaving and coming lies `within` at the most,
    whichever was first. Each that left may go with a range of those that came, in the order of
    time; how many ranges lie over a place is their sum up to there.
    """
    arrivals = sorted(came)
    # Times as lengths: to these any allowed `within` can be added.
    times = [valid_from - EARLIEST for valid_from, _ in arrivals]
    steps = [0] * (len(times) + 1)
    lone: list[tuple[Ref, int]] = []
    for one in left:
        left_at = one.left_at - EARLIEST
        first = max(
            bisect_left(times, left_at - within), bisect_right(times, one.valid_from - EARLIEST)
        )
        beyond = bisect_right(times, left_at + within)
        if first < beyond:
            steps[first] += 1
            steps[beyond] -= 1
        if beyond - first == 1:
            lone.append((one.ref, first))
    over = list(accumulate(steps))
    return sorted((ref, arrivals[place][1]) for ref, place in lone if over[place] == 1)


def _renewals(
    begun: Mapping[Ref, Registration], declared: Mapping[Ref, Ref]
) -> tuple[dict[Ref, Ref], dict[Ref, Ref]]:
    """Declared links and those to the older registration of the same number, and `renewed`.

    An older one that is said to have come in the newer one's place stays there.
    """
    above, named = dict(declared), set(declared.values())
    renewed: dict[Ref, Ref] = {}
    latest: dict[tuple[str, str], Ref] = {}
    for newer in sorted(begun, key=lambda ref: (beginning_of(begun[ref]).valid_from, ref)):
        began = beginning_of(begun[newer])
        number = (newer.carrier_id, began.msisdn)
        older = latest.get(number)
        latest[number] = newer
        if older is None or _given_on_by(begun[older], began.valid_from):
            continue
        if above.get(newer) != older:
            if _leads(older, newer, above):
                continue
            if newer not in above and older not in named:
                above[newer] = older
        renewed[older] = newer
    return above, renewed


def _given_on_by(registration: Registration, moment: datetime) -> bool:
    return registration.given_on is not None and registration.given_on <= moment


def _leads(start: Ref, end: Ref, above: Mapping[Ref, Ref]) -> bool:
    """Whether a registration came, over whatever others, in another one's place."""
    current: Ref | None = start
    while current is not None and current != end:
        current = above.get(current)
    return current is not None


def _top(ref: Ref, above: dict[Ref, Ref]) -> Ref:
    """The first of a chain; what was walked is shortened for the next time."""
    while (before := above.get(ref)) is not None:
        further = above.get(before)
        if further is None:
            return before
        above[ref] = further
        ref = further
    return ref
