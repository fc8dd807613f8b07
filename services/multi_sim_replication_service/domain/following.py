"""From the address book to the accounts that follow it (rows M3, M4)."""

from datetime import datetime

from contactmesh.contracts.contact import ContactChanged, Operation
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Told
from multi_sim_replication_service.domain.documents import Account, Stamp
from multi_sim_replication_service.domain.spaces import (
    Contents,
    digest_of,
    next_stamp,
    published,
    write,
)
from multi_sim_replication_service.domain.state import State


def follow(
    state: State, account: Account, event: ContactChanged, now: datetime
) -> tuple[Told, ...]:
    """Store an entry of the address book that an account follows.

    The book's revisions say which of its events is the later one; what differs counts as stored
    now. A contact that one of the user's private spaces holds is not taken over, nor one that was
    removed there and has not been shared again since (row M3).
    """
    space_id = account.space_id(SpaceKind.SHARED)
    there = state.entries.get((space_id, event.uid))
    if not account.follows_book or (there is not None and there.book_rev >= event.rev):
        return ()
    card = None if event.op is Operation.DELETED else event.card
    if card is not None and _was_private(state, account.user_id, event.uid):
        return ()
    digest = digest_of(card)
    over = state.digest(space_id, event.uid)
    same = over == digest
    if same:  # Other accounts are not told, so the stamp may not rise above theirs.
        stamp = Stamp(0, account.carrier_id) if there is None else there.stamp
        over = over if there is None else there.over
    else:
        stamp = next_stamp(state, account, event.uid, now)
    contents = Contents(event.uid, card, digest, stamp, event.rev, over)
    account, told = write(state, account, SpaceKind.SHARED, [contents], now)
    return told if same else (*published(account, [contents]), *told)


def _was_private(state: State, user_id: str, uid: str) -> bool:
    spaces = (one.space_id(SpaceKind.PRIVATE) for one in state.accounts_of(user_id))
    return any(state.entries.get((space_id, uid)) is not None for space_id in spaces)
