"""Cards as people read them: the parts of a card, line by line, and what changed between two."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

from pydantic import JsonValue
from rich.cells import cell_len, set_cell_size
from rich.filesize import decimal

from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.field_names import at, field_name, said
from contactmesh.contacts import Card, changed_fields
from contactmesh.terminal.rules.ownership import MEMBER_MAPS, entries_of, entry_value
from contactmesh.terminal.rules.views import CardJson

_OF_THE_OWNER: Final = ("nicknames", "keywords", "notes")
_MACHINERY: Final = frozenset(
    ("@type", "version", "uid", "created", "updated", "prodId", "kind", "language", "name")
)


_DATA: Final = re.compile(r"data:(?P<type>[^;,]*)(?:;(?!base64)[^;,]*)*(?P<base64>;base64)?,", re.I)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a card says.

    Attributes:
        field: which thing, for example `phones/mobile`.
        value: what it says.
        label: what it is called: the label, or what it is for.
        of_member: whether the member said it, and not the owner of the phonebook.
    """

    field: str
    value: str
    label: str
    of_member: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What changed in one field; none on the side where there is nothing.

    Attributes:
        field: which, as a JSON pointer without the first slash.
        name: what people call it.
    """

    field: str
    old: str | None
    new: str | None
    name: str


def lines_of(card: Card, member_cards: Sequence[CardJson], region: str | None) -> list[Line]:
    """What a contact shows, its name aside, and who said it.

    Args:
        card: the contact's card.
        member_cards: the cards that the common groups show of the member, if there is one.
        region: the country (ISO 3166) of numbers without a country code.
    """
    shown = card.to_json()
    lines = []
    for name, value in shown.items():
        if name in _MACHINERY:
            continue
        if not isinstance(value, dict):
            lines.append(Line(name, said(value), "", of_member=bool(member_cards)))
            continue
        theirs = {
            entry_value(name, entry, region)
            for theirs in member_cards
            for entry in entries_of(theirs, name).values()
        }
        for key, entry in value.items():
            if not isinstance(entry, dict):  # keywords are keys and nothing else
                lines.append(Line(name, key, "", of_member=False))
                continue
            of_member = name in MEMBER_MAPS and entry_value(name, entry, region) in theirs
            lines.append(Line(f"{name}/{key}", said(entry), label_of(entry), of_member))
    return lines


def numbers_of(card: Card) -> list[str]:
    """The numbers of a card, each with its label."""
    numbers = []
    for entry in entries_of(card.to_json(), "phones").values():
        label = entry.get("label")
        number = str(entry.get("number", "")).removeprefix("tel:")
        numbers.append(f"{number} ({label})" if label else number)
    return numbers


def private_of(card: Card) -> list[str]:
    """What the owner of the phonebook wrote beside the member's details."""
    shown = card.to_json()
    written = []
    for name in _OF_THE_OWNER:
        value = shown.get(name)
        for key, entry in value.items() if isinstance(value, dict) else ():
            written.append(said(entry) if isinstance(entry, dict) else key)
    return written


def brief(parts: Sequence[str], *, most: int, most_cells: int) -> str:
    """Some texts in the little room of a table's cell, each cut if it is long."""
    cut = [
        each if cell_len(each) <= most_cells else f"{set_cell_size(each, most_cells - 1).rstrip()}…"
        for each in parts[:most]
    ]
    more = texts.MORE.format(count=len(parts) - most) if len(parts) > most else ""
    return ", ".join(cut) + more


def label_of(entry: Mapping[str, JsonValue]) -> str:
    """What an entry is called: its label, or what it is for."""
    label = entry.get("label")
    if isinstance(label, str):
        return label
    purposes = [
        purpose
        for name in ("contexts", "features")
        if isinstance(flags := entry.get(name), dict)
        for purpose in flags
    ]
    return ", ".join(purposes)


def changes_between(
    old: Card | None, new: Card | None, fields: Iterable[str] | None = None
) -> list[Change]:
    """What changed between two cards.

    Args:
        old: the card before, none if there was none.
        new: the card after.
        fields: the changed fields, as JSON pointers without the first slash, if they are known.
    """
    before = {} if old is None else old.to_json()
    after = {} if new is None else new.to_json()
    changed = changed_fields(old, new) if fields is None else fields
    changes = []
    for field in changed:
        was, now = at(before, field), at(after, field)
        changes.append(
            Change(
                field,
                None if was is None else _said_of(field, was),
                None if now is None else _said_of(field, now),
                field_name(field, (new, old)),
            )
        )
    # A number that says the same twice is no news: 'name/full' tells what 'name/components' does.
    has_full = any(change.field == "name/full" for change in changes)
    return [change for change in changes if not (has_full and change.field == "name/components")]


def change_line(change: Change) -> str:
    """A change in one line."""
    # What it is a part of is told first, and then the part: "number 110, label: home → work".
    field = texts.PART.format(part=change.name) if " " in change.name else change.name
    match [None if text is None else seen(text) for text in (change.old, change.new)]:
        case [None, str(new)]:
            return texts.CHANGE_ADDED.format(field=field, new=new)
        case [str(old), None]:
            return texts.CHANGE_REMOVED.format(field=field, old=old)
        case [str(old), str(new)] if old != new:
            return texts.CHANGE.format(field=field, old=old, new=new)
        case _:
            return change.name


def _said_of(field: str, value: JsonValue) -> str:
    """What an entry says; a keyword is the key itself."""
    collection, *rest = field.split("/")
    return rest[0] if collection == "keywords" and rest else said(value)


def seen(text: str) -> str:
    """What a part of a card says, as people see it: of a picture, what and how large it is."""
    media = _DATA.match(text)
    if media is None:
        return text
    sent = text[media.end() :]
    size = len(sent.rstrip("=")) * 3 // 4 if media["base64"] else len(unquote_to_bytes(sent))
    kind, _, form = (media["type"] or "text/plain").lower().partition("/")
    return texts.MEDIA.format(
        kind=texts.MEDIA_KINDS.get(kind, texts.MEDIA_OTHER), form=form, size=decimal(size)
    )
