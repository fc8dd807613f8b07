"""Who may look at what (row C7), and how states are shown (row C5)."""

from itertools import product

import pytest
from tests.unit.carrier_registry_service.registry import (
    BO,
    LIN,
    ONE,
    Registry,
    began,
    state_seen,
    usage_seen,
)

from carrier_registry_service.domain.access import (
    NOTHING,
    Access,
    Grant,
    Membership,
    access_of,
)
from carrier_registry_service.domain.checking import NOT_FOUND
from carrier_registry_service.domain.showing import SHOWN
from contactmesh.contracts.carrier import access as commands
from contactmesh.contracts.carrier.check import Checked
from contactmesh.contracts.carrier.records import DataVolume, NetworkState, ShownState
from contactmesh.contracts.errors import ErrorCode

OPEN, BLOCKING = Membership("a", LIN), Membership("b", LIN, frozenset({BO}))


@pytest.mark.claim("C7")
@pytest.mark.parametrize(
    ("details", "state", "usage", "revoked"), list(product([True, False], repeat=4))
)
@pytest.mark.parametrize(
    "shared", [(), (OPEN,), (BLOCKING,), (OPEN, BLOCKING)], ids=["none", "one", "block", "both"]
)
def test_access_matrix(
    *, details: bool, state: bool, usage: bool, revoked: bool, shared: tuple[Membership, ...]
) -> None:
    grant = Grant(LIN, BO, details, state, usage, revoked)
    access = access_of(grant, shared, BO)
    if revoked or BLOCKING in shared or not (details or shared):
        assert access == NOTHING
    else:
        assert access == Access(details=True, state=state, usage=usage)


@pytest.mark.claim("C7")
def test_sharing_a_group_lets_see_the_numbers_and_nothing_more() -> None:
    assert access_of(None, (OPEN,), BO) == Access(details=True)
    assert access_of(None, (), BO) == NOTHING
    assert access_of(None, (OPEN, BLOCKING), BO) == NOTHING
    everything = Grant(LIN, BO, details=True, state=True, usage=True)
    assert access_of(everything, (OPEN,), BO, blocked=True) == NOTHING


@pytest.mark.claim("C7")
def test_a_block_holds_whatever_groups_the_two_still_share() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.shares(LIN, BO)
    registry.grants(Grant(LIN, BO, details=True))
    registry.state.blocked = frozenset({(LIN, BO)})
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.NOT_FOUND
    assert registry.state.access(BO, LIN) == NOTHING
    registry.state.blocked = frozenset({(BO, LIN)})
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)


@pytest.mark.claim("C7")
def test_no_access_and_no_such_person_are_answered_and_logged_alike() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    strangers = {
        "stranger": registry.refused("stranger", "cn-mobile:1"),
        "asks for nobody": registry.refused("asks for nobody", "cn-mobile:1", who="nobody"),
    }
    registry.shares(LIN, BO, blocked=[BO])
    strangers["blocked"] = registry.refused(BO, "cn-mobile:1")
    registry.shares(LIN, "cut off")
    registry.grants(Grant(LIN, "cut off", revoked=True))
    strangers["revoked"] = registry.refused("cut off", "cn-mobile:1")
    assert {error.code for error in strangers.values()} == {ErrorCode.NOT_FOUND}
    assert {error.message for error in strangers.values()} == {NOT_FOUND}
    assert all(error.details == {} for error in strangers.values())
    looks = list(registry.state.looks)
    assert len(looks) == len(strangers)
    assert not any(look.allowed or look.fields for look in looks)
    counted = [registry.state.budget(viewer) for viewer in ("stranger", "asks for nobody", BO)]
    assert {(one.identities, one.failed) for one in counted} == {(1, 0)}


@pytest.mark.claim("C7")
def test_a_grant_holds_until_it_is_revoked_and_a_new_one_takes_that_back() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.does(LIN, commands.Grant(viewer_id=BO))
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)
    registry.does(LIN, commands.RevokeGrant(viewer_id=BO))
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.NOT_FOUND
    registry.shares(LIN, BO)
    assert registry.refused(BO, "cn-mobile:1").code is ErrorCode.NOT_FOUND
    registry.does(LIN, commands.Grant(viewer_id=BO, details=False))
    assert isinstance(registry.ask(BO, "cn-mobile:1").answer, Checked)


MAPPING = {
    NetworkState.POWERED_OFF: ShownState.UNREACHABLE,
    NetworkState.NO_SERVICE: ShownState.UNREACHABLE,
    NetworkState.NO_PAGING_RESPONSE: ShownState.UNREACHABLE,
    NetworkState.SUSPENDED: ShownState.UNREACHABLE,
    NetworkState.IN_CALL: ShownState.IN_CALL,
    NetworkState.BUSY: ShownState.BUSY,
    NetworkState.ONLINE_DATA: ShownState.ONLINE,
    NetworkState.ONLINE_SMS_ONLY: ShownState.SMS_ONLY,
    NetworkState.UNKNOWN: ShownState.UNKNOWN,
}


@pytest.mark.claim("C5")
@pytest.mark.parametrize("seen", NetworkState)
def test_states_are_shown_as_in_the_notes(seen: NetworkState) -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0), state_seen("cn-mobile:1", seen, 3))
    registry.shares(LIN, BO)
    registry.grants(Grant(LIN, BO, state=True))
    answer = registry.ask(BO, "cn-mobile:1").answer
    assert isinstance(answer, Checked)
    (status,) = answer.status
    assert status.state is not None
    assert status.state.state is MAPPING[seen] is SHOWN[seen]
    assert status.usage is None


@pytest.mark.claim("C5")
def test_state_and_usage_have_their_own_grants_and_their_own_times() -> None:
    registry = Registry()
    registry.feed(
        began("cn-mobile:1", ONE, 0),
        state_seen("cn-mobile:1", NetworkState.BUSY, 3),
        state_seen("cn-mobile:1", NetworkState.IN_CALL, 2),
        usage_seen("cn-mobile:1", DataVolume.BELOW_5_GIB, 4),
    )
    registry.shares(LIN, BO)
    for state, usage in product([True, False], repeat=2):
        registry.grants(Grant(LIN, BO, state=state, usage=usage))
        answer = registry.ask(BO, "cn-mobile:1").answer
        assert isinstance(answer, Checked)
        seen = answer.status[0] if answer.status else None
        assert bool(seen and seen.state) is state
        assert bool(seen and seen.usage) is usage
        if seen and seen.state:
            assert (seen.state.state, seen.state.last_status_time.day) == (ShownState.BUSY, 4)
