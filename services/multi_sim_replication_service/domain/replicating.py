"""From one account's shared space to another's, and to a SIM that asks (rows M4, M5)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import RequestUpdate
from contactmesh.contracts.multi_sim.events import CatchUp
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.documents import Account, Entry, Sim
from multi_sim_replication_service.domain.pending import lay_ready, tell_anew
from multi_sim_replication_service.domain.spaces import Contents, newer, write
from multi_sim_replication_service.domain.state import Asking, State


def request_update(state: State, asking: Asking, command: RequestUpdate) -> Decision:
    """Begin to lay a shared space ready for a SIM; another account's is copied here first (M5)."""
    account, sim = state.sim_here(asking, command.sim_id)
    source = command.from_carrier_id or account.carrier_id
    state.account(asking.user_id, source)
    if source != account.carrier_id and not account.consent:
        raise Refusal(
            ErrorCode.PERMISSION_DENIED,
            f"Contacts of other carriers are not copied to {account.carrier_id} without your "
            "consent. Set the consent for it first.",
        )
    state.put_account(account.with_sim(replace(sim, filling=True)))
    return Decision(told=(_next(account, source, sim.sim_id, None),))


def take_over(
    state: State, account: Account, contents: Sequence[Contents], now: datetime
) -> tuple[Told, ...]:
    """Take over what is newer from another account, if the user agrees that it comes here (M4).

    What says the same takes its stamp over alone: it is copied to no pending space. Nothing that
    is taken over is published, so nothing echoes.
    """
    fresh = newer(state, account, contents) if account.consent else []
    if not fresh:
        return ()
    return write(state, account, SpaceKind.SHARED, fresh, now)[1]


def catch_up(
    state: State, event: CatchUp, page: Sequence[Entry], *, more: bool, now: datetime
) -> tuple[Told, ...]:
    """Take one page over, and ask for the next one.

    Where it was requested for a SIM, its terminal is told the end whatever came of it: nothing that
    it had not seen, or a consent that was withdrawn on the way.

    Args:
        state: holds both accounts, what the receiving one has of the page, and its SIMs have seen.
        event: what is to be taken over, and from where on.
        page: the contacts of the shared space at `from_carrier_id`, with cards, by uid.
        more: whether contacts follow the page.
        now: the time.
    """
    account = state.accounts.get((event.owner_id, event.to_carrier_id))
    if account is None:
        return ()
    if event.from_carrier_id == event.to_carrier_id:
        return _fill(state, account, event, page, more=more)
    account = _filling(state, account, event.sim_id)
    contents = [Contents(one.uid, one.card, one.digest, one.stamp, over=one.over) for one in page]
    told = take_over(state, account, contents, now)
    if account.consent and more:
        return (*told, _next(account, event.from_carrier_id, event.sim_id, page[-1].uid))
    if event.sim_id is not None:
        return (*told, _next(account, account.carrier_id, event.sim_id, None))
    return told


def _fill(
    state: State, account: Account, event: CatchUp, page: Sequence[Entry], *, more: bool
) -> tuple[Told, ...]:
    sim = _sim(account, event.sim_id)
    if sim is None:
        return ()
    sim = replace(sim, filling=more)
    digests = {one.uid: one.digest for one in page}
    account, told = lay_ready(state, account.with_sim(sim), sim, digests)
    if not more and not told:
        account, told = tell_anew(account, _sim(account, sim.sim_id) or sim)
    state.put_account(account)
    return (*told, _next(account, account.carrier_id, sim.sim_id, page[-1].uid)) if more else told


def _filling(state: State, account: Account, sim_id: str | None) -> Account:
    """The account, and that an update for its SIM is under way, should another have ended."""
    sim = _sim(account, sim_id)
    if sim is None or sim.filling:
        return account
    account = account.with_sim(replace(sim, filling=True))
    state.put_account(account)
    return account


def _sim(account: Account, sim_id: str | None) -> Sim | None:
    return next((sim for sim in account.sims if sim.sim_id == sim_id), None)


def _next(account: Account, source: str, sim_id: str | None, after: str | None) -> Told:
    event = CatchUp(
        owner_id=account.user_id,
        from_carrier_id=source,
        to_carrier_id=account.carrier_id,
        sim_id=sim_id,
        after=after,
    )
    return Told(event, account.user_id)
