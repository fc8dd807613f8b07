"""What to show for a card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import JsonValue

from contactmesh.contacts.jscontact.card import Card

_ORDER = ("title", "given", "given2", "surname", "surname2", "generation", "credential")

Json = Mapping[str, JsonValue]


def display_name(card: Card) -> str:
    """Return the name to show for a card, which itself is not changed.

    The full name if there is one; else the parts of the name; else a nickname, an organisation,
    an e-mail address, a phone number, whichever comes first; else an empty string.
    """
    return name_shown(card.document())


def name_shown(card: Json) -> str:
    """Return the same for a card as JSON, which is valid."""
    return next((text for each in _candidates(card) if (text := each.strip())), "")


def _candidates(card: Json) -> Iterator[str]:
    name = cast("Json", card.get("name", {}))
    yield str(name.get("full", ""))
    yield _from_parts(name)
    for nickname in _entries(card, "nicknames"):
        yield str(nickname["name"])
    for organization in _entries(card, "organizations"):
        units = [str(unit["name"]) for unit in cast("list[Json]", organization.get("units", []))]
        yield " ".join(part for part in (str(organization.get("name", "")), *units) if part)
    for email in _entries(card, "emails"):
        yield str(email["address"])
    for phone in _entries(card, "phones"):
        yield str(phone["number"]).removeprefix("tel:")


def _entries(card: Json, collection: str) -> Iterator[Json]:
    yield from cast("Mapping[str, Json]", card.get(collection, {})).values()


def _from_parts(name: Json) -> str:
    components = cast("list[dict[str, str]]", name.get("components", []))
    if name.get("isOrdered"):
        separator = name.get("defaultSeparator", " ")
        return _in_order(components, str(separator))
    values = [(part["kind"], part["value"].strip()) for part in components]
    by_kind = {kind: [text for k, text in values if k == kind and text] for kind, _ in values}
    surnames = by_kind.get("surname", [])
    given = by_kind.get("given", [])
    if surnames and given and all(_is_han(text) for text in (*surnames, *given)):
        return "".join(surnames + by_kind.get("given2", []) + given)
    known = [text for kind in _ORDER for text in by_kind.get(kind, ())]
    others = [text for kind, text in values if kind not in _ORDER and text]
    return " ".join(known + others)


def _in_order(components: list[dict[str, str]], separator: str) -> str:
    text = ""
    glued = True
    for part in components:
        if part["kind"] == "separator":
            text += part["value"]
            glued = True
        else:
            text += part["value"] if glued else separator + part["value"]
            glued = False
    return text


def _is_han(text: str) -> bool:
    return all(
        "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff" for char in text
    )
