"""Labels and dial order (row C6), and what events say of them."""

import pytest
from tests.unit.carrier_registry_service.registry import (
    BO,
    FOUR,
    LIN,
    ONE,
    THREE,
    TWO,
    Fact,
    Registry,
    began,
    ended,
    ref,
)

from contactmesh.contracts.carrier.access import DescribeLine, SetDialOrder
from contactmesh.contracts.carrier.check import Checked
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.errors import ErrorCode, Refusal


def three_lines() -> Registry:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0), began("cn-mobile:2", TWO, 0), began("cn-unicom:3", THREE, 0)
    )
    registry.shares(LIN, BO)
    return registry


def describe(registry: Registry, text: str, priority: int | None, *labels: str) -> None:
    command = DescribeLine(ref=ref(text), labels=labels, dial_priority=priority)
    assert not isinstance(registry.does(LIN, command).answer, Refusal)


def offered(registry: Registry, viewer: str = BO) -> list[tuple[str, int | None]]:
    answer = registry.ask(viewer).answer
    assert isinstance(answer, Checked)
    return [(str(line.ref), line.dial_priority) for line in answer.lines]


@pytest.mark.claim("C6")
def test_the_owners_priorities_order_the_lines_and_push_each_other_down() -> None:
    registry = three_lines()
    describe(registry, "cn-unicom:3", 1, "work 工作")
    describe(registry, "cn-mobile:2", 2)
    assert offered(registry) == [("cn-unicom:3", 1), ("cn-mobile:2", 2), ("cn-mobile:1", None)]
    describe(registry, "cn-mobile:1", 1)
    assert offered(registry) == [("cn-mobile:1", 1), ("cn-unicom:3", 2), ("cn-mobile:2", 3)]
    describe(registry, "cn-mobile:1", 100)
    describe(registry, "cn-mobile:2", 100)
    assert offered(registry) == [("cn-unicom:3", 2), ("cn-mobile:2", 100), ("cn-mobile:1", None)]


@pytest.mark.claim("C6")
def test_the_viewers_own_order_wins_and_follows_a_changed_number() -> None:
    registry = three_lines()
    describe(registry, "cn-mobile:1", 1)
    registry.does(BO, SetDialOrder(identity_id=LIN, order=(ref("cn-unicom:3"), ref("cn-mobile:2"))))
    assert [line for line, _ in offered(registry)] == ["cn-unicom:3", "cn-mobile:2", "cn-mobile:1"]
    registry.feed(
        began("cn-telecom:9", THREE, 5, replaces="cn-unicom:3"),
        ended("cn-unicom:3", 5, EndReason.PORTED_OUT),
    )
    assert [line for line, _ in offered(registry)] == ["cn-telecom:9", "cn-mobile:2", "cn-mobile:1"]
    assert offered(registry, LIN)[0] == ("cn-mobile:1", 1), "it is the viewer's alone"
    registry.does(BO, SetDialOrder(identity_id=LIN))
    assert offered(registry)[0] == ("cn-mobile:1", 1)


RECYCLED, ERASED = EndReason.RECYCLED, EndReason.ERASED
FATES = {
    "recycled": [ended("cn-mobile:1", 90, RECYCLED)],
    "erased": [ended("cn-mobile:1", 90, ERASED)],
    "recycled, then erased": [
        ended("cn-mobile:1", 90, RECYCLED),
        ended("cn-mobile:1", 99, ERASED),
    ],
    "erased, then recycled": [
        ended("cn-mobile:1", 99, ERASED),
        ended("cn-mobile:1", 90, RECYCLED),
    ],
    "begun for somebody else": [began("cn-mobile:8", ONE, 90, who="mei")],
}
CHANGES = {
    "said": began("cn-mobile:4", FOUR, 5, replaces="cn-mobile:1"),
    "at another carrier": began("cn-unicom:4", FOUR, 5, replaces="cn-mobile:1"),
    "inferred": began("cn-mobile:4", FOUR, 5),
}


