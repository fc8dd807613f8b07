"""The demo's own model: who may know which number, and what each phonebook must therefore show.

It is written from the requirement alone and shares no code with the services or the terminals, so
that a fault of theirs cannot hide in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from contactmesh.demo.people import Person
from contactmesh.demo.phonebooks import Entry, StartingBook


class Version(NamedTuple):
    """A number that somebody published; the later one has the higher turn."""

    turn: int
    number: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What a phonebook must show of a person.

    Attributes:
        name: the name.
        number: the one number, as its owner published it or as it was typed.
        label: the label on it, which is the phonebook owner's.
        note: the phonebook owner's private note.
        nickname: what the phonebook's owner calls the person.
    """

    name: str
    number: str
    label: str | None = None
    note: str | None = None
    nickname: str | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """Whom a published card reaches.

    Attributes:
        told: the users whose phonebooks show another number by it.
        withheld: how often it was kept from somebody because of a block.
    """

    told: frozenset[str]
    withheld: int


class World:
    """Groups, cards and blocks as they must be, and what follows for every phonebook.

    Args:
        people: everyone.
        books: their phonebooks at the beginning.
    """

    def __init__(self, people: Iterable[Person], books: Mapping[str, StartingBook]) -> None:
        self._people = {person.user_id: person for person in people}
        self._entries: dict[tuple[str, str], Entry] = {
            (owner, entry.about.user_id): entry
            for owner, book in books.items()
            for entry in book.entries
        }
        self._turn = 0
        self._members: dict[str, set[str]] = {}
        self._cards: dict[tuple[str, str], Version] = {}
        self._views: dict[tuple[str, str, str], Version] = {}
        self._left_behind: dict[tuple[str, str], str] = {}
        self._blocks: set[tuple[str, str, str]] = set()
        self._everywhere: set[tuple[str, str]] = set()
        self._published: set[str] = set()
        self._known: defaultdict[str, set[str]] = defaultdict(set)
        self.withheld = 0
        """How often a card was kept from somebody because of a block."""

    # What people do

    def create(self, group: str, members: Iterable[str]) -> None:
        """A group begins."""
        self._members[group] = set()
        for user in members:
            self.join(group, user)

    def join(self, group: str, user: str) -> None:
        """Somebody comes in and is shown the cards that are there; their own is not yet."""
        present = self._members[group]
        for other in present:
            for setter, blocked in ((user, other), (other, user)):
                if (setter, blocked) in self._everywhere:
                    self._blocks.add((group, setter, blocked))
        present.add(user)
        for owner in present - {user}:
            self._let_see(group, user, owner)

    def leave(self, group: str, user: str) -> None:
        """Somebody goes: what only this group showed is shown no more."""
        self._members[group].remove(user)
        self._cards.pop((group, user), None)
        for other in self._members[group]:
            self._end_view(group, user, other)
            self._end_view(group, other, user)

    def publish(self, user: str, number: str, groups: Iterable[str] | None = None) -> Reach:
        """Somebody publishes a card, in all of their groups or in some."""
        self._turn += 1
        self._published.add(number)
        self._known[user].add(number)
        before = {other: self.shown(other, user) for other in self._people}
        withheld = 0
        for group in self.groups_of(user) if groups is None else groups:
            card = self._cards.get((group, user))
            if card is not None and card.number == number:
                continue
            self._cards[group, user] = Version(self._turn, number)
            for viewer in self._members[group] - {user}:
                if (group, user, viewer) in self._blocks:
                    withheld += 1
                else:
                    self._let_see(group, viewer, user)
        self.withheld += withheld
        told = {other for other, seen in before.items() if self.shown(other, user) != seen}
        return Reach(frozenset(told), withheld)

    def block(self, setter: str, blocked: str, group: str | None = None) -> None:
        """Somebody does not want another to learn of changes, in one group or in all."""
        if group is None:
            self._everywhere.add((setter, blocked))
        for one in self._common(setter, blocked) if group is None else [group]:
            self._blocks.add((one, setter, blocked))

    def lift(self, setter: str, blocked: str, group: str | None = None) -> None:
        """A block ends: the other is shown what is current now."""
        if group is None:
            self._everywhere.discard((setter, blocked))
        for one in self._common(setter, blocked) if group is None else [group]:
            self._blocks.discard((one, setter, blocked))
            self._let_see(one, blocked, setter)

    # What follows from it

    @property
    def members(self) -> frozenset[str]:
        """Everyone who is in a group."""
        return frozenset().union(*self._members.values())

    def groups_of(self, user: str) -> list[str]:
        """The groups that somebody is in."""
        return [group for group, members in self._members.items() if user in members]

    def shown(self, viewer: str, owner: str) -> str | None:
        """The number that a viewer's groups show of somebody: the one published last."""
        views = [
            view
            for group in self._common(viewer, owner)
            if (view := self._views.get((group, viewer, owner))) is not None
        ]
        return max(views).number if views else None

    def phonebook(self, viewer: str) -> dict[str, Expected]:
        """What a phonebook must show of the people of the demo, by the uid of the contact."""
        expected: dict[str, Expected] = {}
        for owner, person in self._people.items():
            if owner == viewer:
                continue
            entry = self._entries.get((viewer, owner))
            number = self.shown(viewer, owner)
            if entry is not None:
                expected[entry.uid] = Expected(
                    person.name,
                    number or self._left_behind.get((viewer, owner), entry.number),
                    entry.label,
                    entry.note,
                    entry.nickname,
                )
            elif number is not None:
                expected[person.card_uid] = Expected(person.name, number)
        return expected

    def secrets(self, viewer: str) -> frozenset[str]:
        """The published numbers that somebody must not have learnt by now."""
        return frozenset(self._published) - self._known[viewer]

    def silent(self, viewer: str) -> frozenset[tuple[str, str]]:
        """The groups and members of whose changes somebody must hear nothing now."""
        return frozenset(
            (group, setter) for group, setter, blocked in self._blocks if blocked == viewer
        )

    def _common(self, one: str, other: str) -> list[str]:
        return [group for group, members in self._members.items() if {one, other} <= members]

    def _let_see(self, group: str, viewer: str, owner: str) -> None:
        card = self._cards.get((group, owner))
        if card is not None and (group, owner, viewer) not in self._blocks:
            self._views[group, viewer, owner] = card
            self._known[viewer].add(card.number)

    def _end_view(self, group: str, viewer: str, owner: str) -> None:
        view = self._views.pop((group, viewer, owner), None)
        if view is not None and self.shown(viewer, owner) is None:
            self._left_behind[viewer, owner] = view.number
