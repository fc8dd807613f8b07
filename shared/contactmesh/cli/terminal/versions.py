"""The versions of a contact as people count them, and finding whose they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Final

from contactmesh.cli.errors import CommandError
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.cards import change_line, changes_between
from contactmesh.cli.terminal.naming import (
    NoSuchThing,
    by_id,
    find_contacts,
    one_named,
    short_contact_id,
    told_apart,
)
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.times import told
from contactmesh.contacts import Card, digest
from contactmesh.contracts.sync.commands import Deleted
from contactmesh.contracts.sync.records import Reason, Version
from contactmesh.terminal import Terminal
from contactmesh.terminal.rules.ownership import plain_text

MOST_LINES: Final = 3
"""How many changes of a version are shown in brief."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the address book, which may be deleted.

    Attributes:
        uid: the entry's.
        name: its contact's, or the last one of a deleted entry.
    """

    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Numbered:
    """A version, with its number and what it changed.

    Attributes:
        number: the oldest that is kept is 1, so that further versions change no numbers.
        did: what it did, in words.
        lines: what is different from the version that stood before; of a new contact, what it says.
    """

    number: int
    version: Version
    did: str
    lines: tuple[str, ...]

    @property
    def what(self) -> str:
        """What it did."""
        stands = self.version.reason is Reason.CURRENT
        return sync_texts.STANDS.format(what=self.did) if stands else self.did


async def entry_named(terminal: Terminal, name: str) -> Entry:
    """A contact, or one that was deleted, by its name or id.

    Raises:
        NoSuchThing: none, or several, are named so.
        NoOwnEntry: a group alone brought the contact.
    """
    found = await find_contacts(terminal.phonebook, name)
    if found:
        contact = one_named(name, found, sync_texts.NO_SUCH_CONTACT, told_apart)
        (uid,) = await terminal.phonebook.uids_of((contact.contact_id,))
        return Entry(uid, contact.display_name)
    return await deleted_named(terminal, name, sync_texts.NO_SUCH_CONTACT)


async def deleted_named(
    terminal: Terminal, name: str, missing: str = sync_texts.NO_DELETED
) -> Entry:
    """A deleted contact, by its name or uid.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    deleted = await terminal.deleted()
    sought = plain_text(name)
    found = [one for one in deleted if plain_text(one.name) == sought]
    one = one_named(
        name,
        found or by_id(deleted, name, lambda one: plain_text(one.uid)),
        missing,
        _deleted_told_apart,
    )
    return Entry(one.uid, one.name)


async def versions_of(terminal: Terminal, entry: Entry) -> list[Numbered]:
    """The versions of an entry, the latest first.

    Raises:
        CommandError: the server does not have the entry.
    """
    versions = await terminal.history(entry.uid, cards=True)
    if not versions:
        raise CommandError(suggested(sync_texts.NOT_IN_BOOK, name=entry.name))
    return numbered(versions)


def numbered(versions: Sequence[Version]) -> list[Numbered]:
    """Versions with their numbers and what each did, the latest first as they are given."""
    found: list[Numbered] = []
    stood: dict[str, int] = {}
    before: Card | None = None
    for number, version in enumerate(reversed(versions), 1):
        card = None if version.card is None else Card.model_validate(version.card)
        lost = version.reason is Reason.LOST
        as_of = None if card is None or lost else stood.get(digest(card))
        found.append(Numbered(number, version, _did(version, as_of), _lines(before, version, card)))
        if not lost:
            before = card
            if card is not None:
                stood[digest(card)] = number
    return found[::-1]


def _did(version: Version, as_of: int | None) -> str:
    """What a version did; `as_of` is the latest one before it that said the same."""
    if version.reason is Reason.LOST:
        return sync_texts.LOST
    if version.deleted:
        return sync_texts.DELETED
    if as_of is not None:
        return sync_texts.RESTORED_TO.format(number=as_of)
    return sync_texts.MADE if version.made else sync_texts.CHANGED


def find_version(versions: list[Numbered], number: int | None, entry: Entry) -> Numbered:
    """A version by its number; without one, the latest that stood before and was no deletion.

    Raises:
        NoSuchThing: there is none.
    """
    if number is None:
        wanted = (one for one in versions if _stood_before(one.version))
        missing = sync_texts.NO_EARLIER
    else:
        wanted = (one for one in versions if one.number == number)
        missing = sync_texts.NO_VERSION
    found = next(wanted, None)
    if found is None:
        raise NoSuchThing(
            suggested(missing, name=entry.name, number=number, contact=quote(entry.name))
        )
    return found


def changes(before: Card | None, after: Card | None) -> tuple[str, ...]:
    """What is different, in lines."""
    return tuple(change_line(change) for change in changes_between(before, after))


def _lines(before: Card | None, version: Version, card: Card | None) -> tuple[str, ...]:
    if card is None:
        return ()
    if before is not None:
        return changes(before, card)
    if not version.made:
        return ()  # what stood before is forgotten
    said = (change for change in changes_between(None, card) if change.field != "uid")
    return tuple(line for line in map(change_line, said))


def _stood_before(version: Version) -> bool:
    return version.reason is Reason.REPLACED and not version.deleted


def _deleted_told_apart(one: Deleted) -> str:
    return f"{short_contact_id(one.uid)} ({one.name}, {told(one.at)})"
