"""From the address book to the accounts that follow it (rows M3, M4)."""

from dataclasses import replace
from datetime import datetime

from contactmesh.contracts.contact import ContactChanged, Operation
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.sync.events import BookPage, BookWanted, HeldEntry
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


def begin_to_follow(state: State, page: BookPage, limit: int, now: datetime) -> tuple[Told, ...]:
    """Store a page of what the address book held when an account began to follow it.

    Its entries count as stored when the book took them, which is what its revisions say: what the
    space holds and what was removed from it since then is later, and stays.
    """
    account = state.accounts.get((page.owner_id, page.carrier_id))
    if account is None or account.book_after != page.after:
        return ()
    held = (_held(state, account, entry) for entry in page.entries)
    contents = [one for one in held if one is not None]
    space_id = account.space_id(SpaceKind.SHARED)
    different = [one for one in contents if state.digest(space_id, one.uid) != one.digest]
    account, told = write(state, account, SpaceKind.SHARED, contents, now)
    told = (*published(account, different), *told) if different else told
    account = replace(account, book_after=page.next)
    state.put_account(account)
    return (*told, *next_of_book(account, limit))


def next_of_book(account: Account, limit: int) -> tuple[Told, ...]:
    """The event that asks for the next page of the book, if an account has not got it all."""
    if account.book_after is None:
        return ()
    wanted = BookWanted(
        owner_id=account.user_id,
        carrier_id=account.carrier_id,
        after=account.book_after,
        limit=limit,
    )
    return (Told(wanted, account.user_id),)


def _held(state: State, account: Account, entry: HeldEntry) -> Contents | None:
    """An entry as contents of the space, unless that has something later, or it is private."""
    there = state.entries.get((account.space_id(SpaceKind.SHARED), entry.uid))
    if _was_private(state, account.user_id, entry.uid):
        return None
    digest, stamp = digest_of(entry.card), Stamp(entry.rev, account.carrier_id)
    if there is None:
        return Contents(entry.uid, entry.card, digest, stamp, entry.rev)
    if there.book_rev >= entry.rev:
        return None
    if there.digest == digest:
        return Contents(entry.uid, entry.card, digest, there.stamp, entry.rev, there.over)
    if there.stamp >= stamp:
        return None
    return Contents(entry.uid, entry.card, digest, stamp, entry.rev, there.digest)


def _was_private(state: State, user_id: str, uid: str) -> bool:
    spaces = (one.space_id(SpaceKind.PRIVATE) for one in state.accounts_of(user_id))
    return any(state.entries.get((space_id, uid)) is not None for space_id in spaces)
