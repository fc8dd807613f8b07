"""The decision table (notes A.4, rows C2 to C4), a test for each row."""

from dataclasses import dataclass, replace

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
    summary,
)

from carrier_registry_service.domain.comparison import ADDED, BECAME, ORDER
from carrier_registry_service.domain.lineage import Rules
from contactmesh.contracts.carrier.check import ChangeCode, LineChange
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.errors import ErrorCode

UNCHANGED, WITHDRAWN = ChangeCode.UNCHANGED, ChangeCode.NUMBER_WITHDRAWN
CARRIER, NUMBER = ChangeCode.CARRIER_CHANGED, ChangeCode.NUMBER_CHANGED
ADDED_THERE, ADDED_NEW = ChangeCode.NUMBER_ADDED, ChangeCode.NUMBER_ADDED_NEW_CARRIER
PORTED, REPLACED = EndReason.PORTED_OUT, EndReason.REPLACED
HERS = began("cn-mobile:1", ONE, 0)


@dataclass(frozen=True)
class Row:
    """Facts, what the viewer knows, and what must come out, in the order of the answer.

    Each outcome is (code, known, line, number changed, ported, inferred).
    """

    facts: tuple[Fact, ...]
    known: tuple[str, ...]
    outcome: tuple[tuple[ChangeCode, str | None, str | None, bool, bool, bool], ...]


def same(known: str, line: str | None = None) -> tuple[ChangeCode, str, str, bool, bool, bool]:
    return (UNCHANGED, known, line or known, False, False, False)


