"""What to show for a card."""

from __future__ import annotations

from contactmesh.contacts.jscontact.card import Card

_ORDER = ("title", "given", "given2", "surname", "surname2", "generation", "credential")


def display_name(card: Card) -> str:
    """Return the name to show for a card, which itself is not changed.

    The full name if there is one; else the parts of the name; else a nickname, an organisation,
    an e-mail address, a phone number, whichever comes first; else an empty string.
    """
    name = card.name
    if name is not None:
        if name.full and (full := name.full.strip()):
            return full
        if name.components and (parts := _from_parts(card)):
            return parts
    for nickname in (card.nicknames or {}).values():
        if text := nickname.name.strip():
            return text
    for organization in (card.organizations or {}).values():
        units = [unit.name for unit in organization.units or ()]
        if text := " ".join(part for part in (organization.name, *units) if part).strip():
            return text
    for email in (card.emails or {}).values():
        if text := email.address.strip():
            return text
    for phone in (card.phones or {}).values():
        if text := phone.number.removeprefix("tel:").strip():
            return text
    return ""


def _from_parts(card: Card) -> str:
    name = card.name
    if name is None or not name.components:
        return ""
    values = [(part.kind, part.value.strip()) for part in name.components]
    if name.is_ordered:
        separator = " " if name.default_separator is None else name.default_separator
        text = ""
        glued = True
        for part in name.components:
            if part.kind == "separator":
                text += part.value
                glued = True
            else:
                text += part.value if glued else separator + part.value
                glued = False
        return text.strip()
    by_kind = {kind: [text for k, text in values if k == kind and text] for kind, _ in values}
    surnames = by_kind.get("surname", [])
    given = by_kind.get("given", [])
    if surnames and given and all(_is_han(text) for text in (*surnames, *given)):
        return "".join(surnames + by_kind.get("given2", []) + given)
    known = [text for kind in _ORDER for text in by_kind.get(kind, ())]
    others = [text for kind, text in values if kind not in _ORDER and text]
    return " ".join(known + others)


def _is_han(text: str) -> bool:
    return all(
        "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff" for char in text
    )
