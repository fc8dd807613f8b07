"""One property in several languages: ALTID with LANGUAGE, and `localizations` (RFC 9555, 2.3.1).

Of properties that share an ALTID, the first, or the one in the card's own language, is the
property; the others are patches to it in their languages. The property keeps its ALTID and
LANGUAGE in `vCardParams`, so that it is written with them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.patch import pointer_of, segments_of
from contactmesh.contacts.vcard.parameters import Members, params_of

LOCALIZED: Final = ("addresses", "nicknames", "notes", "organizations", "titles")
"""The card's maps whose entries are told apart by language."""

_OWN: Final = frozenset({"altid", "language"})


def localize(card: Members) -> None:
    """Make patches of entries that are another language's version of an entry before."""
    for collection in LOCALIZED:
        entries = card.get(collection)
        if isinstance(entries, dict):
            for keys in _alternatives(entries).values():
                _patch(card, collection, entries, keys)


def _alternatives(entries: Members) -> dict[str, list[str]]:
    by_altid: dict[str, list[str]] = {}
    for key, entry in entries.items():
        altid = params_of(cast("Members", entry)).get("altid")
        if isinstance(altid, str):
            by_altid.setdefault(altid, []).append(key)
    return by_altid


def _patch(card: Members, collection: str, entries: Members, keys: list[str]) -> None:
    languages = {key: params_of(cast("Members", entries[key])).get("language") for key in keys}
    own = next((key for key in keys if languages[key] in (None, card.get("language"))), keys[0])
    others = {key: language for key, language in languages.items() if key != own}
    spoken = [language for language in others.values() if isinstance(language, str) and language]
    if len(set(spoken)) < len(others) or languages[own] in spoken:
        return
    for key, language in others.items():
        entry = cast("Members", entries.pop(key))
        add_patch(card, str(language), pointer_of(collection, own), without_language(entry))


def add_patch(card: Members, language: str, pointer: str, value: JsonValue) -> None:
    """Add to `localizations` what a member is in a language."""
    languages = cast("Members", card.setdefault("localizations", {}))
    cast("Members", languages.setdefault(language, {}))[pointer] = value


def add_patches(card: Members, language: str, patch: Members) -> bool:
    """Add several at once; False, and none added, when one of them would touch another."""
    known = patch_of(card, language)
    if any(_touch(pointer, other) for pointer in patch for other in known):
        return False
    for pointer, value in patch.items():
        add_patch(card, language, pointer, value)
    return True


def _touch(pointer: str, other: str) -> bool:
    """Whether two pointers are one, or one leads through the other."""
    return f"{pointer}/".startswith(f"{other}/") or other.startswith(f"{pointer}/")


def patch_of(card: Members, language: str) -> Members:
    """Return what a card is in a language, as a patch; an empty one if it is nothing else."""
    languages = cast("Mapping[str, Members]", card.get("localizations", {}))
    return languages.get(language, {})


def without_language(entry: Members) -> Members:
    """Return an entry without the parameters that only say whose version it is."""
    rest = {name: item for name, item in params_of(entry).items() if name not in _OWN}
    plain = {name: item for name, item in entry.items() if name != "vCardParams"}
    return {**plain, "vCardParams": rest} if rest else plain


def patched_entries(card: Members) -> Iterator[tuple[str, Members]]:
    """Yield the entries that other languages have, with the ALTID and LANGUAGE to write them."""
    languages = cast("Mapping[str, Members]", card.get("localizations", {}))
    for language, patch in languages.items():
        for pointer, value in patch.items():
            collection, *rest = segments_of(pointer)
            entries = card.get(collection)
            if collection not in LOCALIZED or len(rest) != 1 or not isinstance(entries, dict):
                continue
            own = entries.get(rest[0])
            altid = params_of(own).get("altid") if isinstance(own, dict) else None
            if isinstance(value, dict) and isinstance(altid, str):
                params = {**params_of(value), "altid": altid, "language": language}
                yield collection, {**value, "vCardParams": params}
