"""Which documents the rules look at, so that a unit of work loads them together.

Users and accounts come first: only they say which contacts of which spaces and SIMs are looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contactmesh.contracts.multi_sim.commands import Decide, Store
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.runtime.commands import Request
from multi_sim_replication_service.domain.documents import Account, Sim
from multi_sim_replication_service.domain.state import State
from multi_sim_replication_service.domain.storing import MOST_WHOLE


@dataclass(slots=True)
class Wanted:
    """What to load beside users and accounts; keys are as in the state."""

    entries: set[tuple[str, str]] = field(default_factory=set)
    """(space, uid)"""
    whole: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    """Spaces with all their contacts, and the views whose part of these is looked at."""
    sim_entries: set[tuple[str, str]] = field(default_factory=set)
    """(view, uid)"""
    covered: set[tuple[Sim, int]] = field(default_factory=set)
    """SIMs with a revision: what waits since that revision or before it"""

    def contacts(self, account: Account, kind: SpaceKind, uids: Iterable[str]) -> None:
        """Look at contacts of a space, and at what the account's SIMs have seen of shared ones."""
        for uid in uids:
            self.entries.add((account.space_id(kind), uid))
            if kind is SpaceKind.SHARED:
                self.sim_entries |= {(sim.view_id, uid) for sim in account.sims}


def wanted(state: State, requests: Sequence[Request]) -> Wanted:
    """What a batch of commands looks at; `state` has their senders' users and accounts."""
    want = Wanted()
    for request in requests:
        command = request.command
        if isinstance(command, Store | Decide):
            found = _sim(state, request.sender.user_id, command.sim_id)
            if found is not None:
                _look(want, state, *found, command)
    return want


def _look(want: Wanted, state: State, account: Account, sim: Sim, command: Store | Decide) -> None:
    match command:
        case Store():
            uids = [change.uid for change in command.changes]
            for one in state.accounts_of(account.user_id):
                want.contacts(one, SpaceKind.PRIVATE, uids)
                if one is account or command.space is SpaceKind.PRIVATE:
                    want.contacts(one, SpaceKind.SHARED, uids)
            if command.whole and account.space(command.space).contacts <= MOST_WHOLE:
                shared = command.space is SpaceKind.SHARED
                views = tuple(one.view_id for one in account.sims) if shared else ()
                want.whole.add((account.space_id(command.space), views))
        case Decide(uids=None):
            want.covered.add((sim, command.pending_rev))
        case Decide():
            want.sim_entries |= {(sim.view_id, uid) for uid in command.uids or ()}


def _sim(state: State, user_id: str, sim_id: str) -> tuple[Account, Sim] | None:
    for account in state.accounts_of(user_id):
        for sim in account.sims:
            if sim.sim_id == sim_id:
                return account, sim
    return None
