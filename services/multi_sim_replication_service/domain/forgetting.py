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
            _forget(state, one, kind, _due(state, one, kind, uids, before), now)


def _due(
    state: State, account: Account, kind: SpaceKind, uids: Sequence[str], before: datetime
) -> list[Entry]:
    found = (state.entries.get((account.space_id(kind), uid)) for uid in uids)
    return [
        one
        for one in found
        if one is not None and one.deleted_at is not None and one.deleted_at < before
    ]


def _forget(
    state: State, account: Account, kind: SpaceKind, due: Sequence[Entry], now: datetime
) -> None:
    gone = 0
    for one in due:
        key = (one.space_id, one.uid)
        if kind is SpaceKind.SHARED and _is_held_elsewhere(state, account, one):
            state.entries.put(key, replace(one, deleted_at=now))
        else:
            state.entries.drop(key)
            gone += 1
    if due:
        account = state.account(*account.key)
        space = account.space(kind)
        removed = replace(space, removed=space.removed - gone)
        state.put_account(account.with_space(kind, removed))


def _is_held_elsewhere(state: State, account: Account, removal: Entry) -> bool:
    """Whether another account of the user holds contents from before a removal."""
    keys = [
        (one.space_id(SpaceKind.SHARED), removal.uid) for one in state.accounts_of(account.user_id)
    ]
    held = (state.entries.get(key) for key in keys)
    return any(
        one is not None and one.digest != NO_CONTACT and one.stamp < removal.stamp for one in held
    )
