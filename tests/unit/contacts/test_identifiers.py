"""Carrier identifiers: refused when wrong, warned when doubtful."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contactmesh.contacts import (
    ContactError,
    IdentifierError,
    RegistrationRef,
    read_carrier_id,
    read_iccid,
    read_imsi,
    read_plmn,
    read_registration_ref,
)


@pytest.mark.parametrize(
    ("text", "value", "luhn_ok"),
    [
        ("8944 1100 6837 0012 3450", "89441100683700123450", True),
        ("89441100683700123450F", "89441100683700123450", True),
        ("8944-1100-6837-0012-3454", "89441100683700123454", False),
        ("898600MFSSYYGXXXXXXP", "898600MFSSYYGXXXXXXP", None),
    ],
)
def test_an_iccid_with_a_wrong_check_digit_is_doubtful_and_no_more(
    text: str, value: str, luhn_ok: bool | None
) -> None:
    iccid = read_iccid(text)
    assert (iccid.value, iccid.luhn_ok) == (value, luhn_ok)
    assert bool(iccid.warnings) == (luhn_ok is not True)


def test_an_imsi_is_taken_apart_and_not_shown() -> None:
    imsi = read_imsi("460001234567890")
    assert (imsi.mcc, imsi.mnc, imsi.warnings) == ("460", "00", ())
    assert "1234567890" not in repr(imsi)
    unknown = read_imsi("999991234567890")
    assert unknown.mcc == "999"
    with pytest.raises(IdentifierError) as caught:
        read_imsi("46000123")
    assert "123" not in str(caught.value)


def test_leading_zeros_of_a_network_code_matter() -> None:
    assert read_plmn("310-26") != read_plmn("310-026")
    assert str(read_plmn("460-00")) == "460-00"


def test_a_plmn_without_hyphen_is_taken_apart_only_by_the_table() -> None:
    assert str(read_plmn("46000")) == "460-00"
    assert read_plmn("46000").warnings
    assert str(read_plmn("310260")) == "310-260"
    assert read_plmn("460-99").warnings


def test_a_registration_reference_is_carrier_and_sequence() -> None:
    ref = read_registration_ref("cn-mobile:1048577")
    assert ref == RegistrationRef("cn-mobile", "1048577")
    assert str(ref) == "cn-mobile:1048577"
    assert read_carrier_id("cn-mobile") == "cn-mobile"


@pytest.mark.parametrize(
    ("read", "texts"),
    [
        (read_iccid, ["", "12", "8986", "89" + "0" * 30, "7944110068370012345"]),
        (read_imsi, ["", "abc", "1234567890123", "1234567890123456"]),
        (read_plmn, ["", "460", "46-000", "460-0", "460-0000", "000000"]),
        (read_carrier_id, ["", "C", "CN-Mobile", "1cn", "a" * 33, "cn_mobile"]),
        (read_registration_ref, ["", "cn-mobile", "cn-mobile:0", "cn-mobile:01", "x:1", "a b:1"]),
    ],
)
def test_what_is_wrong_is_refused_and_what_is_expected_said(
    read: Callable[[str], object], texts: list[str]
) -> None:
    for text in texts:
        with pytest.raises(IdentifierError, match=r"expected|hyphen") as caught:
            read(text)
        assert isinstance(caught.value, ContactError)
