"""The owner's part of the phonebook, and what waits for a SIM against it (rows M3 to M6).

The base of a contact is what this terminal last stored in a space, or accepted from there. It says
on which side a contact was changed. Where the base is an edit that this terminal stored, and what
waits was made of the version before it, both sides edited that one: it is merged as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from contactmesh.contacts import (
    Card,
    CardTooLarge,
    changed_fields,
    check_size,
    derived_uid,
    digest,
    display_name,
    merge,
)
from contactmesh.contracts.multi_sim.records import ContactUid

FEW_REMOVALS: Final = 10
"""As many contacts may always be removed without asking."""

_UID: Final[TypeAdapter[str]] = TypeAdapter(ContactUid)


class PendingChange(StrEnum):
    """What accepting a contact that waits does to the phonebook."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    SAME = "same"
    """Nothing: the phonebook has it so already."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What contents that wait were made of, against what this terminal remembers of the contact.

    Attributes:
        over: the digest of what their sender had, empty for nothing; none if it is not known.
        stored: whether the base is an edit that this terminal stored, not one that it accepted.
        earlier: the base before that one, none if there is none.
        ours: whether they are contents that this terminal itself had stored or accepted before, and
            nobody has gone back to them since.
    """

    over: str | None = None
    stored: bool = False
    earlier: Card | None = None
    ours: bool = False

    def apart(self, base: Card | None) -> bool:
        """Whether they were made beside the base, not of it: then both are edits.

        Of something that this terminal never had, nothing more is known than that the edit may not
        be in it. Without an earlier base there is no edit: the contact began with what was stored.
        """
        if not self.stored or base is None or self.over in (None, digest(base)):
            return False
        return self.earlier is not None or self.over == ""


UNKNOWN_ORIGIN: Final = Origin()


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
        before: the owner's part as it is; none if there is none.
        after: the owner's part as accepting leaves it, merged if need be; none if there is none.
    """

    uid: str
    display_name: str
    change: PendingChange
    changed_fields: tuple[str, ...] = ()
    changed_here: bool = False
    card: Card | None = None
    before: Card | None = None
    after: Card | None = None


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


@dataclass(frozen=True, slots=True)
class Settled:
    """What accepting a contact that waits comes to.

    Attributes:
        contact: what is shown of it before.
        own: the owner's part afterwards, none if there is none.
        kept: whether a removal was not carried out, because the entry was changed here.
        overwritten: what was edited here and is lost.
    """

    contact: PendingContact
    own: Card | None
    kept: bool = False
    overwritten: tuple[Overwritten, ...] = ()


def settled(
    uid: str,
    theirs: Card | None,
    mine: Card | None,
    base: Card | None,
    *,
    origin: Origin = UNKNOWN_ORIGIN,
    private: bool = False,
    region: str | None = None,
) -> Settled:
    """Work out what accepting a contact that waits comes to; nothing that was edited is deleted.

    Args:
        uid: the card's uid.
        theirs: what waits; none for a removal.
        mine: the owner's part, none if the phonebook has no entry.
        base: what this terminal last stored or accepted; none if it did neither.
        origin: what they were made of.
        private: whether the contact is private here. It is in no shared space then, and leaving
            one is no reason to delete it.
        region: the country (ISO 3166) of numbers without a country code.
    """
    apart = origin.apart(base)
    here = apart or not _alike(base, mine)
    if _alike(theirs, mine) or (theirs is None and private) or origin.ours:
        return Settled(_pending(uid, theirs, mine, PendingChange.SAME, mine, here=here), mine)
    if theirs is None:
        own = mine if here else None
        contact = _pending(uid, theirs, mine, PendingChange.REMOVED, own, here=here)
        return Settled(contact, own, kept=here)
    if mine is None:
        # Deleted here, and nobody has changed it since: it stays deleted.
        own = None if _alike(base, theirs) else theirs
        change = PendingChange.SAME if own is None else PendingChange.ADDED
        return Settled(_pending(uid, theirs, mine, change, own, here=here), own)
    if not here:
        contact = _pending(uid, theirs, mine, PendingChange.CHANGED, theirs, here=False)
        return Settled(contact, theirs)
    return _merged(uid, theirs, mine, origin.earlier if apart else base, region)


def _merged(uid: str, theirs: Card, mine: Card, base: Card | None, region: str | None) -> Settled:
    merged = merge(base, mine, theirs, prefer="theirs", default_region=region)
    own = merged.card or mine
    change = PendingChange.SAME if _alike(own, mine) else PendingChange.CHANGED
    lost = tuple(
        Overwritten(uid, display_name(own), conflict.path, conflict.mine)
        for conflict in merged.conflicts
        if conflict.winner == "theirs" and conflict.mine is not None
    )
    return Settled(_pending(uid, theirs, mine, change, own, here=True), own, overwritten=lost)


def _pending(
    uid: str,
    theirs: Card | None,
    mine: Card | None,
    change: PendingChange,
    after: Card | None,
    *,
    here: bool,
) -> PendingContact:
    named = theirs or mine
    fields = () if mine is None or after is None else changed_fields(mine, after)
    return PendingContact(
        uid=uid,
        display_name="" if named is None else display_name(named),
        change=change,
        changed_fields=() if change is PendingChange.SAME else fields,
        changed_here=here,
        card=theirs,
        before=mine,
        after=after,
    )


def _alike(one: Card | None, other: Card | None) -> bool:
    if one is None or other is None:
        return one is other
    return digest(one) == digest(other)


def too_many(removals: int, contacts: int) -> bool:
    """Whether so many removals are more than half of the contacts, and not a few."""
    return removals > FEW_REMOVALS and removals * 2 > contacts


def that_fit(sizes: Iterable[int], room: int) -> int:
    """How many of the first ones a page has room for; sizes and room are in bytes."""
    number = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        number += 1
    return number


def has_fit_uid(uid: str) -> bool:
    """Whether a uid is one that a space takes: not too long, no control characters."""
    try:
        _UID.validate_python(uid)
    except ValidationError:
        return False
    return True


def fit_uid(uid: str) -> str:
    """A uid that the book and spaces take, the same for the same: this one if it is fit."""
    return uid if has_fit_uid(uid) else derived_uid({"of": uid})


def storable(card: Card, size: int, room: int) -> bool:
    """Whether a card can be stored: it is within the limits, and a page has room for it.

    Args:
        card: the card.
        size: its bytes on the wire.
        room: the bytes that a page has.
    """
    try:
        check_size(card)
    except CardTooLarge:
        return False
    return size <= room
