"""Storing: from a SIM's terminal, and from the address book that an account follows (M3, M4)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from contactmesh.contacts import Card, CardLimits, CardTooLarge, check_size
from contactmesh.contracts.contact import ContactChanged, Operation
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field
from contactmesh.contracts.multi_sim.commands import MOST_CHANGES, Store, Stored, StoredChange
from contactmesh.contracts.multi_sim.events import SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Limits, Stamp
from multi_sim_replication_service.domain.spaces import Contents, Seen, digest_of, write
from multi_sim_replication_service.domain.state import Asking, State

MOST_WHOLE: Final = 2_000
"""How many contacts a space may have for a page to be the whole of it."""


def store(state: State, asking: Asking, command: Store) -> Decision:
    """Store a page of contacts in a space of a SIM's account.

    A shared page is told to the user's other accounts, a private one to nobody.
    """
    account, sim = state.sim_here(asking, command.sim_id)
    space_id = account.space_id(command.space)
    _check_cards(command.changes, asking.limits)
    changes = [*command.changes, *_unnamed(state, account, command)]
    digests = {change.uid: digest_of(change.card) for change in changes}
    contents = [
        Contents(
            change.uid,
            None if change.card is None else dict(change.card.to_json()),
            digests[change.uid],
            _stamp(state, account, space_id, change.uid, asking.now),
        )
        for change in changes
        if digests[change.uid] != state.digest(space_id, change.uid)
    ]
    _check_number(state, account, command.space, contents, asking.limits.contacts)
    account, told = write(
        state,
        account,
        command.space,
        contents,
        asking.now,
        seen=Seen(sim.sim_id, digests),
    )
    removed = sum(one.digest == NO_CONTACT for one in contents)
    stored = Stored(
        written=len(contents) - removed,
        removed=removed,
        same=len(changes) - len(contents),
        rev=account.space(command.space).rev,
    )
    published = _published(account, contents) if command.space is SpaceKind.SHARED else ()
    return Decision(stored, (*published, *told))


def follow(
    state: State, account: Account, event: ContactChanged, now: datetime
) -> tuple[Told, ...]:
    """Store an entry of the address book that an account follows.

    The book's revisions say which of its events is the later one; what differs counts as stored
    now. A contact that one of the user's private spaces holds is not taken over (row M3).
    """
    space_id = account.space_id(SpaceKind.SHARED)
    there = state.entries.get((space_id, event.uid))
    if not account.follows_book or (there is not None and there.book_rev >= event.rev):
        return ()
    card = None if event.op is Operation.DELETED else event.card
    if card is not None and _is_private(state, account.user_id, event.uid):
        return ()
    digest = digest_of(card)
    same = state.digest(space_id, event.uid) == digest
    if same:  # Other accounts are not told, so the stamp may not rise above theirs.
        stamp = Stamp(0, account.carrier_id) if there is None else there.stamp
    else:
        stamp = _stamp(state, account, space_id, event.uid, now)
    contents = Contents(event.uid, card, digest, stamp, event.rev)
    account, told = write(state, account, SpaceKind.SHARED, [contents], now)
    return told if same else (*_published(account, [contents]), *told)


def _is_private(state: State, user_id: str, uid: str) -> bool:
    spaces = (one.space_id(SpaceKind.PRIVATE) for one in state.accounts_of(user_id))
    return any(state.digest(space_id, uid) != NO_CONTACT for space_id in spaces)


def _published(account: Account, contents: Sequence[Contents]) -> tuple[Told, ...]:
    rev = account.shared.rev
    return tuple(
        Told(
            SpaceChanged(
                owner_id=account.user_id,
                carrier_id=account.carrier_id,
                rev=rev,
                contacts=tuple(one.sent() for one in contents[at : at + MOST_CHANGES]),
            ),
            account.user_id,
            rev,
        )
        for at in range(0, len(contents), MOST_CHANGES)
    )


def _stamp(state: State, account: Account, space_id: str, uid: str, now: datetime) -> Stamp:
    there = state.entries.get((space_id, uid))
    after = 0 if there is None else there.stamp.at + 1
    return Stamp(max(after, int(now.timestamp() * 1_000_000)), account.carrier_id)


def _unnamed(state: State, account: Account, command: Store) -> list[StoredChange]:
    """The removals of what a whole book does not name.

    Raises:
        Refusal: `invalid_argument`, the space is too large for one page.
    """
    if not command.whole:
        return []
    space_id = account.space_id(command.space)
    if space_id not in state.whole or account.space(command.space).contacts > MOST_WHOLE:
        raise invalid_field(
            "/data/whole",
            f"the space has more than {MOST_WHOLE} contacts: store it in pages, without this, and "
            "name the contacts to remove",
        )
    named = {change.uid for change in command.changes}
    there = sorted(entry.uid for entry in state.live(space_id))
    return [StoredChange(uid=uid) for uid in there if uid not in named]


def _check_cards(changes: Sequence[StoredChange], limits: Limits) -> None:
    """Refuse a page that names a contact twice, or has a card of another contact or too large."""
    if len({change.uid for change in changes}) < len(changes):
        raise invalid_field("/data/changes", "names a contact twice")
    for at, change in enumerate(changes):
        if change.card is not None:
            if change.card.uid != change.uid:
                raise invalid_field(f"/data/changes/{at}/card/uid", "is not the contact's uid")
            _check_size(change.card, limits)


def _check_size(card: Card, limits: Limits) -> None:
    try:
        check_size(card, CardLimits(card_bytes=limits.card_bytes))
    except CardTooLarge as error:
        raise Refusal(ErrorCode.TOO_LARGE, str(error), limit_bytes=limits.card_bytes) from error


def _check_number(
    state: State, account: Account, kind: SpaceKind, contents: Sequence[Contents], limit: int
) -> None:
    space_id = account.space_id(kind)
    more = sum(
        (one.digest != NO_CONTACT) - (state.digest(space_id, one.uid) != NO_CONTACT)
        for one in contents
    )
    if more > 0 and account.space(kind).contacts + more > limit:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"A space may have {limit} contacts. Remove some first.",
            limit=limit,
        )