TABLE = {
    "C2 0 unchanged": Row((HERS,), ("cn-mobile:1",), (same("cn-mobile:1"),)),
    "C2 1 carrier and number": Row(
        (HERS, ended("cn-mobile:1", 5), began("cn-unicom:7", TWO, 5, replaces="cn-mobile:1")),
        ("cn-mobile:1",),
        ((CARRIER, "cn-mobile:1", "cn-unicom:7", True, False, False),),
    ),
    "C2+ 1b ported": Row(
        (
            HERS,
            ended("cn-mobile:1", 5, PORTED),
            began("cn-unicom:7", ONE, 5, replaces="cn-mobile:1"),
        ),
        ("cn-mobile:1",),
        ((CARRIER, "cn-mobile:1", "cn-unicom:7", False, True, False),),
    ),
    "C2 2 number": Row(
        (
            HERS,
            ended("cn-mobile:1", 5, REPLACED),
            began("cn-mobile:2", TWO, 5, replaces="cn-mobile:1"),
        ),
        ("cn-mobile:1",),
        ((NUMBER, "cn-mobile:1", "cn-mobile:2", True, False, False),),
    ),
    "C2+ 2b the card was re-issued": Row(
        (
            HERS,
            ended("cn-mobile:1", 5, REPLACED),
            began("cn-mobile:2", ONE, 5, replaces="cn-mobile:1"),
        ),
        ("cn-mobile:1",),
        (same("cn-mobile:1", "cn-mobile:2"),),
    ),
    "C4 3 added at a carrier that is known": Row(
        (HERS, began("cn-mobile:2", TWO, 5)),
        ("cn-mobile:1",),
        ((ADDED_THERE, None, "cn-mobile:2", False, False, False), same("cn-mobile:1")),
    ),
    "C3 4 added at a new carrier": Row(
        (HERS, began("cn-unicom:7", TWO, 5)),
        ("cn-mobile:1",),
        ((ADDED_NEW, None, "cn-unicom:7", False, False, False), same("cn-mobile:1")),
    ),
    "C2+ 5 withdrawn": Row(
        (HERS, ended("cn-mobile:1", 5)),
        ("cn-mobile:1",),
        ((WITHDRAWN, "cn-mobile:1", None, False, False, False),),
    ),
    "C2 a chain is followed to its end": Row(
        (
            HERS,
            ended("cn-mobile:1", 5),
            began("cn-mobile:2", TWO, 5, replaces="cn-mobile:1"),
            ended("cn-mobile:2", 9),
            began("cn-unicom:7", THREE, 9, replaces="cn-mobile:2"),
        ),
        ("cn-mobile:1",),
        ((CARRIER, "cn-mobile:1", "cn-unicom:7", True, False, False),),
    ),
    "C2+ ported there and back is unchanged": Row(
        (
            HERS,
            ended("cn-mobile:1", 5, PORTED),
            began("cn-unicom:7", ONE, 5, replaces="cn-mobile:1"),
            ended("cn-unicom:7", 9, PORTED),
            began("cn-mobile:2", ONE, 9, replaces="cn-unicom:7"),
        ),
        ("cn-mobile:1",),
        (same("cn-mobile:1", "cn-mobile:2"),),
    ),
    "C2 replaced before its carrier says that it ended": Row(
        (HERS, began("cn-mobile:2", TWO, 5, replaces="cn-mobile:1")),
        ("cn-mobile:1",),
        ((NUMBER, "cn-mobile:1", "cn-mobile:2", True, False, False),),
    ),
    "C2 inferred": Row(
        (HERS, ended("cn-mobile:1", 5), began("cn-unicom:7", TWO, 5.5)),
        ("cn-mobile:1",),
        ((CARRIER, "cn-mobile:1", "cn-unicom:7", True, False, True),),
    ),
    "C3 too late to be inferred": Row(
        (HERS, ended("cn-mobile:1", 5), began("cn-unicom:7", TWO, 7)),
        ("cn-mobile:1",),
        (
            (WITHDRAWN, "cn-mobile:1", None, False, False, False),
            (ADDED_NEW, None, "cn-unicom:7", False, False, False),
        ),
    ),
    "C3 two candidates are none": Row(
        (
            HERS,
            ended("cn-mobile:1", 5),
            began("cn-unicom:7", TWO, 5),
            began("cn-telecom:7", THREE, 5),
        ),
        ("cn-mobile:1",),
        (
            (WITHDRAWN, "cn-mobile:1", None, False, False, False),
            (ADDED_NEW, None, "cn-telecom:7", False, False, False),
            (ADDED_NEW, None, "cn-unicom:7", False, False, False),
        ),
    ),
    "C3 nothing known": Row((HERS,), (), ((ADDED_NEW, None, "cn-mobile:1", False, False, False),)),
    "C4 several at once, in their order": Row(
        (
            began("cn-mobile:1", ONE, 0),
            began("cn-mobile:2", TWO, 0),
            began("cn-mobile:3", THREE, 0),
            began("cn-mobile:4", FOUR, 0),
            ended("cn-mobile:1", 5, PORTED),
            began("cn-unicom:7", ONE, 5, replaces="cn-mobile:1"),
            ended("cn-mobile:2", 5, REPLACED),
            began("cn-mobile:5", "+8613800000005", 5, replaces="cn-mobile:2"),
            ended("cn-mobile:3", 5),
            began("cn-telecom:9", "+8613800000006", 50),
            began("cn-mobile:6", "+8613800000007", 50),
        ),
        ("cn-mobile:4", "cn-mobile:3", "cn-mobile:2", "cn-mobile:1"),
        (
            (CARRIER, "cn-mobile:1", "cn-unicom:7", False, True, False),
            (NUMBER, "cn-mobile:2", "cn-mobile:5", True, False, False),
            (WITHDRAWN, "cn-mobile:3", None, False, False, False),
            (ADDED_NEW, None, "cn-telecom:9", False, False, False),
            (ADDED_THERE, None, "cn-mobile:6", False, False, False),
            same("cn-mobile:4"),
        ),
    ),
}


def outcome_of(change: LineChange) -> tuple[ChangeCode, str | None, str | None, bool, bool, bool]:
    return (*summary(change), change.number_changed, change.ported, change.inferred)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=name, marks=pytest.mark.claim(name.split()[0]))
        for name, row in TABLE.items()
    ],
)
def test_each_row(row: Row) -> None:
    for facts in (row.facts, tuple(reversed(row.facts))):
        registry = Registry()
        registry.feed(*facts)
        assert tuple(map(outcome_of, registry.check(*row.known).changes)) == row.outcome


def test_the_table_is_whole() -> None:
    assert len(BECAME) == 4
    assert set(BECAME.values()) | set(ADDED.values()) | {WITHDRAWN} == set(ChangeCode)
    assert set(ORDER) == set(ChangeCode)


@pytest.mark.claim("C7")
@pytest.mark.parametrize(
    "wrong", ["cn-mobile:999", "cn-mobile:2", "nobody:1"], ids=["never issued", "another's", "none"]
)
def test_row_6_a_wrong_reference_is_answered_as_nobody_is(wrong: str) -> None:
    registry = Registry()
    registry.feed(HERS, began("cn-mobile:2", TWO, 0, who="mei"))
    registry.shares(LIN, BO)
    error = registry.refused(BO, wrong)
    assert error.code is ErrorCode.NOT_FOUND
    assert error == registry.refused(BO, wrong, who="no-such-person")


