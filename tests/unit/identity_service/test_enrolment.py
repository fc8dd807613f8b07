"""Codes: minted within limits, traded once, dead after five wrong guesses."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contracts.errors import ErrorCode, Refusal
from identity_service.domain.enrolment import (
    MAX_WRONG_GUESSES,
    PUBLIC_BYTES,
    SECRET_BYTES,
    Code,
    CodeText,
    guess,
    mint,
)
from identity_service.domain.secret import SALT_BYTES
from identity_service.domain.user import Limits, User

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LIMITS = Limits(terminals=2, open_codes=2)
ADA = User("ada", "Ada", registered_at=NOW)
TEXT = CodeText.drawn(b"12345", b"0123456789")
WRONG = replace(TEXT, secret="wrong")


def minted(codes: list[Code] | None = None) -> Code:
    return mint(
        ADA,
        codes or [],
        TEXT,
        salt=b"s" * SALT_BYTES,
        lifetime=timedelta(hours=24),
        limits=LIMITS,
        now=NOW,
    )


def refused(code: Code | None, text: CodeText = TEXT, now: datetime = NOW) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        guess(code, text, now)
    return refusal.value


def test_right_code_is_used_by_being_shown() -> None:
    tried = guess(minted(), TEXT, NOW)
    assert tried.right
    assert refused(tried.code).body.code is ErrorCode.UNAUTHENTICATED


def test_wrong_guesses_count_until_the_code_is_dead() -> None:
    code = minted()
    for number in range(1, MAX_WRONG_GUESSES + 1):
        tried = guess(code, WRONG, NOW)
        assert not tried.right
        code = tried.code
        assert code.wrong_guesses == number
    refused(code)


def test_code_ends_with_its_lifetime() -> None:
    code = minted()
    assert guess(code, TEXT, NOW + timedelta(hours=24, microseconds=-1)).right
    refused(code, now=NOW + timedelta(hours=24))


def test_no_refusal_tells_why() -> None:
    used = guess(minted(), TEXT, NOW).code
    expired = replace(minted(), expires_at=NOW)
    dead = replace(minted(), wrong_guesses=MAX_WRONG_GUESSES)
    bodies = [refused(code).body for code in (None, used, expired, dead)]
    assert all(body == bodies[0] for body in bodies)


def test_only_open_codes_count_against_the_limit() -> None:
    code = minted()
    closed = [
        replace(code, used=True),
        replace(code, expires_at=NOW),
        replace(code, wrong_guesses=MAX_WRONG_GUESSES),
    ]
    assert minted([code, *closed]).user_id == "ada"
    with pytest.raises(Refusal) as refusal:
        minted([code, code, *closed])
    assert refusal.value.body.code is ErrorCode.QUOTA_EXCEEDED
    assert refusal.value.body.details == {"limit": 2}


def test_secret_part_is_not_stored() -> None:
    assert TEXT.secret not in repr(minted())
    assert TEXT.public in repr(minted())


@given(
    public=st.binary(min_size=PUBLIC_BYTES, max_size=PUBLIC_BYTES),
    secret=st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES),
)
def test_code_survives_being_written_down(public: bytes, secret: bytes) -> None:
    text = CodeText.drawn(public, secret)
    assert len(text.public) == 8
    assert CodeText.parse(f" {str(text).upper()}\n") == text


@given(st.text())
def test_any_text_can_be_tried_as_a_code(text: str) -> None:
    refused(None, CodeText.parse(text))
