"""The decision table: what has become of the numbers that a viewer knows (rows C2 to C4).

A known reference either leads to a live registration or does not; where it does, carrier and number
may each be the same or another. A live number that the viewer does not know was added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Ref, newest_first
from contactmesh.contracts.carrier.check import ChangeCode, LineChange
from contactmesh.contracts.carrier.records import Line


class Now(NamedTuple):
    """How what stands now compares with what the viewer knows."""

    same_carrier: bool
    same_number: bool


BECAME: Final[Mapping[Now, ChangeCode]] = {
    Now(same_carrier=True, same_number=True): ChangeCode.UNCHANGED,
    Now(same_carrier=True, same_number=False): ChangeCode.NUMBER_CHANGED,
    Now(same_carrier=False, same_number=True): ChangeCode.CARRIER_CHANGED,
    Now(same_carrier=False, same_number=False): ChangeCode.CARRIER_CHANGED,
}
"""Rows 0, 2b; 2; 1b; 1."""

ADDED: Final[Mapping[bool, ChangeCode]] = {
    True: ChangeCode.NUMBER_ADDED,
    False: ChangeCode.NUMBER_ADDED_NEW_CARRIER,
}
"""Rows 3 and 4, by whether the viewer knows a number at that carrier."""

ORDER: Final[tuple[ChangeCode, ...]] = (
    ChangeCode.CARRIER_CHANGED,
    ChangeCode.NUMBER_CHANGED,
    ChangeCode.NUMBER_WITHDRAWN,
    ChangeCode.NUMBER_ADDED_NEW_CARRIER,
    ChangeCode.NUMBER_ADDED,
    ChangeCode.UNCHANGED,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcomes in the order of an answer, and how many references were none of the contact's.

    `right` says whether anything that the viewer sent was.
    """

    changes: tuple[LineChange, ...]
    failed: int
    right: bool


def compare(lineage: Lineage, known: Sequence[Ref], numbers: Sequence[str]) -> Comparison:
    """Compare what a viewer knows with the live record.

    Args:
        lineage: the contact's registrations.
        known: the references that the viewer holds; row 6 counts those of others and of nobody.
        numbers: numbers held without a reference. One that was never the contact's is left out of
            the answer and counts as nothing: a phonebook may hold an office's number.
    """
    refs = list(dict.fromkeys(known))
    ours = [ref for ref in refs if ref in lineage.by_ref]
    changes = [_became(lineage, ref, known=ref) for ref in ours]
    matched = {number: ref for number in numbers if (ref := _holder(lineage, number)) is not None}
    changes += [
        _became(lineage, ref, number=number) for number, ref in matched.items() if ref not in ours
    ]
    told = {Ref.of(change.line.ref) for change in changes if change.line is not None}
    carriers = {ref.carrier_id for ref in (*ours, *matched.values())}
    changes += [
        LineChange(code=ADDED[ref.carrier_id in carriers], line=line)
        for ref, line in lineage.lines.items()
        if ref not in told
    ]
    return Comparison(
        changes=tuple(sorted(changes, key=_place)),
        failed=len(refs) - len(ours),
        right=bool(ours or matched),
    )


def _became(
    lineage: Lineage, ref: Ref, *, known: Ref | None = None, number: str | None = None
) -> LineChange:
    shown = None if known is None else known.shown()
    successor = lineage.successor(ref)
    if successor is None:
        return LineChange(code=ChangeCode.NUMBER_WITHDRAWN, known=shown, number=number)
    now = successor.registration.ref
    line = lineage.lines[now]
    today = lineage.rules.today
    same = Now(now.carrier_id == ref.carrier_id, line.msisdn == lineage.began(ref).msisdn)
    moved = today(now.carrier_id) != today(ref.carrier_id)
    return LineChange(
        code=BECAME[same],
        known=shown,
        number=number,
        line=line,
        number_changed=not same.same_number,
        ported=same.same_number and moved,
        inferred=successor.inferred,
    )


def _holder(lineage: Lineage, number: str) -> Ref | None:
    """The contact's registration that had a number: a live one, else the latest.

    A number that was erased is as if it had never been the contact's.
    """
    for one in lineage.live:
        if lineage.began(one.ref).msisdn == number:
            return one.ref
    for one in newest_first(tuple(lineage.registrations)):
        if lineage.began(one.ref).msisdn == number and not one.erased:
            return one.ref
    return None


def _place(change: LineChange) -> tuple[int, Ref]:
    ref = change.known or (change.line.ref if change.line else None)
    return ORDER.index(change.code), Ref("", 0) if ref is None else Ref.of(ref)


def in_dial_order(lineage: Lineage, viewers: Sequence[Ref]) -> tuple[Line, ...]:
    """The live numbers in the order that is offered (row C6): the viewer's own, else the owner's.

    A number that has been replaced keeps its successor's place in the viewer's order.
    """
    own: dict[Ref, int] = {}
    for place, ref in enumerate(viewers):
        successor = lineage.successor(ref)
        if successor is not None:
            own.setdefault(successor.registration.ref, place)

    def place_of(ref: Ref, line: Line) -> tuple[int, int, int, int, Ref]:
        priority = line.dial_priority
        return (ref not in own, own.get(ref, 0), priority is None, priority or 0, ref)

    lines = lineage.lines
    return tuple(lines[ref] for ref in sorted(lines, key=lambda ref: place_of(ref, lines[ref])))