def test_row_6_a_wrong_reference_beside_a_right_one_is_left_out() -> None:
    registry = Registry()
    registry.feed(HERS)
    assert list(map(outcome_of, registry.check("cn-mobile:1", "cn-mobile:999").changes)) == [
        same("cn-mobile:1")
    ]


def test_a_number_without_a_reference_is_matched_within_the_identity() -> None:
    registry = Registry()
    registry.feed(
        HERS,
        ended("cn-mobile:1", 5),
        began("cn-unicom:7", TWO, 5, replaces="cn-mobile:1"),
        began("cn-mobile:2", THREE, 0, who="mei"),
    )
    (change,) = registry.check(numbers=[ONE, THREE]).changes
    assert (change.code, change.known, change.number) == (CARRIER, None, ONE)
    (change,) = registry.check(numbers=[TWO]).changes
    assert (change.code, change.number) == (UNCHANGED, TWO)
    assert str(change.line and change.line.ref) == "cn-unicom:7"


@pytest.mark.parametrize("other_end", [None, EndReason.CANCELLED, EndReason.RECYCLED])
def test_an_erased_number_is_as_if_it_had_never_been_the_contacts(
    other_end: EndReason | None,
) -> None:
    registry = Registry()
    registry.feed(HERS, began("cn-mobile:2", TWO, 0), ended("cn-mobile:1", 9, EndReason.ERASED))
    registry.feed(*(() if other_end is None else [ended("cn-mobile:1", 9, other_end)]))
    never = registry.check(numbers=[THREE])
    assert registry.check(numbers=[ONE]) == never
    (change, _) = registry.check("cn-mobile:1").changes
    assert change.code is WITHDRAWN, "whoever knows the registration itself drops it"


def test_an_erased_number_that_stands_again_is_matched_as_what_it_is_now() -> None:
    registry = Registry()
    registry.feed(HERS, ended("cn-mobile:1", 9, EndReason.ERASED), began("cn-mobile:2", ONE, 20))
    (change,) = registry.check(numbers=[ONE]).changes
    assert (change.code, str(change.line and change.line.ref)) == (UNCHANGED, "cn-mobile:2")


def test_a_number_that_moves_with_its_carrier_is_not_ported() -> None:
    merged = {"us-sprint": "us-tmobile"}
    registry = Registry()
    rules = Rules(registry.terms.rules.inferred_within, lambda one: merged.get(one, one))
    registry.terms = replace(registry.terms, rules=rules)
    registry.feed(
        began("us-sprint:1", "+12025550100", 0),
        ended("us-sprint:1", 5, REPLACED),
        began("us-tmobile:1", "+12025550100", 5, replaces="us-sprint:1"),
    )
    (change,) = registry.check("us-sprint:1").changes
    assert (change.code, change.ported, change.number_changed) == (CARRIER, False, False)
    assert change.line is not None
    assert not change.line.ported


@pytest.mark.claim("C2")
@pytest.mark.parametrize("msisdn", [ONE, TWO], ids=["ported", "other number"])
def test_a_carrier_takes_no_live_number_of_another_ones_over(msisdn: str) -> None:
    registry = Registry()
    registry.feed(HERS, began("evil-telco:1", msisdn, 5, replaces="cn-mobile:1"))
    assert registry.live() == {"cn-mobile:1": ONE, "evil-telco:1": msisdn}
    assert not registry.lines()["evil-telco:1"].ported
    assert list(map(outcome_of, registry.check("cn-mobile:1").changes)) == [
        (ADDED_NEW, None, "evil-telco:1", False, False, False),
        same("cn-mobile:1"),
    ]
    registry.feed(
        ended("evil-telco:1", 6, REPLACED),
        began("evil-telco:2", msisdn, 6, replaces="evil-telco:1"),
    )
    assert registry.live() == {"cn-mobile:1": ONE, "evil-telco:2": msisdn}
    registry.feed(ended("cn-mobile:1", 6, PORTED))
    assert registry.live() == {"evil-telco:2": msisdn}
    (change,) = registry.check("cn-mobile:1").changes
    assert (change.code, str(change.line and change.line.ref)) == (CARRIER, "evil-telco:2")


def test_links_that_do_not_count_yet_close_no_cycle_either() -> None:
    registry = Registry()
    outcomes = registry.feed(
        began("cn-mobile:1", ONE, 0, replaces="cn-unicom:1"),
        began("cn-unicom:1", ONE, 0, replaces="cn-mobile:1"),
    )
    assert [one.outcome for one in outcomes] == ["applied", "rejected"]
