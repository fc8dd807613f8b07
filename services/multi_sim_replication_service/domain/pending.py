"""Pending spaces: what a shared space holds and a SIM has not seen (rows M4-M6)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from contactmesh.contracts.contact import ContactChanged, Origin, PendingSpace, Scope
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import Decide, DecisionTaken
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Sim, SimEntry
from multi_sim_replication_service.domain.state import Asking, Covered, State

SERVICE: Final = "multi_sim_replication_service"
MOST_REMEMBERED: Final = 20
"""How many declined contents of a contact are remembered for each SIM."""


def lay_ready(
    state: State, account: Account, sim: Sim, digests: Mapping[str, str]
) -> tuple[Account, tuple[Told, ...]]:
    """Let contents wait for a SIM, those left out that its terminal has seen last.

    Args:
        state: holds what the SIM has seen of these contacts.
        account: the SIM's account as it is now.
        sim: the SIM as it is now.
        digests: what the contacts are now, by uid.

    Returns:
        The account, not yet put, and the event that tells the SIM's terminal.
    """
    rev, waiting = sim.pending_rev, sim.waiting
    for uid, digest in digests.items():
        before = state.sim_entry(sim.view_id, uid)
        pending = None if before.has_seen(digest) else digest
        if pending != before.pending:
            rev += 1
            over = _over(state, account, before)
            after = replace(before, pending=pending, pending_rev=rev, over=over)
            state.put_sim_entry(after)
            waiting += (pending is not None) - (before.pending is not None)
    if rev == sim.pending_rev:
        return account, ()
    sim = replace(sim, pending_rev=rev).with_waiting(waiting)
    return account.with_sim(sim), (_waiting(account, sim),)


def _over(state: State, account: Account, before: SimEntry) -> str:
    """What the contents of now were made of, as far as the terminal can know it."""
    there = state.entries.get((account.space_id(SpaceKind.SHARED), before.uid))
    over = NO_CONTACT if there is None else there.over
    return before.over if over == before.pending else over


def lay_behind(
    state: State, account: Account, sim_id: str, known: Mapping[str, str]
) -> tuple[Account, tuple[Told, ...]]:
    """Let what a terminal turns out not to know wait for its SIM.

    Args:
        state: holds these contacts, and what the SIM has seen of them.
        account: the SIM's account as it is now.
        sim_id: the SIM.
        known: what the terminal says it knows, by uid: that it has seen last, and nothing later.
    """
    sim = account.sim(sim_id)
    if sim is None or not known:
        return account, ()
    for uid, digest in known.items():
        state.put_sim_entry(replace(state.sim_entry(sim.view_id, uid), seen=digest))
    space_id = account.space_id(SpaceKind.SHARED)
    digests = {uid: state.digest(space_id, uid) for uid in known}
    account, told = lay_ready(state, account, sim, digests)
    state.put_account(account)
    return account, told


def tell_anew(account: Account, sim: Sim) -> tuple[Account, tuple[Told, ...]]:
    """Tell a SIM's terminal how its pending space stands, though no contact came to wait in it.

    It has a revision of its own, so that a terminal knows it from what it was told before.
    """
    sim = replace(sim, pending_rev=sim.pending_rev + 1)
    return account.with_sim(sim), (_waiting(account, sim),)


def tell_gone(account: Account, sim: Sim) -> tuple[Told, ...]:
    """Tell the terminal that loses a SIM that nothing waits for it there, nor is laid ready."""
    if not sim.waiting and not sim.filling:
        return ()
    gone = replace(sim, pending_rev=sim.pending_rev + 1, waiting=0, filling=False)
    return (_waiting(account, gone),)


def mark_seen(state: State, account: Account, sim: Sim, digests: Mapping[str, str]) -> Account:
    """Take note that a SIM's terminal has these contents, so that nothing of them waits."""
    waiting = sim.waiting
    for uid, digest in digests.items():
        before = state.sim_entry(sim.view_id, uid)
        declined = tuple(one for one in before.declined if one != digest)
        after = replace(before, seen=digest, pending=None, declined=declined)
        if after != before:
            state.put_sim_entry(after)
            waiting -= before.pending is not None
    return account.with_sim(sim.with_waiting(waiting))


def decide(state: State, asking: Asking, command: Decide) -> Decision:
    """Settle what waits: accepted or declined, the terminal has seen it, and it is gone (M6)."""
    account, sim = state.sim_here(asking, command.sim_id)
    if command.pending_rev > sim.pending_rev:
        raise _moved_on(sim)
    if command.uids:
        settled, left = _named(state, sim, command), 0
    else:
        sim, settled, left = _first(state, sim, command.pending_rev)
    for entry in settled:
        state.put_sim_entry(_settled(entry, accept=command.accept))
    sim = sim.with_waiting(sim.waiting - len(settled))
    state.put_account(account.with_sim(sim))
    return Decision(
        DecisionTaken(
            settled=len(settled),
            left=left,
            waiting=sim.waiting,
            pending_rev=sim.pending_rev,
        )
    )


def _settled(entry: SimEntry, *, accept: bool) -> SimEntry:
    """The terminal has seen what waited; what it declined does not come back.

    A removal is no contents: one that comes after other contents is another one.
    """
    digest = entry.pending or NO_CONTACT
    declined = entry.declined
    if not accept and digest != NO_CONTACT:
        declined = (*declined, digest)[-MOST_REMEMBERED:]
    return replace(entry, seen=digest, pending=None, declined=declined)


def _named(state: State, sim: Sim, command: Decide) -> list[SimEntry]:
    """The named contacts that wait; what was settled already is left out.

    Raises:
        Refusal: `conflict`, one of them changed after the revision that was looked at.
    """
    entries = [state.sim_entry(sim.view_id, uid) for uid in dict.fromkeys(command.uids or ())]
    waiting = [entry for entry in entries if entry.pending is not None]
    if any(entry.pending_rev > command.pending_rev for entry in waiting):
        raise _moved_on(sim)
    return waiting


def _first(state: State, sim: Sim, rev: int) -> tuple[Sim, list[SimEntry], int]:
    """Those that wait since the earliest revisions, of the ones up to a revision.

    Returns:
        The SIM, with nothing waiting up to the last of them; them; and how many more the decision
        covers, which is too high where others of their batch have changed what waits.
    """
    nothing = Covered(0, sim.settled_rev)  # It came into this terminal in the same batch.
    covered = state.covered.get((sim.view_id, rev), nothing)
    first = [
        entry
        for entry in state.sim_entries
        if entry.view_id == sim.view_id
        and entry.pending is not None
        and entry.pending_rev <= covered.loaded_to
    ]
    left = max(0, covered.number - len(first))
    state.covered[sim.view_id, rev] = covered._replace(number=left)
    settled_rev = max(sim.settled_rev, covered.loaded_to)
    return replace(sim, settled_rev=settled_rev), first, left


def _moved_on(sim: Sim) -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        "What waits is not what you looked at. Look at it again, and decide on that.",
        current_rev=sim.pending_rev,
    )


def _waiting(account: Account, sim: Sim) -> Told:
    changed = ContactChanged(
        scope=Scope.SPACE,
        owner_id=account.user_id,
        uid=sim.sim_id,
        rev=sim.pending_rev,
        origin=Origin(service=SERVICE),
        pending=PendingSpace(
            sim_id=sim.sim_id,
            terminal_id=sim.terminal_id,
            waiting=sim.waiting,
            filling=sim.filling,
        ),
    )
    return Told(changed, account.user_id, sim.pending_rev)
