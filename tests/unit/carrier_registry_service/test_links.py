"""Successors that nobody named, against the plain definition of what they are."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.carrier_registry_service.registry import (
    LIN,
    ONE,
    THREE,
    TWO,
    Registry,
    began,
    day,
    ended,
)

from carrier_registry_service.domain.links import Left, lone_pairs
from carrier_registry_service.domain.registration import Ref

WITHIN = timedelta(days=2)
SMALL = st.integers(0, 12)


def by_definition(left: list[Left], came: list[tuple[datetime, Ref]]) -> list[tuple[Ref, Ref]]:
    """One that left and one that came later than it, near enough, and neither with another."""
    pairs = [
        (one.ref, ref)
        for one in left
        for valid_from, ref in came
        if one.valid_from < valid_from and abs(valid_from - one.left_at) <= WITHIN
    ]
    befores, afters = ([pair[side] for pair in pairs] for side in (0, 1))
    return sorted(
        pair for pair in pairs if befores.count(pair[0]) == 1 and afters.count(pair[1]) == 1
    )


@given(lengths=st.lists(st.tuples(SMALL, SMALL), max_size=10), begins=st.lists(SMALL, max_size=10))
def test_pairs_are_those_that_have_no_other_choice(
    lengths: list[tuple[int, int]], begins: list[int]
) -> None:
    left = [
        Left(Ref("cn-mobile", n), day(start), day(start + length))
        for n, (start, length) in enumerate(lengths, 1)
    ]
    came = [(day(start), Ref("cn-unicom", n)) for n, start in enumerate(begins, 1)]
    assert lone_pairs(left, came, WITHIN) == by_definition(left, came)


@given(spans=st.lists(st.tuples(SMALL, SMALL, st.booleans()), max_size=8))
def test_one_registration_may_come_after_one_and_before_another(
    spans: list[tuple[int, int, bool]],
) -> None:
    registry = Registry()
    for n, (start, length, open_) in enumerate(spans, 1):
        registry.feed(began(f"cn-mobile:{n}", f"+861380000{n:04d}", start))
        if not open_:
            registry.feed(ended(f"cn-mobile:{n}", start + length))
    ones = registry.state.record(LIN).registrations.values()
    left = [
        Left(one.ref, one.began.valid_from, one.endings[0].valid_to)
        for one in ones
        if one.began is not None and one.endings
    ]
    came = [(one.began.valid_from, one.ref) for one in ones if one.began is not None]
    within = registry.terms.rules.inferred_within
    lineage = registry.state.lineage(LIN, registry.terms.rules)
    inferred = {(next(iter(lineage.predecessors(ref)), None), ref) for _, ref in came}
    assert {pair for pair in inferred if pair[0] is not None} == set(lone_pairs(left, came, within))


def test_a_successor_that_would_stand_in_its_own_place_is_not_inferred() -> None:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0, replaces="cn-mobile:3"),
        ended("cn-mobile:1", 8.5),
        began("cn-mobile:2", TWO, 9),
        began("cn-mobile:3", THREE, 5, replaces="cn-mobile:2"),
    )
    assert registry.live() == {"cn-mobile:3": THREE}
    lineage = registry.state.lineage(LIN, registry.terms.rules)
    assert list(lineage.predecessors(Ref("cn-mobile", 2))) == []
