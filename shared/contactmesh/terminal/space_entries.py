"""What a terminal tells of the spaces of SIM accounts: what waits, and what came of it."""

from dataclasses import dataclass

from contactmesh.terminal.rules.spaces import Overwritten, PendingContact


@dataclass(frozen=True, slots=True)
class PendingBook:
    """What waits for a SIM, to look at before deciding (row M5).

    Attributes:
        pending_rev: as of which revision; a decision may name it.
        filling: whether more comes, because an update was requested.
        contacts: what waits, by uid.
    """

    pending_rev: int
    filling: bool
    contacts: tuple[PendingContact, ...]


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """What storing did (rows M3, M4).

    Attributes:
        written: contacts that the space had not, or otherwise.
        removed: contacts that the phonebook has no more and that left the space.
        same: contacts that the space had already, as they are.
        private: contacts that a shared space was not given because they are private, here or in
            the account of any SIM.
        left_out: contacts that no space is given because groups alone brought them.
        moved: contacts that left the account's other space, because they are in this one now.
        waiting: contacts that were not stored because the shared space holds something else than
            this terminal knows: that waits for a decision.
        too_large: the names of contacts that are too large to be stored; the others are.
        unfit_uid: the names of contacts that cannot be stored because their uid has more than 500
            characters, or control characters; the others are.
    """

    written: int = 0
    removed: int = 0
    same: int = 0
    private: int = 0
    left_out: int = 0
    moved: int = 0
    waiting: int = 0
    too_large: tuple[str, ...] = ()
    unfit_uid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AcceptOutcome:
    """What accepting did to the phonebook (row M6).

    Attributes:
        added: contacts that are new.
        changed: contacts that were changed.
        removed: entries of the owner's that were deleted.
        same: contacts that the phonebook had so already.
        kept: entries that were to be removed and stay, because they were changed here; the next
            store brings them back.
        overwritten: values edited here in whose place accepted ones came.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    same: int = 0
    kept: int = 0
    overwritten: tuple[Overwritten, ...] = ()
