"""What the phonebook gives to those who read it."""

from dataclasses import dataclass
from datetime import datetime

from contactmesh.contacts import Card, Damage
from contactmesh.contracts.carrier.check import LineChange
from contactmesh.contracts.carrier.records import ShownState
from contactmesh.contracts.group.views import Role
from contactmesh.terminal.rules.arriving import Came
from contactmesh.terminal.rules.lines import KnownLine, Question
from contactmesh.terminal.updates import Update


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact as it is shown.

    Attributes:
        contact_id: its id in this phonebook.
        display_name: its name as shown.
        card: the owner's part and the member's, composed (RFC 9553).
        user_id: the member behind it, none while no common group shows one.
        groups: the common groups that show the member.
        own: whether the owner has an entry of their own, which stays when the member goes.
    """

    contact_id: str
    display_name: str
    card: Card
    user_id: str | None
    groups: tuple[str, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """A group as the phonebook knows it, without asking the service."""

    group_id: str
    name: str
    owner_id: str


@dataclass(frozen=True, slots=True)
class KnownMember:
    """A member of a group, other than the user.

    Attributes:
        role: how the member came in, if that is known.
        card: the card that the group shows, if any.
    """

    user_id: str
    role: Role | None
    card: Card | None


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """An invitation that waits for the user's answer."""

    invitation_id: str
    group_id: str
    group_name: str
    inviter_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OwnCard:
    """The user's own card as a group has it."""

    group_id: str
    rev: int
    card: Card


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did with the cards.

    Attributes:
        added: contacts that are new.
        updated: entries of the owner's that were replaced, found by uid.
        unchanged: cards that the phonebook had already, as they are.
        damages: what could not be imported, with its place in the file and what to do about it.
    """

    added: int
    updated: int
    unchanged: int
    damages: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownLines:
    """What the registry last told of a contact's numbers.

    Attributes:
        identity_id: whom the contact is, for the registry; none if nobody is known to be it.
        lines: the live numbers in dial order: the user's own order, else the contact's.
        checked_at: when the registry told it, none if it never did.
    """

    identity_id: str | None
    lines: tuple[KnownLine, ...] = ()
    checked_at: datetime | None = None

    @property
    def dialling(self) -> tuple[KnownLine, ...]:
        """The numbers as they are best dialled now: those out of reach last, else as they stand."""
        return tuple(sorted(self.lines, key=lambda line: line.state is ShownState.UNREACHABLE))


@dataclass(frozen=True, slots=True)
class CheckedContact:
    """What came of a check.

    Attributes:
        contact: the contact as it is shown now.
        asked: what the phonebook knew before, as far as it was asked about.
        changes: what became of the numbers that were known, and what is new; most weighty first.
        known: the numbers now.
    """

    contact: Contact
    asked: Question
    changes: tuple[LineChange, ...]
    known: KnownLines


@dataclass(frozen=True, slots=True)
class Applied:
    """What messages did.

    Attributes:
        updates: those for the user.
        groups_to_pull: the groups that have to be pulled now.
        came: entries of the owner's that are as the server told them.
    """

    updates: tuple[Update, ...]
    groups_to_pull: tuple[str, ...]
    came: tuple[Came, ...] = ()
