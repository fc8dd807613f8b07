"""A contact that is private is in no shared space of its user's (row M3)."""

from collections.abc import Sequence
from dataclasses import replace

from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Told
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Stamp
from multi_sim_replication_service.domain.spaces import (
    Contents,
    Seen,
    next_stamp,
    published,
    write,
)
from multi_sim_replication_service.domain.state import Asking, State


def withdraw(
    state: State, asking: Asking, account: Account, uids: Sequence[str]
) -> tuple[Account, tuple[Told, ...]]:
    """Remove contacts that became private in an account from every shared space of the user's.

    All of them get the removal in this transaction, under one stamp that is above all of theirs, so
    that nothing that is under way brings the contact back. The terminal that asks has seen it.

    Returns:
        The account as it is now, and the events; of a contact that was never shared there are none.
    """
    state.guard(asking.user_id)  # An account that is made meanwhile is not missed.
    accounts = state.accounts_of(asking.user_id)
    removals = _removals(state, asking, account, accounts, uids)
    live = [
        one
        for one in removals
        if any(state.digest(each.space_id(SpaceKind.SHARED), one.uid) for each in accounts)
    ]
    digests = dict.fromkeys(uids, NO_CONTACT)
    told: list[Told] = []
    for each in accounts:
        here = frozenset(sim.sim_id for sim in each.sims if sim.terminal_id == asking.terminal_id)
        _, news = write(
            state, each, SpaceKind.SHARED, removals, asking.now, seen=Seen(here, digests)
        )
        told += news
    account = state.account(asking.user_id, account.carrier_id)
    return account, (*published(account, live), *told)


def abandon(state: State, asking: Asking, uids: Sequence[str]) -> None:
    """Remove contacts from the private spaces of the user's accounts that have no SIM any more.

    No terminal stores there, so any of the user's own may take the mark off: otherwise nobody could
    ever share the contact again.
    """
    space = SpaceKind.PRIVATE
    for account in state.accounts_of(asking.user_id):
        there = {uid: state.digest(account.space_id(space), uid) for uid in uids}
        held = [uid for uid, digest in there.items() if digest != NO_CONTACT]
        if held and not account.sims:
            removals = [
                Contents(
                    uid,
                    None,
                    NO_CONTACT,
                    next_stamp(state, account, uid, asking.now, space),
                    over=there[uid],
                )
                for uid in held
            ]
            write(state, account, space, removals, asking.now)


def release(state: State, user_id: str, uids: Sequence[str]) -> None:
    """Forget that contacts were private once: they are shared again."""
    for account in state.accounts_of(user_id):
        space_id = account.space_id(SpaceKind.PRIVATE)
        removals = [uid for uid in uids if state.entries.get((space_id, uid)) is not None]
        for uid in removals:
            state.entries.drop((space_id, uid))
        if removals:
            removed = account.private.removed - len(removals)
            private = replace(account.private, removed=removed)
            state.put_account(account.with_space(SpaceKind.PRIVATE, private))


def _removals(
    state: State,
    asking: Asking,
    account: Account,
    accounts: Sequence[Account],
    uids: Sequence[str],
) -> list[Contents]:
    """The removals of what was shared once; what is under way is of an account that has it."""
    found: list[Contents] = []
    own = account.space_id(SpaceKind.SHARED)
    for uid in uids:
        keys = [(one.space_id(SpaceKind.SHARED), uid) for one in accounts]
        if any(state.entries.get(key) is not None for key in keys):
            at = max(next_stamp(state, one, uid, asking.now).at for one in accounts)
            stamp = Stamp(at, account.carrier_id)
            found.append(Contents(uid, None, NO_CONTACT, stamp, over=state.digest(own, uid)))
    return found
