"""Users, their terminals, and the secrets of these."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import TerminalId, is_terminal_id, user_of
from contactmesh.contracts.identity import RegisterUser
from identity_service.domain.secret import (
    SALT_BYTES,
    TERMINAL_SECRET_BYTES,
    SecretHash,
    secret_text,
)
from identity_service.domain.terminal import (
    TERMINAL_SUFFIX_BYTES,
    Terminal,
    terminal_id,
)
from identity_service.domain.upkeep import Upkeep, after_revoking, if_abandoned
from identity_service.domain.user import Limits, User, register

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ADA = User("ada", "Ada", registered_at=NOW)


def test_registering_the_same_user_again_changes_nothing() -> None:
    later = NOW + timedelta(days=1)
    assert register(None, RegisterUser(user_id="ada", display_name="Ada"), NOW) == ADA
    assert register(ADA, RegisterUser(user_id="ada", display_name="Ada"), later) is ADA


def test_a_users_id_is_not_given_to_another() -> None:
    with pytest.raises(Refusal) as refusal:
        register(ADA, RegisterUser(user_id="ada", display_name="Adam"), NOW)
    assert refusal.value.body.code is ErrorCode.CONFLICT
    assert "Ada" not in refusal.value.body.message, "names stay out of errors, which are logged"


def test_terminals_are_limited_and_revoking_makes_room() -> None:
    limits = Limits(terminals=1, open_codes=1)
    full = ADA.with_another_terminal(limits)
    with pytest.raises(Refusal) as refusal:
        full.with_another_terminal(limits)
    assert refusal.value.body.code is ErrorCode.QUOTA_EXCEEDED
    assert full.with_a_terminal_less().with_another_terminal(limits) == full


@given(st.binary(min_size=TERMINAL_SUFFIX_BYTES, max_size=TERMINAL_SUFFIX_BYTES))
def test_terminals_id_is_well_formed_and_names_its_user(random: bytes) -> None:
    made = terminal_id("li-wei", random)
    assert TypeAdapter(TerminalId).validate_python(made) == made
    assert is_terminal_id(made)
    assert user_of(made) == "li-wei"


@pytest.mark.parametrize(
    "text", ["", "ada", "guest", "group_service", "ada_aaaaaaaa\n", "_aaaaaaaa"]
)
def test_other_names_are_no_terminals_id(text: str) -> None:
    assert not is_terminal_id(text)


def test_only_its_own_secret_authenticates_and_only_until_it_is_revoked() -> None:
    secret = secret_text(bytes(range(TERMINAL_SECRET_BYTES)))
    stored = SecretHash.of(secret, b"s" * SALT_BYTES)
    terminal = Terminal("ada_aaaaaaaa", "ada", "phone", stored, enrolled_at=NOW)
    assert secret not in repr(terminal)
    assert terminal.authenticates(secret)
    assert not terminal.authenticates(secret[:-1])
    assert not terminal.authenticates("")
    assert not terminal.revoked(NOW).authenticates(secret)


def test_upkeep_after_revoking_is_done_at_once_and_once_more() -> None:
    upkeep = after_revoking("ada_aaaaaaaa", NOW, timedelta(seconds=15))
    assert upkeep.due_at == NOW
    again = upkeep.after(NOW)
    assert again == Upkeep("ada_aaaaaaaa", NOW + timedelta(seconds=15), upkeep.until)
    assert again.after(again.due_at) is None


def test_upkeep_done_late_is_done() -> None:
    upkeep = after_revoking("ada_aaaaaaaa", NOW, timedelta(seconds=15))
    assert upkeep.after(NOW + timedelta(hours=1)) is None


def test_upkeep_of_an_enrolment_waits_until_it_must_be_over() -> None:
    upkeep = if_abandoned("ada_aaaaaaaa", NOW)
    assert upkeep.due_at >= NOW + timedelta(minutes=1)
    assert upkeep.after(upkeep.due_at) is None
