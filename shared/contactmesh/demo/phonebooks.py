"""What is in the phonebooks before anybody joins a group."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final
from uuid import NAMESPACE_DNS, uuid5

from contactmesh.contacts import Card, Damage, read_vcards, write_vcards
from contactmesh.demo import texts
from contactmesh.demo.people import Person, as_kept_by

ENTRIES_EACH: Final = 5
"""How many of the other people somebody has typed into the phonebook."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What somebody wrote down about another person, for themselves.

    Attributes:
        uid: the entry's uid in the vCard file.
        about: the other person.
        number: their number as the owner typed it.
        label: the owner's label on the number.
        note: the owner's private note.
        nickname: what the owner calls them, if anything.
    """

    uid: str
    about: Person
    number: str
    label: str
    note: str
    nickname: str | None

    def card(self) -> Card:
        """The entry as a card."""
        card = {
            "@type": "Card",
            "version": "1.0",
            "uid": self.uid,
            "name": {"full": self.about.name},
            "phones": {"typed": {"number": self.number, "label": self.label}},
            "notes": {"private": {"note": self.note}},
        }
        if self.nickname is not None:
            card["nicknames"] = {"mine": {"name": self.nickname}}
        return Card.model_validate(card)


@dataclass(frozen=True, slots=True)
class Export:
    """A file that a person's old phone wrote."""

    name: str
    content: bytes

    def cards(self) -> list[Card]:
        """The cards that can be read from it."""
        return [
            item
            for item in read_vcards(self.content, file_name=self.name)
            if not isinstance(item, Damage)
        ]


@dataclass(frozen=True, slots=True)
class StartingBook:
    """A phonebook before the first import: a sample export and the entries typed by hand."""

    export: Export
    entries: tuple[Entry, ...]

    @property
    def files(self) -> tuple[Export, ...]:
        """The files to import."""
        typed = b"".join(write_vcards(entry.card() for entry in self.entries))
        return (self.export, Export(texts.TYPED_FILE, typed))

    def cards(self) -> int:
        """How many cards these are."""
        return len(self.export.cards()) + len(self.entries)


@cache
def sample_exports() -> tuple[Export, ...]:
    """The sample exports of real address books that come with the demo."""
    folder = files("contactmesh.demo").joinpath("samples")
    found = [file for file in folder.iterdir() if file.name.endswith(".vcf")]
    return tuple(
        Export(file.name, file.read_bytes()) for file in sorted(found, key=lambda file: file.name)
    )


def starting_books(
    people: Sequence[Person],
    numbers: Mapping[str, str],
    always: Mapping[str, Iterable[str]],
    source: random.Random,
) -> dict[str, StartingBook]:
    """Fill everyone's phonebook.

    Args:
        people: all people.
        numbers: everyone's number, by user.
        always: whom somebody has in the phonebook in any case, by user.
        source: decides the rest.
    """
    exports = sample_exports()
    by_id = {person.user_id: person for person in people}
    notes = _endless(texts.PRIVATE_NOTES)
    books: dict[str, StartingBook] = {}
    for place, owner in enumerate(people):
        chosen = list(always.get(owner.user_id, ()))
        others = [one for one in by_id if one != owner.user_id and one not in chosen]
        chosen += source.sample(others, ENTRIES_EACH - len(chosen))
        books[owner.user_id] = StartingBook(
            exports[place % len(exports)],
            tuple(_entry(owner, by_id[one], numbers[one], next(notes), source) for one in chosen),
        )
    return books


def _entry(owner: Person, about: Person, number: str, note: str, source: random.Random) -> Entry:
    return Entry(
        uid=f"urn:uuid:{uuid5(NAMESPACE_DNS, f'{about.user_id}.{owner.user_id}.contactmesh.org')}",
        about=about,
        number=as_kept_by(owner, number),
        label=source.choice(texts.LABELS),
        note=note,
        nickname=source.choice((None, *texts.NICKNAMES)),
    )


def _endless(notes: Sequence[str]) -> Iterator[str]:
    while True:
        yield from notes
