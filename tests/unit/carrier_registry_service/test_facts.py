"""Facts about a registration are joined: order and repeats do not matter, contradictions do."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from tests.unit.carrier_registry_service.registry import (
    LIN,
    ONE,
    TWO,
    Fact,
    Registry,
    began,
    day,
    ended,
    state_seen,
    usage_seen,
)

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.feed import Ended, EntryOutcome, Fed, Feed, StateSeen
from contactmesh.contracts.carrier.records import DataVolume, EndReason, NetworkState
from contactmesh.contracts.errors import ErrorCode

LIFE = (
    began("cn-mobile:1", ONE, 0),
    state_seen("cn-mobile:1", NetworkState.ONLINE_DATA, 1),
    state_seen("cn-mobile:1", NetworkState.POWERED_OFF, 2),
    usage_seen("cn-mobile:1", DataVolume.BELOW_1_GIB, 1),
    ended("cn-mobile:1", 3),
)


def outcomes(told: Sequence[EntryOutcome]) -> list[str]:
    return [one.outcome for one in told]


def test_facts_may_come_in_any_order() -> None:
    expected = Registry()
    expected.feed(*LIFE)
    for order in permutations(LIFE):
        registry = Registry()
        registry.feed(*order)
        assert registry.state.record(LIN).registrations == expected.state.record(LIN).registrations


def test_a_repeat_changes_nothing_and_publishes_nothing() -> None:
    registry = Registry()
    assert set(outcomes(registry.feed(*LIFE))) == {"applied"}
    told = len(registry.told)
    assert set(outcomes(registry.feed(*LIFE))) == {"same"}
    assert len(registry.told) == told


def test_two_reports_of_one_moment_come_out_the_same_in_either_order() -> None:
    reports = [
        state_seen("cn-mobile:1", NetworkState.BUSY, 1),
        state_seen("cn-mobile:1", NetworkState.IN_CALL, 1),
    ]
    seen = set()
    for order in (reports, list(reversed(reports))):
        registry = Registry()
        registry.feed(began("cn-mobile:1", ONE, 0), *order)
        seen.add(registry.check("cn-mobile:1").status)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "contradiction",
    [
        began("cn-mobile:1", TWO, 0),
        began("cn-mobile:1", ONE, 0, who="mei"),
        began("cn-mobile:1", ONE, 1),
        began("cn-mobile:1", ONE, 0, replaces="cn-mobile:1"),
        ended("cn-mobile:1", -1),
    ],
    ids=["number", "identity", "time", "replaces itself", "ends before it begins"],
)
def test_a_contradiction_is_rejected_by_itself(contradiction: Fact) -> None:
    registry = Registry()
    (_, entry), (_, fine) = contradiction, began("cn-mobile:2", TWO, 0)
    registry.feed(began("cn-mobile:1", ONE, 0))
    (rejected,) = registry.feed(contradiction)
    assert rejected.outcome == "rejected"
    assert rejected.error is not None
    assert rejected.error.code in {ErrorCode.CONFLICT, ErrorCode.INVALID_ARGUMENT}
    answer = registry.does("cn-mobile", Feed(entries=(entry, fine))).answer
    assert isinstance(answer, Fed)
    assert outcomes(answer.outcomes) == ["rejected", "applied"]
    assert registry.live() == {"cn-mobile:1": ONE, "cn-mobile:2": TWO}


def test_what_a_registration_replaces_may_become_known_later() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0), began("cn-mobile:2", TWO, 9))
    assert set(registry.live()) == {"cn-mobile:1", "cn-mobile:2"}
    registry.feed(began("cn-mobile:2", TWO, 9, replaces="cn-mobile:1"))
    assert set(registry.live()) == {"cn-mobile:2"}
    (same,) = registry.feed(began("cn-mobile:2", TWO, 9))
    assert same.outcome == "same"


def test_a_registration_cannot_replace_one_of_somebody_else() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0, who="mei"))
    (rejected,) = registry.feed(began("cn-mobile:2", TWO, 5, replaces="cn-mobile:1"))
    assert rejected.outcome == "rejected"
    assert registry.live("mei") == {"cn-mobile:1": ONE}
    assert registry.live() == {}


@pytest.mark.parametrize("whose", ["mei", LIN, None], ids=["another's", "hers", "nobody's"])
def test_a_carrier_does_not_learn_whose_another_carriers_registration_is(
    whose: str | None,
) -> None:
    registry = Registry()
    if whose is not None:
        registry.feed(began("cn-mobile:1", ONE, 0, who=whose))
    told = registry.feed(
        began("cn-unicom:1", TWO, 5, replaces="cn-mobile:1"),
        began("cn-unicom:1", TWO, 5, replaces="cn-mobile:1"),
    )
    assert outcomes(told) == ["applied", "same"]
    assert all(one.error is None for one in told)


def test_a_link_to_another_carriers_registration_of_somebody_else_counts_for_nothing() -> None:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0, who="mei"),
        began("cn-unicom:1", TWO, 5, replaces="cn-mobile:1"),
    )
    assert registry.live("mei") == {"cn-mobile:1": ONE}
    assert registry.live() == {"cn-unicom:1": TWO}
    registry.feed(ended("cn-mobile:1", 5))
    assert registry.live("mei") == {}
    (change,) = registry.check("cn-mobile:1", "cn-unicom:1", numbers=[ONE]).changes
    assert (change.known and str(change.known), change.number) == ("cn-unicom:1", None)


def test_a_link_that_turns_out_to_lead_to_somebody_else_counts_for_nothing() -> None:
    registry = Registry()
    registry.feed(began("cn-unicom:1", TWO, 5, replaces="cn-mobile:1"))
    (taken,) = registry.feed(began("cn-mobile:1", ONE, 0, who="mei"))
    assert taken.outcome == "applied", "nobody knows it better than its carrier"
    assert registry.live("mei") == {"cn-mobile:1": ONE}
    assert registry.live() == {"cn-unicom:1": TWO}


@pytest.mark.parametrize("length", [2, 3, 7])
def test_a_chain_cannot_lead_back_to_its_beginning(length: int) -> None:
    chain = [
        began(f"cn-mobile:{n + 1}", ONE, n, replaces=f"cn-mobile:{(n + 1) % length + 1}")
        for n in range(length)
    ]
    registry = Registry()
    told = registry.feed(*chain)
    assert outcomes(told) == ["applied"] * (length - 1) + ["rejected"]


def test_a_number_is_cancelled_first_and_given_on_later() -> None:
    facts = (
        began("cn-mobile:1", ONE, 0),
        state_seen("cn-mobile:1", NetworkState.ONLINE_DATA, 1),
        ended("cn-mobile:1", 3),
        ended("cn-mobile:1", 90, EndReason.RECYCLED),
    )
    for order in permutations(facts):
        registry = Registry()
        assert set(outcomes(registry.feed(*order))) <= {"applied", "same"}
        (registration,) = registry.state.record(LIN).registrations.values()
        assert registration.state is None, "what was tied to it goes"
        recycled = [one for one in registry.told if isinstance(one, RegistrationRecycled)]
        assert [(one.owner_id, str(one.ref)) for one in recycled] == [(LIN, "cn-mobile:1")]


def test_a_report_from_the_future_is_rejected() -> None:
    registry = Registry()
    late = registry.now + timedelta(minutes=6)
    entry = StateSeen(registration_seq="1", state=NetworkState.BUSY, at=late)
    (rejected,) = registry.feed(("cn-mobile", entry))
    assert rejected.error is not None
    assert rejected.error.code is ErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize("ahead", [timedelta(minutes=6), timedelta(days=22 * 365)])
def test_what_has_not_happened_yet_is_no_fact(ahead: timedelta) -> None:
    registry = Registry()
    later = (registry.now + ahead - day(0)) / timedelta(days=1)
    registry.feed(began("cn-mobile:1", ONE, 0))
    told = registry.feed(began("cn-mobile:2", TWO, later), ended("cn-mobile:1", later))
    assert outcomes(told) == ["rejected", "rejected"]
    assert {one.error and one.error.code for one in told} == {ErrorCode.INVALID_ARGUMENT}
    assert registry.live() == {"cn-mobile:1": ONE}


def test_a_carriers_clock_may_be_a_little_ahead() -> None:
    registry = Registry()
    soon = (registry.now + timedelta(minutes=4) - day(0)) / timedelta(days=1)
    told = registry.feed(began("cn-mobile:1", ONE, soon), ended("cn-mobile:1", soon))
    assert outcomes(told) == ["applied", "applied"]


def test_a_carrier_speaks_of_its_own_registrations_alone() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.feed(
        ("cn-unicom", Ended(registration_seq="1", valid_to=day(1), reason=EndReason.CANCELLED))
    )
    assert registry.live() == {"cn-mobile:1": ONE}


def test_one_person_cannot_have_registrations_without_end() -> None:
    registry = Registry()
    limit = 5
    registry.terms = replace(registry.terms, registrations=limit)
    registry.feed(*(began(f"cn-mobile:{n + 1}", ONE, n) for n in range(limit)))
    (rejected,) = registry.feed(began(f"cn-mobile:{limit + 1}", ONE, 0))
    assert rejected.error is not None
    assert rejected.error.code is ErrorCode.QUOTA_EXCEEDED


def test_what_one_carrier_has_fed_takes_no_room_from_another() -> None:
    registry = Registry()
    limit = 3
    registry.terms = replace(registry.terms, registrations=limit)
    full = [began(f"cn-mobile:{n}", ONE, n) for n in range(1, limit + 2)]
    others = [began(f"cn-unicom:{n}", TWO, n) for n in range(1, limit + 2)]
    for told in (registry.feed(*full), registry.feed(*others)):
        assert outcomes(told) == ["applied"] * limit + ["rejected"]
