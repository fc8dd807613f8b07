"""What a page of contacts is refused for before anything of it is stored."""

from collections.abc import Sequence
from typing import Final

from contactmesh.contacts import Card, CardLimits, CardTooLarge, check_size
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field
from contactmesh.contracts.multi_sim.commands import StoredChange
from contactmesh.contracts.multi_sim.records import SpaceKind
from multi_sim_replication_service.domain.documents import NO_CONTACT, Account, Limits
from multi_sim_replication_service.domain.spaces import Contents
from multi_sim_replication_service.domain.state import State

ROOM: Final = 2
"""How many contacts and removals a space has room for together, in times of its contacts."""


def check_cards(changes: Sequence[StoredChange], limits: Limits) -> None:
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


def check_number(
    state: State, account: Account, kind: SpaceKind, contents: Sequence[Contents], limit: int
) -> None:
    """Refuse to let a space grow that has as many contacts as it may, or as many removals."""
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
    space = account.space(kind)
    new = sum(state.entries.get((space_id, one.uid)) is None for one in contents)
    if new and space.contacts + space.removed + new > ROOM * limit:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"This space remembers {space.removed} contacts that were removed from it, and has no "
            "room for new ones. Store contacts that it had before, or wait: a removal is forgotten "
            "after 90 days.",
            limit=ROOM * limit,
        )
