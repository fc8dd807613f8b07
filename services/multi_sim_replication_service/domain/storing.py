"""Storing from a SIM's terminal (rows M3, M4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contactmesh.contracts.errors import invalid_field
from contactmesh.contracts.multi_sim.commands import Store, Stored, StoredChange
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.decision import Decision
from multi_sim_replication_service.domain.checking import check_cards, check_number
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Sim
from multi_sim_replication_service.domain.pending import lay_behind
from multi_sim_replication_service.domain.privacy import abandon, release, withdraw
from multi_sim_replication_service.domain.spaces import (
    Contents,
    Seen,
    digest_of,
    next_stamp,
    published,
    write,
)
from multi_sim_replication_service.domain.state import Asking, State

MOST_WHOLE: Final = 2_000
"""How many contacts a space may have for a page to be the whole of it."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """What becomes of a page's contacts."""

    taken: list[StoredChange] = field(default_factory=list)
    behind: dict[str, str] = field(default_factory=dict)
    """What the sender knows of those that it would overwrite unseen, by uid."""
    private: list[str] = field(default_factory=list)


def store(state: State, asking: Asking, command: Store) -> Decision:
    """Store a page of contacts in a space of a SIM's account.

    A shared page is told to the user's other accounts, a private one to nobody: a contact that
    becomes private is removed from every shared space of the user's, and one that is private no
    more is so at none of their accounts that have no SIM.
    """
    account, sim = state.sim_here(asking, command.sim_id)
    kind = command.space
    check_cards(command.changes, asking.limits)
    changes = [*command.changes, *_unnamed(state, account, command)]
    digests = {change.uid: digest_of(change.card) for change in changes}
    judged = _judge(state, account, sim, kind, changes, digests)
    contents = _contents(state, asking, account, kind, judged.taken, digests)
    check_number(state, account, kind, contents, asking.limits.contacts)
    cards = [change.uid for change in judged.taken if change.card is not None]
    seen = {change.uid: digests[change.uid] for change in judged.taken}
    if kind is SpaceKind.SHARED:
        release(state, asking.user_id, cards)
        account = state.account(*account.key)
    account, told = write(
        state, account, kind, contents, asking.now, seen=Seen(frozenset({sim.sim_id}), seen)
    )
    if kind is SpaceKind.SHARED:
        told = (*published(account, contents), *told)
    else:
        account, told = withdraw(state, asking, account, cards)
        abandon(state, asking, [one.uid for one in command.changes if one.card is None])
    account, behind = lay_behind(state, account, sim.sim_id, judged.behind)
    removed = sum(one.digest == NO_CONTACT for one in contents)
    stored = Stored(
        written=len(contents) - removed,
        removed=removed,
        same=len(judged.taken) - len(contents),
        rev=account.space(kind).rev,
        behind=tuple(judged.behind),
        private=tuple(judged.private),
    )
    return Decision(stored, (*told, *behind))


def _judge(
    state: State,
    account: Account,
    sim: Sim,
    kind: SpaceKind,
    changes: Sequence[StoredChange],
    digests: Mapping[str, str],
) -> _Judged:
    """Set those apart that would overwrite what the sender has not seen, or share what is private.

    A removal from the private space touches no shared one.
    """
    judged = _Judged()
    shared = kind is SpaceKind.SHARED
    for change in changes:
        uid, known = change.uid, change.known
        if shared and change.card is not None and state.is_private(account.user_id, uid):
            judged.private.append(uid)
            continue
        there = state.digest(account.space_id(SpaceKind.SHARED), uid)
        if (
            known is None
            or there in (known, digests[uid])
            or there in state.sim_entry(sim.view_id, uid).declined
            or not (shared or change.card is not None)
        ):
            judged.taken.append(change)
        else:
            judged.behind[uid] = known
    return judged


def _contents(
    state: State,
    asking: Asking,
    account: Account,
    kind: SpaceKind,
    changes: Sequence[StoredChange],
    digests: Mapping[str, str],
) -> list[Contents]:
    """What differs from what is there, each with its stamp."""
    space_id = account.space_id(kind)
    return [
        Contents(
            change.uid,
            None if change.card is None else dict(change.card.to_json()),
            digests[change.uid],
            next_stamp(state, account, change.uid, asking.now, kind),
            over=state.digest(space_id, change.uid),
        )
        for change in changes
        if digests[change.uid] != state.digest(space_id, change.uid)
    ]


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
