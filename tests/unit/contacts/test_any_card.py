"""What holds for any card and any bytes."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.contacts.strategies import CARDS, TEXTS
from tests.unit.contacts.vcards import again, read_all

from contactmesh.contacts import (
    Card,
    Damage,
    canonical,
    changed_fields,
    digest,
    display_name,
    read_vcards,
    write_vcards,
)

quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
thorough = settings(quick, max_examples=5000)

Version = Literal["3.0", "4.0"]
VERSIONS: tuple[Version, ...] = ("3.0", "4.0")


def _survives(card: Card, version: Literal["3.0", "4.0"]) -> None:
    read = again(card, version)
    assert canonical(read.to_json()) == canonical(card.to_json())
    for name in ("uid", "version", "created", "updated", "prodId"):
        assert read.to_json().get(name) == card.to_json().get(name)
    assert digest(read) == digest(card)
    assert changed_fields(card, read) == ()
    assert again(read, version) == read


@quick
@given(CARDS, st.sampled_from(VERSIONS))
def test_any_card_survives_vcard_and_back(card: Card, version: Literal["3.0", "4.0"]) -> None:
    _survives(card, version)


@pytest.mark.long
@pytest.mark.timeout(1800)
@thorough
@given(CARDS, st.sampled_from(VERSIONS))
def test_any_card_survives_vcard_and_back_at_length(
    card: Card, version: Literal["3.0", "4.0"]
) -> None:
    _survives(card, version)


@quick
@given(CARDS)
def test_json_and_back_changes_nothing(card: Card) -> None:
    assert Card.model_validate(card.to_json()) == card
    assert Card.model_validate_json(json.dumps(card.to_json())) == card


@quick
@given(CARDS, st.sampled_from(VERSIONS))
def test_what_is_written_is_a_vcard(card: Card, version: Literal["3.0", "4.0"]) -> None:
    (data,) = write_vcards([card], version=version)
    text = data.decode()
    assert text.startswith(f"BEGIN:VCARD\r\nVERSION:{version}\r\n")
    assert text.endswith("\r\nEND:VCARD\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    assert text.count("\r\nFN") >= 1


@quick
@given(CARDS)
def test_a_name_to_show_can_always_be_had(card: Card) -> None:
    assert display_name(card) == display_name(card).strip()


LINES = st.one_of(
    st.sampled_from(
        [
            b"BEGIN:VCARD", b"END:VCARD", b"VERSION:3.0", b"VERSION:2.1", b"VERSION:4.0",
            b"begin:vcard", b"FN:A", b"AGENT:", b" folded", b"=E7=8E=",
            b"NOTE;ENCODING=QUOTED-PRINTABLE:=E7=",
            b"PHOTO;ENCODING=b:", b"/9j/4AAQ", b"item1.X-ABLabel:x", b"item1.TEL:1", b":", b";:",
            b"", b'X;A="b:c', b"JSPROP;JSPTR=phones:5", b"JSPROP;JSPTR=a/b:{", b"BDAY:--0229",
            b"JSPROP:" + b"[" * 300, b"N:\\", b"UID:1", b"UID:", b"TEL;CHARSET=rot13:1",
            b"JSPROP;JSPTR=name:null", b'JSPROP;JSPTR=name:{"full":1}', b"REV:never",
        ]
    ),
    st.binary(max_size=30),
    TEXTS.map(lambda text: f"NOTE;LANGUAGE={text}:{text}".encode("utf-8", "replace")),
)  # fmt: skip
FILES = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda lines, end: end.join(lines),
        st.lists(LINES, max_size=20),
        st.sampled_from([b"\r\n", b"\n", b"\r", b"\r\r\n"]),
    ),
)


def _reads_or_reports(data: bytes) -> None:
    for item in read_vcards(data):
        assert isinstance(item, Card | Damage)
        if isinstance(item, Card):
            _survives(item, "4.0")
        else:
            assert 1 <= item.line <= data.count(b"\n") + data.count(b"\r") + 1


@settings(quick, max_examples=200)
@given(FILES)
def test_any_bytes_are_read_or_reported(data: bytes) -> None:
    _reads_or_reports(data)


@pytest.mark.long
@pytest.mark.timeout(1800)
@thorough
@given(FILES)
def test_any_bytes_are_read_or_reported_at_length(data: bytes) -> None:
    _reads_or_reports(data)


@quick
@given(FILES)
def test_a_damaged_file_before_a_card_does_not_take_the_card_with_it(data: bytes) -> None:
    items = read_all(data + b"\r\nBEGIN:VCARD\r\nVERSION:3.0\r\nFN:last one\r\nEND:VCARD\r\n")
    last = items[-1]
    assert isinstance(last, Card)
    assert display_name(last) == "last one"
