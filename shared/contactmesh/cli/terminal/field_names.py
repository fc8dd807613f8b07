"""What the fields of a card are called among people; scripts get JSON pointers."""

import re
from collections.abc import Iterable
from typing import Final

from pydantic import JsonValue
from rich.cells import cell_len, set_cell_size

from contactmesh.cli.terminal import texts
from contactmesh.contacts import Card
from contactmesh.terminal.rules.views import CardJson

_MOST_CELLS: Final = 32
"""How much of an entry is told where only a part of it is meant."""

SAYING: Final = (
    "full",
    "number",
    "address",
    "name",
    "note",
    "uri",
    "user",
    "value",
    "date",
    "components",
)
"""Where the entries of a card keep what they say."""


def said(value: JsonValue) -> str:
    """What a part of a card says, in one line of text."""
    if isinstance(value, dict):
        for name in SAYING:
            text = value.get(name)
            if text:
                return said(text)
        parts = {name: part for name, part in value.items() if name != "@type"}
        # What is said of contexts and features is their names.
        return ", ".join(name if part is True else said(part) for name, part in parts.items())
    if isinstance(value, list):
        return " ".join(said(part) for part in value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else " ".join(str(value).removeprefix("tel:").split())


def at(card: CardJson, pointer: str) -> JsonValue:
    """What a card has at a JSON pointer without the first slash, none if nothing."""
    value: JsonValue = dict(card)
    for step in _steps(pointer):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def field_name(pointer: str, cards: Iterable[Card | None] = ()) -> str:
    """What a field is called, as in 'number' or 'number 13800138000, label'.

    Args:
        pointer: the field, as a JSON pointer without the first slash.
        cards: those in which it may be; they tell which of several entries is meant.
    """
    collection, *within = _steps(pointer)
    name = texts.FIELDS.get(collection, _spaced(collection))
    if len(within) < 2 or within[1] in SAYING:
        return name
    part = texts.PARTS.get(within[1], _spaced(within[1]))
    found = (_entry(card, pointer) for card in cards if card is not None)
    entry = next((text for text in found if text), None)
    if entry is None:
        return texts.PART_OF.format(field=name, part=part)
    return texts.PART_OF_ENTRY.format(field=name, entry=entry, part=part)


def _entry(card: Card, pointer: str) -> str:
    """What the entry says of which a field is a part."""
    text = said(at(card.to_json(), "/".join(pointer.split("/")[:2])))
    if cell_len(text) <= _MOST_CELLS:
        return text
    return f"{set_cell_size(text, _MOST_CELLS - 1).rstrip()}…"


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]


def _spaced(name: str) -> str:
    """The standard's name of what has no name here, in small words."""
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()
