"""Numbers that are replaced without an end being told, and begun anew in the place of others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.carrier_registry_service.registry import (
    ONE,
    THREE,
    TWO,
    Registry,
    began,
    ended,
    summary,
)

from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.carrier.feed import FeedEntry

Fact = tuple[str, FeedEntry]
M = "cn-mobile:"


@st.composite
def feeds(draw: st.DrawFn) -> list[Fact]:
    """One person's numbers at one carrier; each may replace any earlier one, and end or not."""
    facts: list[Fact] = []
    for seq in range(1, draw(st.integers(5, 8))):
        earlier = st.sampled_from([f"{M}{one}" for one in range(1, seq)]) if seq > 1 else st.none()
        replaces = draw(st.one_of(st.none(), earlier, earlier))
        number = draw(st.sampled_from([ONE, TWO, THREE]))
        facts.append(began(f"{M}{seq}", number, seq * 10, replaces=replaces))
        if draw(st.sampled_from([True, False, False, False])):
            facts.append(ended(f"{M}{seq}", seq * 10 + draw(st.integers(1, 60))))
    return facts


@settings(max_examples=400, deadline=None)
@given(feeds(), st.randoms(use_true_random=False))
def test_what_stands_is_told_once_and_each_number_stands_once(
    facts: list[Fact], random: object
) -> None:
    registry = Registry()
    registry.feed(*facts)
    live = registry.live()
    assert len(set(live.values())) == len(live)
    changes = registry.check(*live).changes
    assert {summary(change) for change in changes} == {
        (ChangeCode.UNCHANGED, ref, ref) for ref in live
    }
    shuffled = Registry()
    order = list(facts)
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled.feed(*order)
    assert shuffled.live() == live


@pytest.mark.parametrize(
    "facts",
    [
        (
            began(M + "1", ONE, 0),
            began(M + "2", TWO, 10, replaces=M + "1"),
            began(M + "3", THREE, 12),
            began(M + "4", TWO, 20, replaces=M + "3"),
        ),
        (
            began(M + "1", ONE, 0),
            began(M + "2", TWO, 10, replaces=M + "1"),
            began(M + "3", THREE, 15, replaces=M + "2"),
            ended(M + "3", 16),
            began(M + "4", TWO, 20),
        ),
    ],
    ids=["in another one's place", "after its successor ended"],
)
def test_what_a_renewed_number_had_replaced_does_not_stand_again(
    facts: tuple[Fact, ...],
) -> None:
    registry = Registry()
    registry.feed(*facts)
    assert registry.live() == {M + "4": TWO}
    became = {summary(one) for one in registry.check(M + "1", M + "2").changes}
    assert became == {
        (ChangeCode.NUMBER_CHANGED, M + "1", M + "4"),
        (ChangeCode.UNCHANGED, M + "2", M + "4"),
    }
