"""The sample exports of real producers: nothing of them is lost, which an inventory shows.

The inventory reads content lines with code of its own: the reader under test could not show what
it overlooks itself.
"""

from __future__ import annotations

import quopri
import re
from collections import Counter
from pathlib import Path
from typing import Literal

import pytest
from tests.unit.contacts.vcards import again, cards_and_damage, oddities, read_all

from contactmesh.contacts import Card, check_size, display_name, write_vcards

CARDS_IN = {
    "John_Doe_ANDROID": 6,
    "gmail-list": 3,
    "rfc2426-example": 2,
}
RENAMED = {
    "X-MS-ANNIVERSARY": "ANNIVERSARY",
    "X-EVOLUTION-ANNIVERSARY": "ANNIVERSARY",
    "X-ANNIVERSARY": "ANNIVERSARY",
}
NOT_CONTENT = {"BEGIN", "END", "VERSION"}

Version = Literal["3.0", "4.0"]
Inventory = Counter[tuple[str, str]]


def content_lines(data: bytes) -> list[tuple[str, str]]:
    """Heads and decoded values, in a way as plain as possible."""
    text = re.sub(rb"\r*\n", b"\n", data)
    text = re.sub(
        rb"(?m)^[^:\n]*QUOTED-PRINTABLE[^:\n]*:(?:.*=\n)+",
        lambda match: match[0].replace(b"=\n", b""),
        text,
    )
    text = re.sub(rb"\n[ \t]", b"", text)
    lines = []
    for line in text.split(b"\n"):
        head, colon, value = line.partition(b":")
        if b'"' in head and head.count(b'"') % 2:
            more, _, value = value.partition(b":")
            head += b":" + more
        if not colon:
            continue
        if b"QUOTED-PRINTABLE" in head.upper():
            decoded = quopri.decodestring(value)
            try:
                decoded.decode()
            except UnicodeDecodeError:
                decoded = value
            value = decoded.replace(b"\r\n", b"\\n").replace(b"\n", b"\\n")
        lines.append((head.decode(), value.decode()))
    return lines


def atoms(value: str) -> list[str]:
    """The parts of a value, without escapes, dates without hyphens, base64 without its wrapping."""
    value = re.sub(r"^data:[^,]*;base64,", "", value.replace(" ", ""))
    if re.fullmatch(r"[-0-9:TZ]{8,}", value):
        value = re.sub(r"[-:]", "", value)
    text = re.sub(r"\\(.)", r"\1", value.replace("\\n", "\n"))
    return [part for part in re.split("[;,]", text) if part]


def inventory(data: bytes) -> Inventory:
    found: Inventory = Counter()
    for head, value in content_lines(data):
        name = head.partition(";")[0].rpartition(".")[2].upper()
        if name not in NOT_CONTENT:
            found.update((RENAMED.get(name, name), atom) for atom in atoms(value))
        # Version 4.0 has no LABEL of its own: it is a parameter of ADR.
        for label in re.findall('LABEL="?([^";]*)', head):
            found.update(("LABEL", atom) for atom in atoms(label.replace("^n", "\n")))
    return found


def parameters(data: bytes) -> set[str]:
    """All parameter values, in small letters, except how a value is encoded."""
    words: set[str] = set()
    for head, _ in content_lines(data):
        for part in re.findall(r';((?:"[^"]*"|[^;"])*)', head):
            name, equals, text = part.partition("=")
            if (name if equals else "").upper() in {"ENCODING", "CHARSET", "VALUE"}:
                continue
            words |= {word.strip('"').lower() for word in (text if equals else name).split(",")}
    return words - {"quoted-printable", "base64", "b", "jpeg", "x509"}


def cards_of(sample: Path) -> list[Card]:
    cards, damage = cards_and_damage(sample.read_bytes())
    assert damage == []
    return cards


def test_every_card_is_read(sample: Path) -> None:
    cards = cards_of(sample)
    assert len(cards) == CARDS_IN.get(sample.stem, 1)
    for card in cards:
        assert display_name(card)
        check_size(card)


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_nothing_is_lost(sample: Path, version: Version) -> None:
    before = sample.read_bytes()
    after = b"".join(write_vcards(cards_of(sample), version=version))
    assert not inventory(before) - inventory(after)
    kept = parameters(after) | {"pref"}
    if "UTF-8" in before.decode() and "charset=utf-8" in after.decode().lower():
        kept.add("utf-8")
    assert parameters(before) - {"date"} <= kept


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_nothing_is_made_up(sample: Path, version: Version) -> None:
    before, after = (
        inventory(data)
        for data in (
            sample.read_bytes(),
            b"".join(write_vcards(cards_of(sample), version=version)),
        )
    )
    added = {name for name, _ in after - before}
    assert added <= {"UID", "FN", "N", "PHOTO", "KEY", "X-ABLABEL"}


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_export_and_import_is_a_fixed_point(sample: Path, version: Version) -> None:
    for card in cards_of(sample):
        assert again(card, version) == card
        assert again(again(card, "3.0"), "4.0") == card


def test_reading_twice_gives_the_same_cards(sample: Path) -> None:
    data = sample.read_bytes()
    assert read_all(data) == read_all(data)


def test_watching_for_oddities_changes_nothing(sample: Path) -> None:
    data = sample.read_bytes()
    assert read_all(data, on_oddity=lambda _: None) == read_all(data)


def test_a_value_that_is_no_utf_8_is_odd_and_kept(sample: Path) -> None:
    found = [each for each in oddities(sample.read_bytes()) if "utf-8" in each.reason]
    assert bool(found) == (sample.stem == "John_Doe_ANDROID")
