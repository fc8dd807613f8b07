"""Removals are forgotten after a time, but not while that could bring a contact back (row M4)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from contactmesh.contracts.multi_sim.records import SpaceKind
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Entry
from multi_sim_replication_service.domain.state import State


def forget(
    state: State, user_id: str, uids: Sequence[str], before: datetime, now: datetime
) -> None:
    """Forget removals of a user's spaces that were stored before a time.

    One of a shared space is kept for as long again while another account holds what was removed:
    that account may not have been told for want of its consent, and with consent it would bring the
    contact back.

    Args:
        state: holds what all of the user's spaces have of these contacts.
        user_id: whose spaces.
        uids: of which contacts.
        before: what was removed since then is kept.
        now: the time.
    """
    for one in state.accounts_of(user_id):
        for kind in SpaceKind:
            _forget(state, one, kind, uids, before, now)


def _forget(
    state: State,
    account: Account,
    kind: SpaceKind,
    uids: Sequence[str],
    before: datetime,
    now: datetime,
) -> None:
    found = (state.entries.get((account.space_id(kind), uid)) for uid in uids)
    due = [one for one in found if one and one.deleted_at and one.deleted_at < before]
    gone = 0
    for one in due:
        key = (one.space_id, one.uid)
        shared = kind is SpaceKind.SHARED
        again = _kept_from(state, account, one, before, now) if shared else None
        if again is not None:
            state.entries.put(key, replace(one, deleted_at=again))
        else:
            state.entries.drop(key)
            gone += 1
    if due:
        account = state.account(*account.key)
        space = account.space(kind)
        removed = replace(space, removed=space.removed - gone)
        state.put_account(account.with_space(kind, removed))


def _kept_from(
    state: State, account: Account, removal: Entry, before: datetime, now: datetime
) -> datetime | None:
    """From when on a removal is kept anew, if it is: like others of it, all are forgotten at once.

    Of two accounts that agree, one that remembers a removal alone would come to hold something else
    than the other when the contact comes again under an earlier stamp, as from the address book.
    """
    keys = [
        (one.space_id(SpaceKind.SHARED), removal.uid) for one in state.accounts_of(account.user_id)
    ]
    there = [entry for entry in map(state.entries.get, keys) if entry is not None]
    if any(one.digest != NO_CONTACT and one.stamp < removal.stamp for one in there):
        return now
    removed = [one.deleted_at for one in there if one.deleted_at is not None]
    return max((at for at in removed if at >= before), default=None)
