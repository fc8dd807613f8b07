"""What the owner of a phonebook writes on a contact: a note, a label on a number."""

from collections.abc import Container
from typing import cast

from pydantic import JsonValue, ValidationError

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.cards import numbers_of
from contactmesh.contacts import Card
from contactmesh.terminal.rules.ownership import entries_of, entry_value
from contactmesh.terminal.rules.views import CardJson


def with_note(own: Card | None, shown: Card, text: str, *, replace: bool) -> Card:
    """The owner's part of a contact with a further note, or with this note alone.

    Args:
        own: the owner's part, none if there is none yet.
        shown: the contact as it is shown.
        text: the note; empty for none.
        replace: whether the notes that are there go.

    Raises:
        WrongUsage: the text cannot be on a card.
    """
    part = _part(own, shown)
    notes = {} if replace else dict(entries_of(part, "notes"))
    if text:
        notes[_free_key("note", notes)] = {"note": text}
    return _with(part, "notes", cast("JsonValue", notes))


def with_label(
    own: Card | None, shown: Card, number: str, label: str, *, region: str | None
) -> Card:
    """The owner's part of a contact with a label on a number, be it the owner's or the member's.

    Args:
        own: the owner's part, none if there is none yet.
        shown: the contact as it is shown.
        number: the number, written any way.
        label: the label; empty for none.
        region: the country (ISO 3166) of numbers without a country code.

    Raises:
        CommandError: the contact does not have the number.
        WrongUsage: the label cannot be on a card.
    """
    part = _part(own, shown)
    found = _phone(shown.to_json(), number, region)
    if found is None:
        known = ", ".join(numbers_of(shown)) or texts.NO_NUMBER
        raise CommandError(texts.NUMBER_NOT_THERE.format(number=number, known=known))
    key, phone = found
    phones = {each: dict(entry) for each, entry in entries_of(part, "phones").items()}
    mine = _phone(part, number, region)
    entry = phones.setdefault(mine[0] if mine else _free_key(key, phones), phone)
    entry.pop("label", None)
    if label:
        entry["label"] = label
    return _with(part, "phones", cast("JsonValue", phones))


def _part(own: Card | None, shown: Card) -> CardJson:
    if own is not None:
        return own.to_json()
    return {"@type": "Card", "version": "1.0", "uid": shown.uid}


def _phone(
    card: CardJson, number: str, region: str | None
) -> tuple[str, dict[str, JsonValue]] | None:
    sought = entry_value("phones", {"number": number}, region)
    for key, phone in entries_of(card, "phones").items():
        if entry_value("phones", phone, region) == sought:
            return key, dict(phone)
    return None


def _with(part: CardJson, name: str, value: JsonValue) -> Card:
    others = {each: content for each, content in part.items() if each != name}
    try:
        return Card.model_validate({**others, name: value} if value else others)
    except ValidationError as error:
        raise WrongUsage(texts.BAD_TEXT) from error


def _free_key(wanted: str, taken: Container[str]) -> str:
    number, key = 1, wanted
    while key in taken:
        number += 1
        key = f"{wanted}{number}"
    return key
