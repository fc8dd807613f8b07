"""Finding the same entry in two versions of a map whose keys may differ."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Final

from pydantic import JsonValue

from contactmesh.contacts.numbers import match_key

Entries = dict[str, JsonValue]

_VALUE: Final = {
    "calendars": "uri",
    "cryptoKeys": "uri",
    "directories": "uri",
    "links": "uri",
    "media": "uri",
    "nicknames": "name",
    "notes": "note",
    "organizations": "name",
    "personalInfo": "value",
    "preferredLanguages": "language",
    "schedulingAddresses": "uri",
    "titles": "name",
    "anniversaries": "kind",
}


def identity_of(collection: str, entry: JsonValue, default_region: str | None) -> Hashable:
    """Return what makes an entry the one it is, whatever its key and its other members.

    Args:
        collection: the card's map, as JSContact names it.
        entry: one of its entries.
        default_region: the country of phone numbers without a country code.
    """
    if not isinstance(entry, dict):
        return json.dumps(entry)
    if collection == "phones":
        number = str(entry.get("number", ""))
        return match_key(number, default_region) or "".join(number.split())
    if collection == "emails":
        return str(entry.get("address", "")).strip().casefold()
    if collection == "onlineServices":
        uri, user = entry.get("uri"), entry.get("user")
        return str(uri) if uri else (str(entry.get("service", "")).casefold(), str(user))
    member = _VALUE.get(collection)
    if member is not None and isinstance(entry.get(member), str):
        return str(entry[member])
    return json.dumps([entry.get("components"), entry.get("full")], sort_keys=True)


def aligned(
    collection: str,
    base: Mapping[str, JsonValue],
    other: Mapping[str, JsonValue],
    default_region: str | None = None,
) -> Entries:
    """Return `other` with each entry under the key that the same entry has in `base`.

    The same key with the same value comes first, then the same value under another key, then
    the same key with an edited value. What is new keeps its key if that is free.
    """
    base_ids = {key: identity_of(collection, entry, default_region) for key, entry in base.items()}
    other_ids = {
        key: identity_of(collection, entry, default_region) for key, entry in other.items()
    }
    target: dict[str, str] = {
        key: key for key in other if key in base and base_ids[key] == other_ids[key]
    }
    taken = set(target)
    free: dict[Hashable, list[str]] = {}
    for key, identity in base_ids.items():
        if key not in taken:
            free.setdefault(identity, []).append(key)
    for key in other:
        if key not in target and free.get(other_ids[key]):
            target[key] = free[other_ids[key]].pop(0)
            taken.add(target[key])
    for key in other:
        if key not in target and key in base and key not in taken:
            target[key] = key
            taken.add(key)
    used = taken | base.keys() | other.keys()
    for key in other:
        if key not in target:
            free_as_it_is = key not in taken and key not in base
            target[key] = key if free_as_it_is else fresh_key(key, used)
            taken.add(target[key])
            used.add(target[key])
    return {target[key]: entry for key, entry in other.items()}


def fresh_key(wanted: str, used: set[str]) -> str:
    """Return `wanted`, or a key like it that is not in use."""
    if wanted not in used:
        return wanted
    number = 2
    while f"{wanted[:240]}-{number}" in used:
        number += 1
    return f"{wanted[:240]}-{number}"


def separated(
    collection: str,
    base: Mapping[str, JsonValue],
    mine: Entries,
    theirs: Entries,
    default_region: str | None = None,
) -> Entries:
    """Return `theirs` so that what both sides added shares a key only if it is the same entry.

    Both are aligned with `base` already.
    """
    new_mine = {key: entry for key, entry in mine.items() if key not in base}
    new_theirs = {key: entry for key, entry in theirs.items() if key not in base}
    if not new_mine or not new_theirs:
        return theirs
    by_identity = {
        identity_of(collection, entry, default_region): key for key, entry in new_mine.items()
    }
    result = {key: entry for key, entry in theirs.items() if key in base}
    used = set(mine) | set(base)
    for key, entry in new_theirs.items():
        same = by_identity.pop(identity_of(collection, entry, default_region), None)
        chosen = same if same is not None else fresh_key(key, used)
        result[chosen] = entry
        used.add(chosen)
    return result
