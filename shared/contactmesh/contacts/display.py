"""What to show for a card."""

from __future__ import annotations

from collections.abc import Iterator

from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.jscontact.names import Name

_ORDER = ("title", "given", "given2", "surname", "surname2", "generation", "credential")


def display_name(card: Card) -> str:
    """Return the name to show for a card, which itself is not changed.

    The full name if there is one; else the parts of the name; else a nickname, an organisation,
    an e-mail address, a phone number, whichever comes first; else an empty string.
    """
    return next((text for each in _candidates(card) if each and (text := each.strip())), "")


def _candidates(card: Card) -> Iterator[str | None]:
    if card.name is not None:
        yield card.name.full
        yield _from_parts(card.name)
    for nickname in (card.nicknames or {}).values():
        yield nickname.name
    for organization in (card.organizations or {}).values():
        units = [unit.name for unit in organization.units or ()]
        yield " ".join(part for part in (organization.name, *units) if part)
    for email in (card.emails or {}).values():
        yield email.address
    for phone in (card.phones or {}).values():
        yield phone.number.removeprefix("tel:")


def _from_parts(name: Name) -> str:
    if not name.components:
        return ""
    values = [(part.kind, part.value.strip()) for part in name.components]
    if name.is_ordered:
        return _in_order(name)
    by_kind = {kind: [text for k, text in values if k == kind and text] for kind, _ in values}
    surnames = by_kind.get("surname", [])
    given = by_kind.get("given", [])
    if surnames and given and all(_is_han(text) for text in (*surnames, *given)):
        return "".join(surnames + by_kind.get("given2", []) + given)
    known = [text for kind in _ORDER for text in by_kind.get(kind, ())]
    others = [text for kind, text in values if kind not in _ORDER and text]
    return " ".join(known + others)


def _in_order(name: Name) -> str:
    separator = " " if name.default_separator is None else name.default_separator
    text = ""
    glued = True
    for part in name.components or ():
        if part.kind == "separator":
            text += part.value
            glued = True
        else:
            text += part.value if glued else separator + part.value
            glued = False
    return text


def _is_han(text: str) -> bool:
    return all(
        "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff" for char in text
    )
