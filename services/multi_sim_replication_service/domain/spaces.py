"""Writing in a space, whoever it comes from: contents, stamps, and what becomes of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from contactmesh.contacts import Card, digest
from contactmesh.contracts.multi_sim.commands import MOST_CHANGES
from contactmesh.contracts.multi_sim.events import ReplicatedContact, SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Told
from multi_sim_replication_service.domain.documents import (
    NO_CONTACT,
    Account,
    Entry,
    Space,
    Stamp,
)
from multi_sim_replication_service.domain.pending import lay_ready, mark_seen
from multi_sim_replication_service.domain.state import State


class Contents(NamedTuple):
    """A contact's contents under their stamp; without a card, its removal."""

    uid: str
    card: dict[str, Any] | None
    digest: str
    stamp: Stamp
    book_rev: int = 0
    """Of the address book's entry that they are, where they come from there."""
    over: str = NO_CONTACT
    """The digest of what they were stored over."""

    def sent(self) -> ReplicatedContact:
        """The contents as events carry them."""
        return ReplicatedContact(
            uid=self.uid, card=self.card, stamp=self.stamp.sent(), over=self.over
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """Which SIMs' terminals have contents, and all of them, those that were there included."""

    sim_ids: frozenset[str]
    digests: Mapping[str, str]


def digest_of(card: Card | dict[str, Any] | None) -> str:
    """The digest of a contact's contents, or of its removal."""
    if card is None:
        return NO_CONTACT
    return digest(card if isinstance(card, Card) else Card.model_validate(card))


def contents_of(contact: ReplicatedContact) -> Contents:
    """Contents as an event brought them."""
    stamp = Stamp(contact.stamp.at, contact.stamp.carrier_id)
    return Contents(contact.uid, contact.card, digest_of(contact.card), stamp, over=contact.over)


def next_stamp(
    state: State, account: Account, uid: str, now: datetime, kind: SpaceKind = SpaceKind.SHARED
) -> Stamp:
    """A stamp for what is stored now, above the one that is there."""
    there = state.entries.get((account.space_id(kind), uid))
    after = 0 if there is None else there.stamp.at + 1
    return Stamp(max(after, int(now.timestamp() * 1_000_000)), account.carrier_id)


def published(account: Account, contents: Sequence[Contents]) -> tuple[Told, ...]:
    """The events that tell a user's other accounts what was stored in a shared space."""
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


def newer(state: State, account: Account, contents: Sequence[Contents]) -> list[Contents]:
    """Those of the contents that have a stamp above the one in the account's shared space."""
    space_id = account.space_id(SpaceKind.SHARED)
    found: list[Contents] = []
    for one in contents:
        there = state.entries.get((space_id, one.uid))
        if there is None or there.stamp < one.stamp:
            found.append(one)
    return found


def write(
    state: State,
    account: Account,
    kind: SpaceKind,
    contents: Sequence[Contents],
    now: datetime,
    *,
    seen: Seen | None = None,
) -> tuple[Account, tuple[Told, ...]]:
    """Put contents in a space, and in the SIMs' pending spaces what of a shared one is different.

    The account is put in any case, so that its `etag` guards the space.

    Returns:
        The account as it is now, and the events for the terminals that hold its SIMs.
    """
    space_id = account.space_id(kind)
    space = account.space(kind)
    different: dict[str, str] = {}
    rev, number, removed = space.rev, 0, space.removed
    for one in contents:
        there = state.entries.get((space_id, one.uid))
        before = NO_CONTACT if there is None else there.digest
        if one.digest != before:
            different[one.uid] = one.digest
            number += (one.digest != NO_CONTACT) - (before != NO_CONTACT)
        if there is None or one.digest != before:
            rev += 1
            was_removed = there is not None and before == NO_CONTACT
            removed += (one.digest == NO_CONTACT) - was_removed
        gone = now if one.card is None else None
        book_rev = one.book_rev or (0 if there is None else there.book_rev)
        entry = Entry(
            space_id=space_id,
            uid=one.uid,
            digest=one.digest,
            stamp=one.stamp,
            rev=there.rev if there is not None and one.digest == before else rev,
            card=one.card,
            deleted_at=gone,
            book_rev=book_rev,
            over=one.over,
        )
        state.entries.put((space_id, one.uid), entry)
    told: list[Told] = []
    account = account.with_space(kind, Space(rev, space.contacts + number, removed))
    if kind is SpaceKind.SHARED:
        for sim in account.sims:
            if seen is not None and sim.sim_id in seen.sim_ids:
                account = mark_seen(state, account, sim, seen.digests)
            else:
                account, news = lay_ready(state, account, sim, different)
                told += news
    state.put_account(account)
    return account, tuple(told)
