"""What waits for a SIM, against the owner's part of the phonebook (rows M5, M6).

The base of a contact is what this terminal last stored in a space, or accepted from there. It says
on which side a contact was changed.
"""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from contactmesh.contacts import Card


class PendingChange(StrEnum):
    """What accepting a contact that waits does to the phonebook."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SAME = "same"
    """Nothing: the phonebook has it so already."""


@dataclass(frozen=True, slots=True)
class PendingContact:
    """A contact that waits for a SIM, worked out against the owner's part of the phonebook.

    Attributes:
        uid: the card's uid.
        display_name: its name; of a removal, the name that the phonebook has.
        change: what accepting it does to the phonebook.
        changed_fields: what accepting it changes, as JSON pointers without the first slash.
        changed_here: whether the phonebook's entry was changed, or is not known to be the same,
            since it was last stored or accepted. Then accepting merges, and a removal keeps it.
        card: what waits; none for a removal.
    """

    uid: str
    display_name: str
    change: PendingChange
    changed_fields: tuple[str, ...] = ()
    changed_here: bool = False
    card: Card | None = None


@dataclass(frozen=True, slots=True)
class Overwritten:
    """A value that the owner had edited and that an accepted contact replaced.

    Attributes:
        uid: the card's uid.
        display_name: the contact's name now.
        field: which one, as a JSON pointer without the first slash.
        value: the value that the phonebook had.
    """

    uid: str
    display_name: str
    field: str
    value: JsonValue
