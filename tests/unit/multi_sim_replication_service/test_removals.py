"""Removals are forgotten after a time, and never bring a contact back by that (rows M3, M4)."""

from datetime import timedelta

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    MOBILE,
    TABLET,
    TELECOM,
    UNICOM,
    Spaces,
)

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import FollowBook
from contactmesh.contracts.multi_sim.records import SpaceKind
from multi_sim_replication_service.domain.documents import Limits

pytestmark = pytest.mark.claim("M4")


def _removals(spaces: Spaces, carrier_id: str, kind: SpaceKind = SpaceKind.SHARED) -> int:
    return spaces.account(carrier_id).space(kind).removed


def _stores_and_removes(spaces: Spaces, sim_id: str, kind: SpaceKind) -> None:
    for number in range(100):
        spaces.stores(sim_id, {f"c{number}": "1"}, kind)
        spaces.stores(sim_id, {f"c{number}": None}, kind)


@pytest.mark.parametrize("months", [1, 2, 5], ids=lambda number: f"{number * 91} days later")
@pytest.mark.parametrize("copied", [True, False], ids=["copied once", "of its own"])
def test_a_consent_after_months_brings_no_removed_contact_back(months: int, copied: bool) -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.registers(TELECOM, 3)
    spaces.agrees(MOBILE, TELECOM)
    if copied:
        spaces.agrees(UNICOM)
        spaces.stores(here, {"an": "1", "bo": "1"})
        spaces.settle()
        spaces.agrees(UNICOM, consent=False)
    else:
        spaces.stores(there, {"an": "1", "bo": "1"}, terminal=TABLET)
    spaces.settle()
    spaces.stores(here, {"an": None})
    spaces.settle()
    for _ in range(months):
        spaces.forgets_removals()
    assert set(spaces.holds(UNICOM)) == {"an", "bo"}, "it was not told"
    spaces.agrees(MOBILE, TELECOM, consent=False)
    spaces.agrees(MOBILE, TELECOM, UNICOM)
    spaces.settle()
    for carrier_id in (MOBILE, UNICOM, TELECOM):
        assert set(spaces.holds(carrier_id)) == {"bo"}
    spaces.forgets_removals()
    assert [_removals(spaces, one) for one in (MOBILE, UNICOM, TELECOM)] == [0, 0, 0]


def test_a_removal_that_others_know_of_or_overtook_is_forgotten() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.agrees(UNICOM)
    spaces.stores(here, {"an": "1", "bo": "1"})
    spaces.settle()
    spaces.stores(here, {"an": None})
    spaces.settle()
    spaces.stores(there, {"an": "2"}, terminal=TABLET)  # cn-mobile does not agree
    spaces.settle()
    assert _removals(spaces, MOBILE) == 1
    spaces.forgets_removals()
    assert _removals(spaces, MOBILE) == 0


@pytest.mark.claim("M3")
@pytest.mark.parametrize("kind", SpaceKind)
def test_storing_and_removing_ever_new_contacts_comes_to_an_end(kind: SpaceKind) -> None:
    spaces = Spaces(limits=Limits(contacts=5))
    sim = spaces.registers(MOBILE, 1)
    spaces.stores(sim, dict.fromkeys(("a", "b"), "1"), kind)
    with pytest.raises(Refusal) as refused:
        _stores_and_removes(spaces, sim, kind)
    assert refused.value.body.code is ErrorCode.QUOTA_EXCEEDED
    assert refused.value.body.details == {"limit": 10}
    assert "forgotten after 90 days" in refused.value.body.message
    assert _removals(spaces, MOBILE, kind) == 8
    spaces.stores(sim, {"c7": "1", "a": "2", "b": None}, kind)
    assert _removals(spaces, MOBILE, kind) == 8, "what it had may be stored, changed and removed"
    spaces.forgets_removals()
    assert _removals(spaces, MOBILE, kind) == 0
    spaces.stores(sim, {"d": "1"}, kind)
    assert set(spaces.holds(MOBILE, kind)) == {"a", "c7", "d"}


@pytest.mark.claim("M3")
def test_a_contact_that_is_shared_again_is_remembered_as_removed_nowhere() -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    spaces.stores(sim, {"an": "1"}, SpaceKind.PRIVATE)
    spaces.stores(sim, {"an": None}, SpaceKind.PRIVATE)
    assert _removals(spaces, MOBILE, SpaceKind.PRIVATE) == 1
    spaces.stores(sim, {"an": "1"})
    assert _removals(spaces, MOBILE, SpaceKind.PRIVATE) == 0


def test_removals_of_a_contact_are_forgotten_together_so_that_agreeing_accounts_stay_the_same() -> (
    None
):
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.agrees(MOBILE)
    spaces.book_changes("an", "1")
    spaces.under_way.clear()
    spaces.stores(there, {"an": "1"}, terminal=TABLET)
    spaces.settle()
    spaces.stores(here, {"an": None})
    spaces.now += timedelta(days=60)
    spaces.agrees(UNICOM)
    spaces.settle()
    assert spaces.holds(UNICOM) == {}, "it learnt of the removal late"
    spaces.now -= timedelta(days=60 - 1)
    spaces.forgets_removals()
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    spaces.settle()
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == {}
    spaces.forgets_removals()
    assert [_removals(spaces, one) for one in (MOBILE, UNICOM)] == [0, 0]
