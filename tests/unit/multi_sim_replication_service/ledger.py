"""What a user's terminals would know of their SIM cards, kept apart from the service's rules."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
    _declined: defaultdict[tuple[str, str], set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )
    _waiting: dict[str, int | None] = field(default_factory=dict)

    @staticmethod
    @cache
    def digest(uid: str, number: str | None) -> str:
        """The digest of a contact with a number, or of its removal."""
        return NO_CONTACT if number is None else digest(card(uid, number))

    def seen(self, sim_id: str, uid: str) -> str:
        """What a SIM's terminal has last stored, accepted or declined of a contact."""
        return self._seen.get((sim_id, uid), NO_CONTACT)

    def has_seen(self, sim_id: str, uid: str, digest: str) -> bool:
        """Whether a SIM's terminal has contents of a contact, or has declined them."""
        return digest == self.seen(sim_id, uid) or digest in self._declined[sim_id, uid]

    def has_declined(self, sim_id: str, uid: str, digest: str) -> bool:
        """Whether a SIM's terminal has declined contents of a contact."""
        return digest in self._declined[sim_id, uid]

    def stored(
        self,
        sim_id: str,
        contacts: Mapping[str, str | None],
        stored: Stored,
        known: Mapping[str, str] | None = None,
    ) -> None:
        """A SIM's terminal has stored contacts; of what waits then, it is told nothing."""
        for uid, number in contacts.items():
            if uid not in (*stored.behind, *stored.private):
                self._sees(sim_id, uid, self.digest(uid, number))
        for uid in stored.behind:
            self._seen[sim_id, uid] = (known or {})[uid]
        self._waiting[sim_id] = None
        self.changes += len(stored.behind)
        self.pages += stored.written + stored.removed > 0
        self.changes += stored.written + stored.removed

    def became_private(self, sim_ids: Iterable[str], uid: str) -> None:
        """A terminal with these SIMs has stored a contact privately: it is shared nowhere."""
        for sim_id in sim_ids:
            self._sees(sim_id, uid, NO_CONTACT)
            self._waiting[sim_id] = None
        self.pages += 1
        self.changes += 1

    def decided(
        self, sim_id: str, settled: Mapping[str, str], waiting: int, *, accept: bool
    ) -> None:
        """A SIM's terminal has accepted or declined contents, and `waiting` are left."""
        for uid, contents in settled.items():
            self._seen[sim_id, uid] = contents
            if not accept and contents != NO_CONTACT:
                self._declined[sim_id, uid].add(contents)
        self._waiting[sim_id] = waiting

    def _sees(self, sim_id: str, uid: str, digest: str) -> None:
        self._seen[sim_id, uid] = digest
        self._declined[sim_id, uid].discard(digest)

    def moved(self, sim_id: str) -> None:
        """A SIM is in another terminal, which has seen nothing of its account."""
        for known in (self._seen, self._declined):
            for key in [one for one in known if one[0] == sim_id]:
                del known[key]
        self._waiting[sim_id] = 0
        self.requested.add(sim_id)

    def told(self, pending: PendingSpace) -> None:
        """A terminal was told what waits for a SIM."""
        self._waiting[pending.sim_id] = pending.waiting

    def known_waiting(self, sim_id: str) -> int | None:
        """How many contacts wait for a SIM as far as its terminal knows."""
        return self._waiting.get(sim_id, 0)
