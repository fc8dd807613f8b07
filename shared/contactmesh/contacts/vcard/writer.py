"""Writing vCard 3.0 and 4.0, checked by reading back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final, Literal

from pydantic import JsonValue

from contactmesh.contacts.canonical import canonical
from contactmesh.contacts.groups import keywords_from_groups
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.patch import make_patch
from contactmesh.contacts.vcard.content import escape, param_text
from contactmesh.contacts.vcard.damage import DamagedCard
from contactmesh.contacts.vcard.folding import UNWRITABLE, clean, long_lines, octets
from contactmesh.contacts.vcard.from_jscontact import GroupStyle, lines_from
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.to_jscontact import NeedsCare, read_lines

_EXACT: Final = ("version", "uid", "created", "updated", "prodId")


def write_vcards(
    cards: Iterable[Card],
    *,
    version: Literal["3.0", "4.0"] = "4.0",
    group_style: GroupStyle = "kind",
) -> Iterator[bytes]:
    """Write cards as vCards.

    A card with anything out of the ordinary is read back as it was written; what vCard has no
    place for, or would say otherwise, is added as JSPROP (RFC 9555, section 3.2.1), so that
    reading gives the same card again.

    Args:
        cards: the cards, taken one at a time; `categories` has to hold all of them.
        version: the vCard version.
        group_style: how groups are written.

    Yields:
        The bytes of one vCard, lines ending in CRLF and folded at 75 octets.
    """
    for card in keywords_from_groups(cards) if group_style == "categories" else cards:
        yield _written(card, version, group_style)


def _written(card: Card, version: Literal["3.0", "4.0"], group_style: GroupStyle) -> bytes:
    out = lines_from(card.document(), version, group_style)
    lines = out.lines
    long = long_lines(lines)
    if not (clean(lines, long) and out.certain):
        lines += _corrections(lines, card.to_json(), version)
        long = long_lines(lines)
    return octets(lines, long, version)


def _corrections(lines: list[str], members: Members, version: str) -> list[str]:
    """Return the JSPROP lines that say what the lines say wrongly or not at all.

    Lines that cannot be read back are taken out of `lines`.
    """
    again = _read_back(lines, version)
    if again == members:
        return []
    patch: dict[str, JsonValue] = {
        name: members.get(name) for name in _EXACT if members.get(name) != again.get(name)
    }
    patch |= make_patch(canonical(again), canonical(members))
    # A pointer in a parameter cannot hold control characters: the whole property is given.
    whole = {each.partition("/")[0] for each in patch if UNWRITABLE.search(each) is not None}
    if whole:
        patch = {each: new for each, new in patch.items() if each.partition("/")[0] not in whole}
        patch |= {name: members[name] for name in sorted(whole)}
    return [
        f"JSPROP{param_text('JSPTR', pointer)}:{escape(_json(value))}"
        for pointer, value in sorted(patch.items(), key=itemgetter(0))
    ]


def _read_back(lines: list[str], version: str) -> Members:
    while True:
        try:
            return read_lines(lines, version).card
        except DamagedCard as damage:
            del lines[damage.line]
        except NeedsCare:
            lines[:] = [line for line in lines if not _looks_joined(line)]


def _looks_joined(line: str) -> bool:
    """Whether a reader would join the next line to this one."""
    head = line.partition(":")[0].upper()
    return "QUOTED-PRINTABLE" in head or head.rpartition(".")[2].startswith("BEGIN")


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if UNWRITABLE.search(text) is None else json.dumps(value)
