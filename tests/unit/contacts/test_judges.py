"""Independent readers find in our vCards what we meant to write.

`vobject` always judges; `ical.js` and `vcard4` do where node is installed and
`npm ci --prefix tests/judges` has been run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest
import vobject
from tests.unit.contacts.conftest import sample_files
from tests.unit.contacts.vcards import cards_and_damage, read_one, vcard

from contactmesh.contacts import Card, write_vcards

JUDGES = Path(__file__).parents[2] / "judges"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_packages = pytest.mark.skipif(
    not (JUDGES / "node_modules").is_dir(),
    reason="the judges are not installed: npm ci --prefix tests/judges",
)

TRICKY = vcard(
    "FN:王小明\\, Dr.\\; 😀",
    "N:王;小明;;Dr.;",
    "TEL;TYPE=CELL:+8613800138000\\,\\,5#",
    "TEL;TYPE=WORK,VOICE:010 12345678",
    "EMAIL:w@example.com",
    "NOTE:" + "一行很长的备注 " * 12 + "\\nsecond line\\\\ends",
    "item1.URL:https://example.com/?a=1\\,2",
    "item1.X-ABLabel:_$!<HomePage>!$_",
    "X-CUSTOM;X-P=a^'b:kept",
)
OLDER_THAN_RFC_9554 = [path for path in sample_files() if path.stem != "fullcontact"]

Found = list[tuple[str, list[str]]]


def meant(card: Card) -> set[tuple[str, str]]:
    values: set[tuple[str, str]] = set()
    if card.name is not None and card.name.full:
        values.add(("fn", card.name.full))
    values |= {("tel", phone.number) for phone in (card.phones or {}).values()}
    values |= {("email", email.address) for email in (card.emails or {}).values()}
    values |= {("note", note.note) for note in (card.notes or {}).values()}
    return values


def agrees(card: Card, found: Found) -> None:
    texts = {(name, value) for name, values in found for value in values}
    missing = meant(card) - texts
    assert not missing
    names = [name for name, _ in found]
    assert names.count("tel") == len(card.phones or {})
    assert names.count("email") == len(card.emails or {})


def readable(path: Path) -> list[Card]:
    """The cards of a sample, without those that hold broken text or a broken photo."""
    cards, _ = cards_and_damage(path.read_bytes())
    return [
        card
        for card in cards
        if "quoted-printable" not in str(card.v_card_props)
        and all(is_base64(medium.uri) for medium in (card.media or {}).values())
    ]


def is_base64(uri: str) -> bool:
    head, _, content = uri.partition(";base64,")
    return not head.startswith("data:") or len(content.rstrip("=")) % 4 != 1


def ask(judge: str, data: bytes) -> list[Found]:
    assert NODE is not None
    answer = subprocess.run(
        [NODE, JUDGES / "read_vcards.mjs", judge],
        input=data,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert answer.returncode == 0, answer.stderr.decode()
    cards: list[Found] = json.loads(answer.stdout)
    return cards


def written(cards: list[Card], version: Literal["3.0", "4.0"]) -> bytes:
    return b"".join(write_vcards(cards, version=version))


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_vobject_reads_the_same(sample: Path, version: Literal["3.0", "4.0"]) -> None:
    cards = readable(sample)
    components = list(vobject.readComponents(written(cards, version).decode()))
    assert len(components) == len(cards)
    for card, component in zip(cards, components, strict=True):
        found = [
            (line.name.lower(), [line.value])
            for line in component.getChildren()
            if isinstance(line.value, str)
        ]
        agrees(card, found)


def test_vobject_reads_a_tricky_card() -> None:
    card = read_one(TRICKY)
    component = vobject.readOne(written([card], "3.0").decode())
    agrees(
        card,
        [
            (line.name.lower(), [line.value])
            for line in component.getChildren()
            if isinstance(line.value, str)
        ],
    )
    assert (component.n.value.family, component.n.value.given) == ("王", "小明")


@needs_node
@needs_packages
@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_ical_js_reads_the_same(version: Literal["3.0", "4.0"]) -> None:
    cards = [read_one(TRICKY)]
    for path in sample_files():
        cards += readable(path)
    found = ask("ical.js", written(cards, version))
    assert len(found) == len(cards)
    for card, each in zip(cards, found, strict=True):
        # It leaves `\\;` as it is in version 3.0, where RFC 2426 demands that it is written so.
        agrees(card, [(name, [text.replace("\\;", ";") for text in texts]) for name, texts in each])


@needs_node
@needs_packages
def test_vcard4_reads_what_is_no_newer_than_itself() -> None:
    cards = []
    for path in OLDER_THAN_RFC_9554:
        cards += readable(path)
    cards = [card for card in cards if card.name is not None and card.name.full]
    found = ask("vcard4", written(cards, "4.0"))
    assert len(found) == len(cards)
