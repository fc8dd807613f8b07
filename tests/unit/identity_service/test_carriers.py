"""Carriers have terminals as users have, and can never be taken for one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contactmesh.contracts.carrier.records import CarrierId
from contactmesh.contracts.command import CommandAddress, Role
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import (
    OwnerId,
    TerminalId,
    UserId,
    carrier_of,
    carrier_owner,
    is_terminal_id,
    user_of,
)
from contactmesh.contracts.identity import AddCarrier, RegisterUser
from contactmesh.messaging.topology import COMMANDS, terminal_queue
from identity_service.domain.permissions import MayAccess, MayUseTopic, Realm, allows
from identity_service.domain.terminal import TERMINAL_SUFFIX_BYTES, terminal_id
from identity_service.domain.user import User, add_carrier

NOW = datetime(2030, 1, 1, tzinfo=UTC)
CARRIER_IDS = st.from_regex(r"[a-z][a-z0-9-]{1,31}", fullmatch=True)
USER_IDS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]", fullmatch=True)
SUFFIXES = st.binary(min_size=TERMINAL_SUFFIX_BYTES, max_size=TERMINAL_SUFFIX_BYTES)


@given(CARRIER_IDS, SUFFIXES)
def test_a_carriers_terminal_names_its_carrier(carrier_id: str, random: bytes) -> None:
    made = terminal_id(carrier_owner(carrier_id), random)
    assert TypeAdapter(TerminalId).validate_python(made) == made
    assert is_terminal_id(made)
    sender = CommandAddress.parse(f"command.{made}.carrier_registry_service.feed").sender
    assert (sender.role, sender.carrier_id) == (Role.CARRIER, carrier_id)


@given(CARRIER_IDS)
def test_no_user_can_have_the_id_of_a_carriers_owner(carrier_id: str) -> None:
    owner = carrier_owner(carrier_id)
    assert TypeAdapter(OwnerId).validate_python(owner) == owner
    with pytest.raises(ValidationError):
        TypeAdapter(UserId).validate_python(owner)
    with pytest.raises(ValidationError):
        RegisterUser(user_id=owner, display_name="Ada")


@given(USER_IDS, CARRIER_IDS, SUFFIXES, SUFFIXES)
def test_no_user_shares_a_queue_with_a_carrier(
    user_id: str, carrier_id: str, one: bytes, other: bytes
) -> None:
    of_user = terminal_queue(terminal_id(user_id, one))
    assert of_user != terminal_queue(terminal_id(carrier_owner(carrier_id), other))
    assert carrier_of(user_of(terminal_id(user_id, one))) is None


def test_a_carriers_terminal_has_the_same_narrow_rights() -> None:
    own = "carrier_cn-mobile_abcdefgh"
    realm = Realm(own, "/", COMMANDS, terminal_queue(own))

    def may_send(sender: str) -> bool:
        key = f"command.{sender}.carrier_registry_service.feed"
        return allows(realm, MayUseTopic("/", COMMANDS, "write", key))

    assert may_send(own)
    assert not may_send("carrier_cn-unicom_abcdefgh")
    assert not may_send("ada_abcdefgh")
    assert allows(realm, MayAccess("/", "queue", terminal_queue(own), "read"))
    assert not allows(realm, MayAccess("/", "queue", terminal_queue("ada_abcdefgh"), "read"))


def test_adding_the_same_carrier_again_changes_nothing() -> None:
    request = AddCarrier(carrier_id="cn-mobile", name="China Mobile")
    added = add_carrier(None, request, NOW)
    assert added == User("carrier_cn-mobile", "China Mobile", registered_at=NOW)
    assert add_carrier(added, request, NOW + timedelta(days=1)) is added


def test_a_carriers_id_is_not_given_to_another() -> None:
    added = User("carrier_cn-mobile", "China Mobile", registered_at=NOW)
    with pytest.raises(Refusal) as refusal:
        add_carrier(added, AddCarrier(carrier_id="cn-mobile", name="Somebody else"), NOW)
    assert refusal.value.body.code is ErrorCode.CONFLICT


@pytest.mark.parametrize("wrong", ["1net", "Cn-Mobile", "cn_mobile", "x", "cn mobile", "c" * 33])
def test_what_is_no_carrier_id_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(CarrierId).validate_python(wrong)