@pytest.mark.claim("C6")
@pytest.mark.parametrize("fate", FATES.values(), ids=FATES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_said_of_a_number_stays_whatever_becomes_of_the_one_before(
    change: Fact, fate: list[Fact]
) -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    describe(registry, "cn-mobile:1", 1, "home 家")
    registry.feed(ended("cn-mobile:1", 5, EndReason.REPLACED), change)
    (now,) = registry.lines()
    for fact in fate:
        registry.feed(fact)
        (line,) = registry.lines().values()
        assert (str(line.ref), line.labels, line.dial_priority) == (now, ("home 家",), 1)


@pytest.mark.parametrize("reason", [RECYCLED, ERASED])
def test_what_is_said_of_a_number_stays_with_its_next_registration(reason: EndReason) -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    describe(registry, "cn-mobile:1", 1, "home 家")
    registry.feed(began("cn-mobile:4", ONE, 5), ended("cn-mobile:1", 90, reason))
    (line,) = registry.lines().values()
    assert (str(line.ref), line.labels, line.dial_priority) == ("cn-mobile:4", ("home 家",), 1)


def test_nothing_of_what_was_said_is_kept_with_an_erased_registration() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    describe(registry, "cn-mobile:1", 1, "home 家")
    registry.feed(ended("cn-mobile:1", 90, ERASED), ended("cn-mobile:1", 5))
    (erased,) = registry.state.record(LIN).registrations.values()
    assert erased.description is None


def test_what_is_said_of_a_number_itself_counts_more_than_what_an_erased_one_leaves() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    describe(registry, "cn-mobile:1", 1, "home 家")
    registry.feed(began("cn-mobile:4", FOUR, 5, replaces="cn-mobile:1"))
    describe(registry, "cn-mobile:4", 2, "work 工作")
    registry.feed(ended("cn-mobile:1", 90, ERASED))
    (line,) = registry.lines().values()
    assert (line.labels, line.dial_priority) == (("work 工作",), 2)


def test_an_erased_registration_leaves_what_was_said_to_each_that_stands_in_its_place() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    describe(registry, "cn-mobile:1", None, "home 家")
    registry.feed(
        began("cn-mobile:4", FOUR, 5, replaces="cn-mobile:1"),
        began("cn-mobile:5", TWO, 6, replaces="cn-mobile:1"),
        ended("cn-mobile:1", 90, ERASED),
    )
    assert {line.labels for line in registry.lines().values()} == {("home 家",)}
    assert len(registry.lines()) == 2


def test_a_new_description_is_told_and_an_equal_one_is_not() -> None:
    registry = three_lines()
    told = len(registry.line_events())
    describe(registry, "cn-mobile:1", 1, "home 家")
    describe(registry, "cn-mobile:1", 1, "home 家")
    (event,) = registry.line_events()[told:]
    assert event.lines == (), "no number came in the place of another"
    assert event.card is not None
    assert event.card["phones"]["cn-mobile_1"]["label"] == "home 家"
    assert event.card["phones"]["cn-mobile_1"]["pref"] == 1


def test_only_live_numbers_of_ones_own_can_be_described() -> None:
    registry = three_lines()
    registry.feed(ended("cn-mobile:1", 5), began("cn-mobile:8", ONE, 5, who="mei"))
    for text in ("cn-mobile:1", "cn-mobile:8", "cn-mobile:99"):
        answer = registry.does(LIN, DescribeLine(ref=ref(text), dial_priority=1)).answer
        assert isinstance(answer, Refusal)
        assert answer.body.code is ErrorCode.NOT_FOUND


def test_a_number_that_stands_again_follows_what_stood_in_its_place() -> None:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0), began("cn-mobile:2", TWO, 5, replaces="cn-mobile:1")
    )
    assert registry.live() == {"cn-mobile:2": TWO}
    registry.feed(ended("cn-mobile:2", 6))
    assert registry.live() == {"cn-mobile:1": ONE}, "the change of number did not last"
    event = registry.line_events()[-1]
    assert [
        (str(line.before and line.before.ref), str(line.after and line.after.ref))
        for line in event.lines
    ] == [("cn-mobile:1", "cn-mobile:1"), ("cn-mobile:2", "cn-mobile:1")]
