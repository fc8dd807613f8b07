"""What a user's terminals would know of their SIM cards, kept apart from the service's rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from tests.unit.multi_sim_replication_service.spaces import card

from contactmesh.contacts import digest
from contactmesh.contracts.contact import PendingSpace
from contactmesh.contracts.multi_sim.commands import Stored
from multi_sim_replication_service.domain.documents import NO_CONTACT


@dataclass
class Ledger:
    """What terminals have stored, accepted and declined, and how much of it was a change."""

    complete: set[str] = field(default_factory=set)
    """SIMs that were there from the beginning, or whose requested update has ended."""
    requested: set[str] = field(default_factory=set)
    """SIMs for which an update was requested."""
    changes: int = 0
    """How often contents of a contact were stored that differed, in whatever account."""
    pages: int = 0
    """How often a page was stored that changed something."""
    moves: int = 0
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)
    _waiting: dict[str, int | None] = field(default_factory=dict)

    @staticmethod
    @cache
    def digest(uid: str, number: str | None) -> str:
        """The digest of a contact with a number, or of its removal."""
        return NO_CONTACT if number is None else digest(card(uid, number))

    def seen(self, sim_id: str, uid: str) -> str:
        """What a SIM's terminal has last stored, accepted or declined of a contact."""
        return self._seen.get((sim_id, uid), NO_CONTACT)

    def stored(self, sim_id: str, contacts: Mapping[str, str | None], stored: Stored) -> None:
        """A SIM's terminal has stored contacts; of what waits then, it is told nothing."""
        for uid, number in contacts.items():
            self._seen[sim_id, uid] = self.digest(uid, number)
        self._waiting[sim_id] = None
        self.pages += stored.written + stored.removed > 0
        self.changes += stored.written + stored.removed

    def decided(self, sim_id: str, settled: Mapping[str, str], waiting: int) -> None:
        """A SIM's terminal has accepted or declined contents, and `waiting` are left."""
        self._seen |= {(sim_id, uid): digest for uid, digest in settled.items()}
        self._waiting[sim_id] = waiting

    def told(self, pending: PendingSpace) -> None:
        """A terminal was told what waits for a SIM."""
        self._waiting[pending.sim_id] = pending.waiting

    def known_waiting(self, sim_id: str) -> int | None:
        """How many contacts wait for a SIM as far as its terminal knows."""
        return self._waiting.get(sim_id, 0)
