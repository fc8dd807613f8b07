"""Comparing what is with what must be. Pure functions, so that each can be shown to find faults."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from contactmesh.contacts import Card, display_name
from contactmesh.demo import texts
from contactmesh.demo.world import Expected


class Fault(StrEnum):
    """What can be wrong."""

    MISSING = "missing"
    """A contact that must be there is not."""
    WRONG = "wrong"
    """A contact shows something else than it must."""
    ALTERED = "altered"
    """A contact that is nobody of the demo is not as it was imported."""
    UNEXPECTED = "unexpected"
    """A contact is there that must not be, or is there twice."""
    LEAKED = "leaked"
    """A terminal was sent what its user must not know."""
    MISCOUNTED = "miscounted"
    """A number that was counted is not what it must be."""
    LATE = "late"
    """A change did not arrive in time."""


LOST = frozenset((Fault.MISSING, Fault.WRONG, Fault.ALTERED))
"""The faults in which the state of a contact is lost."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it must be."""

    fault: Fault
    where: str
    what: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a phonebook shows of a contact: every name, number, note and nickname of it."""

    name: str
    numbers: tuple[tuple[str, str | None], ...]
    notes: tuple[str, ...]
    nicknames: tuple[str, ...]

    @classmethod
    def of(cls, card: Card) -> "Shown":
        """What a card shows."""
        return cls(
            name=display_name(card),
            numbers=tuple(sorted((one.number, one.label) for one in (card.phones or {}).values())),
            notes=tuple(one.note for one in (card.notes or {}).values()),
            nicknames=tuple(one.name for one in (card.nicknames or {}).values()),
        )

    @classmethod
    def as_expected(cls, expected: Expected) -> "Shown":
        """What a contact must show."""
        return cls(
            name=expected.name,
            numbers=((expected.number, expected.label),),
            notes=() if expected.note is None else (expected.note,),
            nicknames=() if expected.nickname is None else (expected.nickname,),
        )

    def __str__(self) -> str:
        numbers = [f"{number} ({label or '-'})" for number, label in self.numbers]
        return " · ".join((self.name, *numbers, *self.notes, *self.nicknames))


def phonebook_differences(
    where: str, expected: Mapping[str, Expected], strangers: Iterable[Card], actual: Iterable[Card]
) -> list[Difference]:
    """Compare a whole phonebook with what it must hold, and with nothing else.

    Args:
        where: whose phonebook it is, to be told.
        expected: what it must show of people, by uid.
        strangers: the imported cards of others, who are in no group.
        actual: the cards that it shows.
    """
    found: defaultdict[str, list[Card]] = defaultdict(list)
    for card in actual:
        found[card.uid].append(card)
    differences: list[Difference] = []
    for uid, contact in expected.items():
        wanted = Shown.as_expected(contact)
        cards = found.get(uid)
        if not cards:
            differences.append(Difference(Fault.MISSING, where, contact.name, str(wanted), ""))
        elif (shown := Shown.of(cards[0])) != wanted:
            differences.append(
                Difference(Fault.WRONG, where, contact.name, str(wanted), str(shown))
            )
    uids = set(expected)
    for stranger in strangers:
        uids.add(stranger.uid)
        cards = found.get(stranger.uid)
        name = display_name(stranger)
        if not cards:
            differences.append(Difference(Fault.MISSING, where, name, str(Shown.of(stranger)), ""))
        elif cards[0].to_json() != stranger.to_json():
            differences.append(
                Difference(
                    Fault.ALTERED, where, name, str(Shown.of(stranger)), str(Shown.of(cards[0]))
                )
            )
    for uid, cards in found.items():
        for card in cards[1:] if uid in uids else cards:
            shown = Shown.of(card)
            differences.append(Difference(Fault.UNEXPECTED, where, shown.name, "", str(shown)))
    return differences


def leaks(
    where: str,
    received: Iterable[JsonValue],
    secrets: Collection[str],
    silent: Collection[tuple[str, str]],
) -> list[Difference]:
    """Look for what a terminal must not have been sent, in the messages themselves.

    Args:
        where: whose terminal it is, to be told.
        received: the messages, pushes and replies alike.
        secrets: the numbers that its user must not know.
        silent: the groups and members of whose changes its user must hear nothing.
    """
    hidden = {_digits(number): number for number in secrets}
    differences: list[Difference] = []
    for message in received:
        written = [_digits(text) for text in _texts(message)]
        for digits, number in hidden.items():
            if any(digits in text for text in written):
                differences.append(Difference(Fault.LEAKED, where, _type(message), "", number))
        if (about := _change(message)) is not None and about in silent:
            hint = texts.A_CHANGE.format(owner=about[1])
            differences.append(Difference(Fault.LEAKED, where, _type(message), "", hint))
    return differences


def count_differences(what: str, *, expected: int, actual: int) -> list[Difference]:
    """Compare a count."""
    if expected == actual:
        return []
    return [Difference(Fault.MISCOUNTED, "", what, str(expected), str(actual))]


def _digits(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    return "".join(filter(str.isdigit, plain))


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)


def _type(message: JsonValue) -> str:
    return str(message.get("type")) if isinstance(message, dict) else ""


def _change(message: JsonValue) -> tuple[str, str] | None:
    if not isinstance(message, dict) or message.get("type") != "contact.changed":
        return None
    data = message.get("data")
    if not isinstance(data, dict):
        return None
    return str(data.get("group_id")), str(data.get("owner_id"))
