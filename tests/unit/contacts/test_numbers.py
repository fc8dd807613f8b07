"""Phone numbers: what they are, and when two of them are one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactmesh.contacts import NumberKind, match_key, range_holder, read_number, region_of


@pytest.mark.parametrize(
    ("text", "region", "kind", "key"),
    [
        ("+1 650-253-0000", None, NumberKind.COMPLETE, "+16502530000"),
        ("tel:+1-650-253-0000;ext=12", None, NumberKind.COMPLETE, "+16502530000"),
        ("tel:253-0000;phone-context=+1650", None, NumberKind.COMPLETE, "+16502530000"),
        ("011 86 138 0013 8000", "US", NumberKind.COMPLETE, "+8613800138000"),
        ("0039 06 1234567", None, NumberKind.COMPLETE, "+39061234567"),
        ("650-253-0000", None, NumberKind.LOCAL, None),
        ("253-0000", "US", NumberKind.LOCAL, None),
        ("4008 123 123", "CN", NumberKind.COMPLETE, "+864008123123"),
        ("+86 10648 1234 5678", None, NumberKind.COMPLETE, "+861064812345678"),
        ("10086", "CN", NumberKind.SHORT_CODE, "short:10086"),
        ("106 9000 1234 5678", "CN", NumberKind.SHORT_CODE, "short:106900012345678"),
        ("*#06#", None, NumberKind.SERVICE_CODE, "code:*#06#"),
        ("**21*13800138000#", "CN", NumberKind.SERVICE_CODE, "code:**21*13800138000#"),
        ("CMCC", "CN", NumberKind.OTHER, None),
        ("", "CN", NumberKind.OTHER, None),
        ("+", None, NumberKind.OTHER, None),
        ("1" * 300, "CN", NumberKind.OTHER, None),
    ],
)
def test_what_a_number_is(text: str, region: str | None, kind: NumberKind, key: str | None) -> None:
    number = read_number(text, region)
    assert (number.kind, number.key) == (kind, key)


@pytest.mark.parametrize(
    ("text", "extension", "post_dial"),
    [
        ("+16502530000;ext=12", "12", None),
        ("+1 650 253 0000 x12", "12", None),
        ("010-12345678转801", "801", None),
        ("+16502530000,,12#", None, ",,12#"),
        ("+16502530000p12", None, "p12"),
        ("+16502530000", None, None),
    ],
)
def test_extension_and_what_is_dialled_after_a_pause_are_told_apart(
    text: str, extension: str | None, post_dial: str | None
) -> None:
    number = read_number(text, "CN")
    assert (number.extension, number.post_dial) == (extension, post_dial)
    assert number.kind is NumberKind.COMPLETE


def test_a_number_in_no_known_range_is_doubtful_and_no_more() -> None:
    assert read_number("+861064812345678").doubtful
    assert read_number("+861064812345678").key is not None
    assert not read_number("+8613800138000").doubtful


@pytest.mark.parametrize(
    ("number", "region"),
    [
        ("+8613800138000", "CN"),
        ("+16502530000", "US"),
        ("+447700900123", "GB"),
        ("+870773111632", None),
        ("+9990000", None),
        ("13800138000", None),
    ],
)
def test_the_country_of_a_complete_number(number: str, region: str | None) -> None:
    assert region_of(number) == region


def test_the_range_holder_is_a_name_in_the_language_asked_for() -> None:
    assert range_holder("13800138000", "CN") == "China Mobile"
    assert range_holder("13800138000", "CN", "zh") == "中国移动"
    assert range_holder("10086", "CN") is None


DIGITS = ["0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९"]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["13800138000", "15912345678", "18612345678"]),
    st.sampled_from(DIGITS),
    st.sampled_from(["", "+86", "＋86", "0086", "86"]),
    st.lists(
        st.sampled_from(["", " ", "-", "\u00a0", "\u200b", "\u202d", "(", ")", "."]), min_size=16
    ),
    st.sampled_from(["", ",,5", ";9#", "p1"]),
)
def test_every_way_to_write_a_complete_number_gives_one_key(
    national: str, digits: str, prefix: str, between: list[str], after: str
) -> None:
    written = (prefix + national).translate(str.maketrans("0123456789", digits))
    text = "".join(char + gap for char, gap in zip(written, between, strict=False)) + written[16:]
    assert match_key(text + after, "CN") == f"+86{national}"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.sampled_from([None, "CN", "US", "XX"]))
def test_any_text_has_a_key_or_none(text: str, region: str | None) -> None:
    key = match_key(text, region)
    assert key is None or key[0] == "+" or key.split(":")[0] in {"short", "code"}
    if key is not None and key[0] == "+":
        assert match_key(key) == key
