"""From one account's shared space to another's, and to a SIM that asks (rows M4, M5)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import RequestUpdate
from contactmesh.contracts.multi_sim.events import CatchUp
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.documents import Account, Entry, Update
from multi_sim_replication_service.domain.pending import lay_ready, tell_anew
from multi_sim_replication_service.domain.spaces import Contents, newer, write
from multi_sim_replication_service.domain.state import Asking, State
from multi_sim_replication_service.domain.updating import begin, next_page


def request_update(state: State, asking: Asking, command: RequestUpdate) -> Decision:
    """Begin to lay a shared space ready for a SIM; another account's is copied here first (M5).

    A request while the same one is under way joins it.
    """
    account, sim = state.sim_here(asking, command.sim_id)
    source = command.from_carrier_id or account.carrier_id
    state.account(asking.user_id, source)
    if source != account.carrier_id and not account.consent:
        raise Refusal(
            ErrorCode.PERMISSION_DENIED,
            f"Contacts of other carriers are not copied to {account.carrier_id} without your "
            "consent. Set the consent for it first.",
        )
    account, told = begin(account, source, sim.sim_id)
    state.put_account(account)
    return Decision(told=(told,))


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
    """Take one page over, if it is the one at which its update stands, and ask for the next one.

    Where it was requested for a SIM, its terminal is told the end whatever came of it: nothing that
    it had not seen, or a consent that was withdrawn on the way.

    Args:
        state: holds both accounts, what the receiving one has of the page, and its SIMs have seen.
        event: what is to be taken over, and from where on.
        page: the contacts of the shared space at `from_carrier_id`, with cards, by revision.
        more: whether contacts follow the page.
        now: the time.
    """
    account = state.accounts.get((event.owner_id, event.to_carrier_id))
    if account is None:
        return ()
    update = account.update(event.from_carrier_id, event.sim_id)
    if update is None or update.after != event.after:
        return ()
    on = replace(update, after=page[-1].rev) if more else None
    if event.from_carrier_id == event.to_carrier_id:
        return _fill(state, account, update, on, page)
    contents = [Contents(one.uid, one.card, one.digest, one.stamp, over=one.over) for one in page]
    told = take_over(state, account, contents, now)
    account = state.account(*account.key)
    if account.consent and on is not None:
        account = account.with_update(on)
        told = (*told, next_page(account, on))
    else:
        account = account.without_update(update)
        if update.sim_id is not None:
            account, own = begin(account, account.carrier_id, update.sim_id)
            told = (*told, own)
    state.put_account(account)
    return told


def _fill(
    state: State, account: Account, update: Update, on: Update | None, page: Sequence[Entry]
) -> tuple[Told, ...]:
    """Lay a page ready for a SIM; `on` is where the update stands after it, unless it has ended."""
    account = account.without_update(update) if on is None else account.with_update(on)
    sim = account.sim(update.sim_id)
    if sim is None:
        return ()
    account, told = lay_ready(state, account, sim, {one.uid: one.digest for one in page})
    if not sim.filling and not told:
        account, told = tell_anew(account, sim)
    state.put_account(account)
    return told if on is None else (*told, next_page(account, on))
