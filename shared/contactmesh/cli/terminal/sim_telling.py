"""Telling that contacts wait for a SIM, by the name that its user knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from shlex import quote

from contactmesh.cli.output import counted
from contactmesh.cli.terminal import sim_texts, space_texts, texts
from contactmesh.cli.terminal.naming import short_id
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.multi_sim.records import AccountView, SimView
from contactmesh.terminal import LargeRemovalWaiting, SimContactsWaiting


def told_waiting(sim: SimView) -> str:
    """How much waits for a SIM."""
    text = space_texts.LAID_READY_ONE if sim.waiting == 1 else space_texts.LAID_READY
    return text.format(contacts=counted(sim.waiting, texts.CONTACTS), name=sim.name)


@dataclass(frozen=True, slots=True)
class KnownSims:
    """What a terminal knows of the user's SIMs.

    Attributes:
        names: what each is called, by id.
        by_itself: those for which it accepts by itself.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_itself: frozenset[str] = frozenset()

    @classmethod
    def of(cls, accounts: Iterable[AccountView], by_itself: frozenset[str]) -> "KnownSims":
        """The SIMs of the user's accounts."""
        names = {sim.sim_id: sim.name for account in accounts for sim in account.sims}
        return cls(names, by_itself)

    def told(self, update: SimContactsWaiting, look: str) -> str | None:
        """What waits, in a line; none while more is still being laid ready.

        Args:
            update: what waits.
            look: how it can be looked at, with a place for the SIM.
        """
        if update.filling:
            return None
        sim = self._called(update.sim_id)
        if not update.waiting:
            return sim_texts.TOLD_NOTHING_WAITS.format(sim=sim)
        contacts = counted(update.waiting, texts.CONTACTS)
        one = update.waiting == 1
        if update.sim_id in self.by_itself:
            text = sim_texts.TOLD_TAKEN_ONE if one else sim_texts.TOLD_TAKEN
            return text.format(contacts=contacts, sim=sim)
        text = sim_texts.TOLD_WAITING_ONE if one else sim_texts.TOLD_WAITING
        return text.format(contacts=contacts, sim=sim, look=self._see(update.sim_id, look))

    def told_removals(self, update: LargeRemovalWaiting, look: str) -> str:
        """Which removals were not accepted by themselves, in a line; `look` as for `told`."""
        return sim_texts.TOLD_REMOVALS_WAIT.format(
            sim=self._called(update.sim_id),
            removals=update.removals,
            look=self._see(update.sim_id, look),
        )

    def _called(self, sim_id: str) -> str:
        return self.names.get(sim_id, sim_texts.A_SIM)

    def _see(self, sim_id: str, look: str) -> str:
        # Where the name is not known, the id names the SIM as well.
        return suggested(look, sim=quote(self.names.get(sim_id, short_id(sim_id))))
