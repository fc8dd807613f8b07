"""When two cards are the same (canonical form and digest)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from contactmesh.contacts.jscontact.card import Card

METADATA: Final = frozenset({"@type", "version", "uid", "created", "updated", "prodId"})
"""Card properties that say nothing about the contact itself."""

Json = dict[str, JsonValue]


def canonical(card: Mapping[str, JsonValue]) -> Json:
    """Return the contents of a card so that equal contents are equal JSON.

    Left out are the metadata (`METADATA`), `@type` where the place already says it, empty maps,
    and members that spell out their default.

    Args:
        card: a card as JSON.
    """
    plain = {name: _plain(value, (name,)) for name, value in card.items() if name not in METADATA}
    return {name: value for name, value in plain.items() if value not in ({}, [])}


def _plain(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    if isinstance(value, dict):
        if path[0] == "vCardProps" or (path[0] == "localizations" and len(path) > 1):
            return value
        return {
            name: _plain(item, (*path, name))
            for name, item in value.items()
            if not (name == "@type" and isinstance(item, str) and ":" not in path[-1])
            and not (name == "isOrdered" and item is False)
            and not (name == "kind" and path[0] == "titles" and item == "title")
        }
    if isinstance(value, list):
        return [_plain(item, path) for item in value]
    return value


def digest(card: Card) -> str:
    """Return a digest that two cards share when they say the same of their contact.

    It ignores the order of members, redundant `@type`, empty maps and lists, spelled-out
    defaults, and the metadata `@type`, `version`, `uid`, `created`, `updated` and `prodId`. Two
    records of one person under different UIDs therefore have one digest; compare `uid` as well
    for identity.

    Returns:
        A SHA-256 in hexadecimal.
    """
    text = json.dumps(canonical(card.document()), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
