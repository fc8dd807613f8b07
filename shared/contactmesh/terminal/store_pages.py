"""What is to be stored in a space, page by page."""

from dataclasses import dataclass

from contactmesh.contacts import Card
from contactmesh.terminal.space_records import GoneEntry


@dataclass(frozen=True, slots=True)
class NamedEntries:
    """Contacts that were named to be stored: the uids of entries, how many have none."""

    uids: frozenset[str]
    left_out: int


@dataclass(frozen=True, slots=True)
class ToStore:
    """How a space differs from the phonebook, as far as this terminal remembers.

    Attributes:
        held: how many entries belong in the space.
        differing: how many of them may differ.
        remembered: how many contacts of the space are remembered.
        private: how many entries are left out of it because they are private.
        without_entry: how many contacts have no entry of the owner's.
        gone: what does not belong there any more.
    """

    held: int
    differing: int
    remembered: int
    private: int
    without_entry: int
    gone: tuple[GoneEntry, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """An entry as it is sent.

    Attributes:
        text: the card's JSON.
        known: the digest of what the account's shared space is known to hold, empty for nothing.
    """

    uid: str
    card: Card
    digest: str
    text: str
    known: str


@dataclass(frozen=True, slots=True)
class StorePage:
    """The next entries to store.

    Attributes:
        entries: as many as a command has room for.
        after: where to go on, none after the last page.
        looked_at: how many entries the page is about, those that turned out to be the same too.
        too_large: the names of those that are too large to be stored.
        unfit_uid: the names of those whose uid no space takes.
    """

    entries: tuple[Sent, ...]
    after: str | None
    looked_at: int
    too_large: tuple[str, ...]
    unfit_uid: tuple[str, ...]
