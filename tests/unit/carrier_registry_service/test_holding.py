"""One number at one carrier has one holder: who comes ends who was there, said or not."""

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.carrier_registry_service.registry import (
    BO,
    LIN,
    ONE,
    TWO,
    Fact,
    Registry,
    began,
    day,
    ended,
    state_seen,
    summary,
)

from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import EndReason, NetworkState

MEI = "mei"
HERS, GIVEN_ON = began("cn-mobile:1", ONE, 0), began("cn-mobile:2", ONE, 90, who=MEI)


def recycled(registry: Registry) -> list[tuple[str, str]]:
    told = [one for one in registry.told if isinstance(one, RegistrationRecycled)]
    return sorted((one.owner_id, str(one.ref)) for one in told)


def in_any_order(*facts: Fact) -> list[Registry]:
    """A registry for each order that the facts may come in, all with the same outcome."""
    registries = []
    for order in permutations(facts):
        registry = Registry()
        assert {one.outcome for one in registry.feed(*order)} == {"applied"}
        registries.append(registry)
    for who in (LIN, MEI):
        records = [one.state.record(who).registrations for one in registries]
        assert all(one == records[0] for one in records)
    return registries


@pytest.mark.claim("C2+")
def test_a_number_that_its_carrier_begins_for_somebody_else_is_no_longer_the_first_ones() -> None:
    registry = Registry()
    registry.feed(HERS)
    told = len(registry.line_events())
    registry.feed(GIVEN_ON)
    assert (registry.live(), registry.live(MEI)) == ({}, {"cn-mobile:2": ONE})
    assert summary(registry.check("cn-mobile:1").changes[0]) == (
        ChangeCode.NUMBER_WITHDRAWN,
        "cn-mobile:1",
        None,
    )
    events = {one.owner_id: one for one in registry.line_events()[told:]}
    assert set(events) == {LIN, MEI}
    (line,) = events[LIN].lines
    assert (str(line.before and line.before.ref), line.after) == ("cn-mobile:1", None)
    assert recycled(registry) == [(LIN, "cn-mobile:1")]


ENDS = {
    "nothing is said": (),
    "cancelled before": (ended("cn-mobile:1", 5),),
    "cancelled later": (ended("cn-mobile:1", 95),),
    "recycled": (ended("cn-mobile:1", 89, EndReason.RECYCLED),),
    "cancelled and recycled": (
        ended("cn-mobile:1", 5),
        ended("cn-mobile:1", 89, EndReason.RECYCLED),
    ),
    "ported out": (ended("cn-mobile:1", 5, EndReason.PORTED_OUT),),
}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_whatever_its_carrier_says_of_the_end_and_when_it_is_told_once(
    ends: tuple[Fact, ...],
) -> None:
    for registry in in_any_order(HERS, GIVEN_ON, *ends):
        assert (registry.live(), registry.live(MEI)) == ({}, {"cn-mobile:2": ONE})
        assert recycled(registry) == [(LIN, "cn-mobile:1")]
        (mine,) = registry.state.record(LIN).registrations.values()
        said = [one for one in mine.endings if one.reason is EndReason.RECYCLED]
        assert mine.given_on == (said[0].valid_to if said else day(90))


def test_a_number_that_its_carrier_begins_anew_for_the_same_person_is_the_same_number() -> None:
    for registry in in_any_order(HERS, began("cn-mobile:2", ONE, 9)):
        assert registry.live() == {"cn-mobile:2": ONE}
        assert [summary(one) for one in registry.check("cn-mobile:1").changes] == [
            (ChangeCode.UNCHANGED, "cn-mobile:1", "cn-mobile:2")
        ]
        assert recycled(registry) == []


def test_the_older_registration_does_not_come_back_when_the_newer_one_ends() -> None:
    for registry in in_any_order(HERS, began("cn-mobile:2", ONE, 9), ended("cn-mobile:2", 20)):
        assert registry.live() == {}


def test_between_two_times_that_one_person_has_it_somebody_else_may() -> None:
    back = began("cn-mobile:3", ONE, 180)
    for registry in in_any_order(HERS, GIVEN_ON, back):
        assert (registry.live(), registry.live(MEI)) == ({"cn-mobile:3": ONE}, {})
        assert recycled(registry) == [(LIN, "cn-mobile:1"), (MEI, "cn-mobile:2")]
        assert [summary(one) for one in registry.check("cn-mobile:1").changes] == [
            (ChangeCode.NUMBER_WITHDRAWN, "cn-mobile:1", None),
            (ChangeCode.NUMBER_ADDED, None, "cn-mobile:3"),
        ], "it is not the number of before"


def test_a_number_is_the_same_until_its_carrier_says_that_it_was_given_on() -> None:
    said = ended("cn-mobile:1", 5, EndReason.RECYCLED)
    for registry in in_any_order(HERS, began("cn-mobile:2", ONE, 9), said):
        codes = [one.code for one in registry.check("cn-mobile:1").changes]
        assert codes == [ChangeCode.NUMBER_WITHDRAWN, ChangeCode.NUMBER_ADDED]
    said = ended("cn-mobile:1", 20, EndReason.RECYCLED)
    for registry in in_any_order(HERS, began("cn-mobile:2", ONE, 9), said):
        assert [one.code for one in registry.check("cn-mobile:1").changes] == [ChangeCode.UNCHANGED]


