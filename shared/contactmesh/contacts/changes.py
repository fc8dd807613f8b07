"""Which fields of a card changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.canonical import canonical
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.patch import pointer_of

Json = Mapping[str, JsonValue]

COLLECTIONS: Final = frozenset(
    {
        "addresses",
        "anniversaries",
        "calendars",
        "cryptoKeys",
        "directories",
        "emails",
        "keywords",
        "links",
        "localizations",
        "media",
        "members",
        "nicknames",
        "notes",
        "onlineServices",
        "organizations",
        "personalInfo",
        "phones",
        "preferredLanguages",
        "relatedTo",
        "schedulingAddresses",
        "titles",
    }
)
"""The card's maps, whose entries come and go one by one."""


def changed_fields(old: Card | None, new: Card | None) -> tuple[str, ...]:
    """Return what differs between two cards, as sorted JSON pointers without the first slash.

    An entry that came or went is named as a whole (`phones/mobile`), one that changed by the
    property that did (`phones/mobile/number`). Metadata and spelling that `digest` ignores are
    no change: when the digests are equal, nothing is returned.

    Args:
        old: the card before; None stands for no card.
        new: the card after; None stands for no card.
    """
    before = canonical(old.document()) if old is not None else {}
    after = canonical(new.document()) if new is not None else {}
    return tuple(sorted(_changed(before, after)))


def _changed(old: Json, new: Json) -> list[str]:
    found: list[str] = []
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if name in COLLECTIONS:
            found += _entries(name, _as_map(before), _as_map(after))
        elif isinstance(before, dict) and isinstance(after, dict):
            found += _members((name,), before, after)
        else:
            found.append(pointer_of(name))
    return found


def _entries(name: str, old: Json, new: Json) -> list[str]:
    found: list[str] = []
    for key in old.keys() | new.keys():
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            found += _members((name, key), before, after)
        else:
            found.append(pointer_of(name, key))
    return found


def _members(path: tuple[str, ...], old: Json, new: Json) -> list[str]:
    return [
        pointer_of(*path, name)
        for name in old.keys() | new.keys()
        if old.get(name) != new.get(name) or (name in old) != (name in new)
    ]


def _as_map(value: JsonValue) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
