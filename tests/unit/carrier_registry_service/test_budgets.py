"""How much a viewer may ask (row C7)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.carrier_registry_service.registry import BO, LIN, ONE, Registry, began

from carrier_registry_service.domain.access import Grant
from carrier_registry_service.domain.budgets import Limits
from contactmesh.contracts.carrier.check import Checked
from contactmesh.contracts.errors import ErrorCode


def with_limits(identities: int = 500, failed: int = 20) -> Registry:
    registry = Registry()
    registry.terms = replace(registry.terms, limits=Limits(identities, failed))
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.shares(LIN, BO)
    return registry


@pytest.mark.claim("C7")
def test_a_day_allows_so_many_people_and_the_same_ones_again() -> None:
    registry = with_limits(identities=3)
    for who in ("a1", "a2"):
        assert registry.refused(BO, who=who).code is ErrorCode.NOT_FOUND
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)
    first = registry.now
    error = registry.refused(BO, who="a4")
    assert error.code is ErrorCode.RATE_LIMITED
    wait = error.details["retry_after_seconds"]
    assert 86_390 < wait <= 86_400
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked), "asked about already"
    assert isinstance(registry.ask(BO, who=BO).answer, Checked), "oneself does not count"
    registry.now = first + timedelta(seconds=wait + 1)
    assert registry.refused(BO, who="a4").code is ErrorCode.NOT_FOUND


@pytest.mark.claim("C7")
def test_an_hour_allows_so_many_wrong_references() -> None:
    registry = with_limits(failed=3)
    assert registry.refused(BO, "cn-mobile:7", "cn-mobile:8").code is ErrorCode.NOT_FOUND
    beyond = registry.refused(BO, "cn-mobile:1", "cn-mobile:9", "cn-mobile:10")
    assert beyond.code is ErrorCode.RATE_LIMITED, "not even the right one is answered"
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.RATE_LIMITED
    assert registry.refused(BO, who="nobody").code is ErrorCode.RATE_LIMITED
    registry.now += timedelta(hours=1)
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)


def test_what_is_refused_by_the_budget_is_no_look() -> None:
    registry = with_limits(identities=1)
    registry.refused(BO, who="a1")
    looks = len(list(registry.state.looks))
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.RATE_LIMITED
    assert len(list(registry.state.looks)) == looks


@pytest.mark.claim("C7")
def test_a_check_with_more_wrong_references_than_are_answered_is_a_refused_look() -> None:
    registry = with_limits(failed=2)
    beyond = ("cn-mobile:1", "cn-mobile:7", "cn-mobile:8", "cn-mobile:9")
    assert registry.refused(BO, *beyond).code is ErrorCode.RATE_LIMITED
    (look,) = registry.state.looks
    assert (look.owner_id, look.viewer_id) == (LIN, BO)
    assert (look.allowed, look.fields, look.count) == (False, (), 1)
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.RATE_LIMITED
    assert [one.count for one in registry.state.looks] == [1], "the hour is over before it looks"


@pytest.mark.claim("C7")
def test_looks_of_an_hour_at_the_same_are_one_with_its_first_and_last_time() -> None:
    registry = with_limits()
    registry.now = registry.now.replace(minute=1)
    times = []
    for _ in range(3):
        assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)
        times.append(registry.now)
    registry.refused(BO, "cn-mobile:7")
    registry.refused("a stranger", "cn-mobile:1")
    registry.grants(Grant(LIN, BO, state=True))
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)
    looks = list(registry.state.looks)
    assert [(one.viewer_id, one.fields, one.count) for one in looks] == [
        (BO, ("details",), 3),
        (BO, (), 1),
        ("a stranger", (), 1),
        (BO, ("details", "state"), 1),
    ]
    assert (looks[0].at, looks[0].last_at) == (times[0], times[-1])
    registry.now = registry.now.replace(minute=0) + timedelta(hours=1)
    registry.ask(BO, "cn-mobile:1")
    assert len(list(registry.state.looks)) == len(looks) + 1, "the next hour is another line"