@pytest.mark.parametrize("who", [LIN, MEI])
def test_no_carrier_ends_what_another_one_has_begun(who: str) -> None:
    for registry in in_any_order(HERS, began("cn-unicom:2", ONE, 90, who=who)):
        live = {"cn-mobile:1": ONE} | ({"cn-unicom:2": ONE} if who == LIN else {})
        assert registry.live() == live
        assert recycled(registry) == []


def test_what_the_owner_has_at_another_carrier_stays_when_the_old_number_is_given_on() -> None:
    ported = began("cn-unicom:7", ONE, 9, replaces="cn-mobile:1")
    for registry in in_any_order(HERS, ported, GIVEN_ON):
        assert registry.live() == {"cn-unicom:7": ONE}
        assert summary(registry.check("cn-mobile:1").changes[0]) == (
            ChangeCode.CARRIER_CHANGED,
            "cn-mobile:1",
            "cn-unicom:7",
        )


def test_a_carriers_word_of_what_came_in_a_numbers_place_counts_before_the_number() -> None:
    another = began("cn-mobile:5", TWO, 9, replaces="cn-mobile:1")
    for registry in in_any_order(HERS, another, began("cn-mobile:6", ONE, 50)):
        assert registry.live() == {"cn-mobile:5": TWO, "cn-mobile:6": ONE}
        codes = [summary(one) for one in registry.check("cn-mobile:1").changes]
        assert codes == [
            (ChangeCode.NUMBER_CHANGED, "cn-mobile:1", "cn-mobile:5"),
            (ChangeCode.NUMBER_ADDED, None, "cn-mobile:6"),
        ]
        registry.feed(ended("cn-mobile:5", 60))
        assert registry.live() == {"cn-mobile:6": ONE}, "the number has one registration"


def test_a_number_taken_over_by_one_that_is_said_to_replace_another_leads_there_too() -> None:
    facts = (
        HERS,
        began("cn-mobile:2", TWO, 0),
        began("cn-mobile:3", ONE, 9, replaces="cn-mobile:2"),
    )
    for registry in in_any_order(*facts):
        assert registry.live() == {"cn-mobile:3": ONE}
        changes = registry.check("cn-mobile:1", "cn-mobile:2").changes
        assert [summary(one) for one in changes] == [
            (ChangeCode.NUMBER_CHANGED, "cn-mobile:2", "cn-mobile:3"),
            (ChangeCode.UNCHANGED, "cn-mobile:1", "cn-mobile:3"),
        ]


def test_an_older_one_that_is_said_to_stand_in_the_newer_ones_place_stands() -> None:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0, replaces="cn-mobile:2"), began("cn-mobile:2", ONE, 9)
    )
    assert registry.live() == {"cn-mobile:1": ONE}


def test_a_report_that_came_before_a_number_was_given_on_does_not_depend_on_the_order() -> None:
    seen = state_seen("cn-mobile:1", NetworkState.BUSY, 1)
    for registry in in_any_order(HERS, GIVEN_ON, seen, began("cn-mobile:3", ONE, 50)):
        assert registry.live(MEI) == {"cn-mobile:2": ONE}
        assert registry.check("cn-mobile:1").status == ()


@given(data=st.data())
def test_of_all_who_had_a_number_the_last_one_has_it(data: st.DataObject) -> None:
    people, times = st.sampled_from((LIN, MEI, BO)), st.integers(0, 4)
    tenures = [
        (at, f"cn-mobile:{seq}", who)
        for seq, (at, who) in enumerate(
            data.draw(st.lists(st.tuples(times, people), min_size=1, max_size=8)), 1
        )
    ]
    registry = Registry()
    for at, name, who in data.draw(st.permutations(tenures)):
        registry.feed(began(name, ONE, at, who=who))
    known = {
        str(ref): one
        for who in (LIN, MEI, BO)
        for ref, one in registry.state.record(who).registrations.items()
    }
    in_turn = sorted(tenures)
    for place, (_, name, who) in enumerate(in_turn):
        others = [at for at, _, other in in_turn[place + 1 :] if other != who]
        assert known[name].passed_on == (day(others[0]) if others else None)
    _, last, holder = in_turn[-1]
    for who in (LIN, MEI, BO):
        assert registry.live(who) == ({last: ONE} if who == holder else {})
    for (_, older, one), (_, newer, other) in pairwise(in_turn):
        if one == other and known[older].passed_on is None:
            successor = registry.state.lineage(one, registry.terms.rules).successor(
                known[older].ref
            )
            assert successor is not None
            assert str(successor.registration.ref) == last, newer
    assert recycled(registry) == sorted(
        (one.began.identity_id, name)
        for name, one in known.items()
        if one.began is not None and one.passed_on is not None
    )


def test_a_number_cannot_have_registrations_without_end() -> None:
    registry = Registry()
    limit = registry.terms.registrations
    facts = [began(f"cn-mobile:{n}", ONE, n, who=f"person-{n}") for n in range(1, limit + 2)]
    outcomes = [one.outcome for one in registry.feed(*facts)]
    assert outcomes == ["applied"] * limit + ["rejected"]
