"""How many grants and dial orders of their own a user may keep (rows C6 and C7)."""

from dataclasses import replace

import pytest
from tests.unit.carrier_registry_service.registry import LIN, Registry, ref

from carrier_registry_service.domain.quotas import Quotas
from contactmesh.contracts.carrier.access import Grant, RevokeGrant, SetDialOrder
from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.reply import Done

ORDER = (ref("cn-mobile:1"),)


def with_quotas(grants: int = 10_000, dial_orders: int = 10_000) -> Registry:
    registry = Registry()
    registry.terms = replace(registry.terms, quotas=Quotas(grants, dial_orders))
    return registry


def refused(registry: Registry, command: Command, limit: int) -> bool:
    """Whether the quota refuses a command, saying how many there may be and what to do."""
    answer = registry.does(LIN, command).answer
    if not isinstance(answer, Refusal):
        assert answer == Done()
        return False
    assert answer.body.code is ErrorCode.QUOTA_EXCEEDED
    assert answer.body.details == {"limit": limit}
    assert "first" in answer.body.message
    return True


@pytest.mark.claim("C7")
def test_as_many_grants_as_the_quota_and_whatever_frees_one_again() -> None:
    registry = with_quotas(grants=2)
    assert not refused(registry, Grant(viewer_id="v1"), 2)
    assert not refused(registry, Grant(viewer_id="v2"), 2)
    assert refused(registry, Grant(viewer_id="v3"), 2)
    assert registry.state.grants.get((LIN, "v3")) is None
    assert not refused(registry, Grant(viewer_id="v2", state=True), 2), "what there is changes"
    assert not refused(registry, RevokeGrant(viewer_id="v1"), 2)
    assert not refused(registry, Grant(viewer_id="v3"), 2)
    assert refused(registry, Grant(viewer_id="v1"), 2), "that is one more again"
    assert not refused(registry, Grant(viewer_id="v3", details=False), 2)
    assert not refused(registry, Grant(viewer_id="v1"), 2)


@pytest.mark.claim("C7")
def test_revoking_is_always_possible_and_counts_for_nothing() -> None:
    registry = with_quotas(grants=1)
    assert not refused(registry, Grant(viewer_id="v1"), 1)
    for viewer in ("v1", "v2", "v2", "v3"):
        assert not refused(registry, RevokeGrant(viewer_id=viewer), 1)
    assert not refused(registry, Grant(viewer_id="v2", details=False), 1), "takes back a revocation"
    assert not refused(registry, Grant(viewer_id="v2"), 1)
    assert refused(registry, Grant(viewer_id="v3"), 1)
    other = registry.does("mei", Grant(viewer_id="v3"))
    assert other.answer == Done(), "each owner by themselves"


@pytest.mark.claim("C6")
def test_as_many_dial_orders_as_the_quota_and_an_empty_one_frees_one() -> None:
    registry = with_quotas(dial_orders=2)
    assert not refused(registry, SetDialOrder(identity_id="ada", order=ORDER), 2)
    assert not refused(registry, SetDialOrder(identity_id="bea", order=ORDER), 2)
    assert refused(registry, SetDialOrder(identity_id="cai", order=ORDER), 2)
    assert not refused(registry, SetDialOrder(identity_id="cai"), 2), "none there, none kept"
    assert refused(registry, SetDialOrder(identity_id="cai", order=ORDER), 2)
    assert not refused(registry, SetDialOrder(identity_id="ada", order=ORDER * 2), 2)
    assert not refused(registry, SetDialOrder(identity_id="ada"), 2)
    assert not refused(registry, SetDialOrder(identity_id="cai", order=ORDER), 2)
    assert not refused(registry, Grant(viewer_id="ada"), 2), "grants are counted apart"
