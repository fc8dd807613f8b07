"""What is decided on of what waits for a SIM, and what came of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from contactmesh.terminal.rules.spaces import Overwritten, PendingChange, Settled
from contactmesh.terminal.space_entries import AcceptOutcome

_KEPT: Final = "kept"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is decided on.

    Attributes:
        sim_id: for which SIM it waits.
        carrier_id: at whose account.
        uids: which contacts; all if not given.
        pending_rev: the revision that was looked at; what waits now if not given.
    """

    sim_id: str
    carrier_id: str
    uids: frozenset[str] | None = None
    pending_rev: int | None = None


@dataclass(slots=True)
class Tally:
    """What came of each contact; one that is shown again meanwhile counts once."""

    became: dict[str, str] = field(default_factory=dict)
    overwritten: list[Overwritten] = field(default_factory=list)

    def add(self, results: Iterable[Settled]) -> None:
        """Count a page."""
        for result in results:
            uid, change = result.contact.uid, result.contact.change.value
            known = self.became.get(uid, PendingChange.SAME.value)
            again = (known, change) == (PendingChange.ADDED, PendingChange.CHANGED)
            if change == PendingChange.SAME or again:
                self.became.setdefault(uid, change)
            else:
                self.became[uid] = _KEPT if result.kept else change
            self.overwritten.extend(result.overwritten)

    def outcome(self) -> AcceptOutcome:
        """What came of all of them."""
        number = Counter(self.became.values())
        return AcceptOutcome(
            added=number[PendingChange.ADDED],
            changed=number[PendingChange.CHANGED],
            removed=number[PendingChange.REMOVED],
            same=number[PendingChange.SAME],
            kept=number[_KEPT],
            overwritten=tuple(self.overwritten),
        )
