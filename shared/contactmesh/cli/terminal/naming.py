"""Finding what people name: users, groups, invitations and contacts, by id, part of it, or name."""

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Annotated, Final, Protocol, TypeVar

import typer

from contactmesh.cli.errors import CommandError
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.group.commands import GroupList
from contactmesh.contracts.group.views import GroupSummary, InvitationView
from contactmesh.contracts.identifiers import USER_ID_PATTERN
from contactmesh.terminal import Contact, Phonebook, Terminal
from contactmesh.terminal.rules.ownership import plain_text

SHORT: Final = 8
"""How many characters of an id are shown, and most often enough to name it."""

_LEAST: Final = 4
_MOST_CANDIDATES: Final = 5


class NamedGroup(Protocol):
    """Whatever tells a group's id and its name."""

    @property
    def group_id(self) -> str:
        """The id."""
        ...

    @property
    def name(self) -> str:
        """What it is called."""
        ...


Named = TypeVar("Named")
AnyGroup = TypeVar("AnyGroup", bound=NamedGroup)

UserName = Annotated[str, typer.Argument(metavar="USER", help=texts.HELP_USER)]
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help=texts.HELP_GROUP)]
InvitationName = Annotated[str, typer.Argument(metavar="INVITATION", help=texts.HELP_INVITATION)]
ContactName = Annotated[str, typer.Argument(metavar="CONTACT", help=texts.HELP_CONTACT)]


class NoSuchThing(CommandError):
    """Nothing has the name that was given, or several things have."""


def short_id(identifier: str) -> str:
    """The beginning of a group's or an invitation's id, which is random."""
    return identifier[:SHORT]


def short_contact_id(identifier: str) -> str:
    """The end of a contact's id: it begins with the time, which imported contacts share."""
    return identifier[-SHORT:]


def mark_of(*identifiers: str) -> str:
    """A short id for what has none that could be told from others by its ends."""
    return sha256(" ".join(identifiers).encode()).hexdigest()[:SHORT]


async def user_named(phonebook: Phonebook, name: str) -> str:
    """The id of a user: as given, or of the member whom the phonebook shows under this name.

    Raises:
        NoSuchThing: it is neither.
    """
    handle = plain_text(name)
    if re.fullmatch(USER_ID_PATTERN, handle):
        return handle
    members = [contact for contact in await phonebook.contacts(name) if contact.user_id is not None]
    contact = one_named(
        name,
        [each for each in members if plain_text(each.display_name) == handle],
        texts.NO_USER,
        lambda each: f"{each.user_id} ({each.display_name})",
    )
    return str(contact.user_id)


async def group_named(terminal: Terminal, name: str) -> GroupSummary:
    """One of the user's groups.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    return find_group((await terminal.groups()).groups, name)


async def groups_named(terminal: Terminal, names: Sequence[str]) -> tuple[GroupSummary, ...]:
    """Some of the user's groups; all of them if none is named.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    groups = (await terminal.groups()).groups
    return tuple(dict.fromkeys(find_group(groups, name) for name in names)) if names else groups


def find_group(groups: Iterable[AnyGroup], name: str) -> AnyGroup:
    """A group by its id, its name, or the beginning of its id.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    groups = tuple(groups)
    found = by_id(groups, name, lambda group: group.group_id)
    sought = plain_text(name)
    return one_named(
        name,
        [group for group in groups if plain_text(group.name) == sought] or found,
        texts.NO_GROUP,
        lambda group: f"{short_id(group.group_id)} ({group.name})",
    )


def find_invitation(invitations: Iterable[InvitationView], name: str) -> InvitationView:
    """An invitation by its id, the beginning of it, its group's name or id, or who is invited.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    invitations = tuple(invitations)
    sought = plain_text(name)
    found = (
        by_id(invitations, name, lambda each: each.invitation_id)
        or [each for each in invitations if plain_text(each.group_name) == sought]
        or [each for each in invitations if sought in (each.group_id, each.invitee_id)]
    )
    return one_named(
        name,
        found,
        texts.NO_INVITATION,
        lambda each: f"{short_id(each.invitation_id)} ({each.group_name}, {each.invitee_id})",
    )


async def sent_invitations(terminal: Terminal, listing: GroupList) -> list[InvitationView]:
    """The open invitations to the user's groups, as far as the user may see them."""
    return [
        invitation
        for group in listing.groups
        for invitation in (await terminal.show(group.group_id)).invitations
    ]


async def contact_named(phonebook: Phonebook, name: str) -> Contact:
    """A contact by its id, either end of it, its member's id, its name, or its nickname.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    return one_named(name, await find_contacts(phonebook, name), texts.NO_CONTACT, told_apart)


async def find_contacts(phonebook: Phonebook, name: str) -> list[Contact]:
    """The contacts that may be meant by an id, either end of it, or a name."""
    contacts = await phonebook.contacts()
    sought = plain_text(name)
    return (
        by_id(contacts, name, lambda contact: contact.contact_id)
        or [contact for contact in contacts if sought == contact.user_id]
        or [contact for contact in contacts if plain_text(contact.display_name) == sought]
        or [contact for contact in contacts if sought in _nicknames(contact)]
    )


def by_id(things: Iterable[Named], name: str, identifier: Callable[[Named], str]) -> list[Named]:
    """What has this id; without it, what has an id that begins or ends so."""
    sought = plain_text(name)
    things = list(things)
    exact = [thing for thing in things if identifier(thing) == sought]
    if exact or len(sought) < _LEAST:
        return exact
    return [
        thing
        for thing in things
        if identifier(thing).startswith(sought) or identifier(thing).endswith(sought)
    ]


def one_named(
    name: str,
    found: Sequence[Named],
    missing: str,
    told: Callable[[Named], str],
    **values: object,
) -> Named:
    """The one thing that was found.

    Args:
        name: what the user calls it.
        found: what may be meant.
        missing: what to say if nothing is, with places for the name and the values.
        told: how to tell one of several from the others.
        values: what else there is a place for.

    Raises:
        NoSuchThing: none, or several, were found.
    """
    if not found:
        raise NoSuchThing(suggested(missing, name=name, **values))
    if len(found) > 1:
        candidates = ", ".join(told(each) for each in found[:_MOST_CANDIDATES])
        more = texts.AND_MORE if len(found) > _MOST_CANDIDATES else ""
        raise NoSuchThing(texts.SEVERAL.format(name=name, candidates=candidates + more))
    return found[0]


def told_apart(contact: Contact) -> str:
    """A contact among others of the same name: with a number, for nobody knows ids."""
    numbers = [phone.number for phone in (contact.card.phones or {}).values()][:1]
    return f"{short_contact_id(contact.contact_id)} ({', '.join((contact.display_name, *numbers))})"


def _nicknames(contact: Contact) -> list[str]:
    return [plain_text(nickname.name) for nickname in (contact.card.nicknames or {}).values()]
