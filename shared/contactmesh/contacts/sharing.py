"""What of a contact is for its writer alone."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from contactmesh.contacts.jscontact.card import Card

_PRIVATE: Final = frozenset({"notes", "nicknames", "keywords", "relatedTo", "members"})


def without_private_parts(card: Card) -> Card:
    """The card without what the owner of a phonebook writes for themselves, in any language."""
    shown = {name: part for name, part in card.to_json().items() if name not in _PRIVATE}
    languages = shown.get("localizations")
    if isinstance(languages, dict):
        shown["localizations"] = {name: _shown(patch) for name, patch in languages.items()}
    return Card.model_validate(shown)


def _shown(patch: JsonValue) -> JsonValue:
    if not isinstance(patch, dict):
        return patch
    return {path: part for path, part in patch.items() if path.split("/")[0] not in _PRIVATE}
