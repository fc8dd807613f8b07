"""What a member may be shown of another, and where a pull goes on (G1b, G4)."""

from collections.abc import Iterable
from typing import Any, Final

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.group.views import MemberState, PulledMember
from contactmesh.deciding.sealing import NotSealedHere, seal, unseal
from group_service.domain.documents import Block, Member

_REV_BYTES: Final = 8


def shown(
    member: Member, block: Block | None, frozen_card: dict[str, Any] | None
) -> PulledMember | None:
    """A member as one viewer may see them.

    Args:
        member: the membership as it is.
        block: what `member` has, or had, set against the viewer.
        frozen_card: the card that the block keeps for the viewer, unless it is the present one.

    Returns:
        Nothing when the viewer has to wait, because the block has changed while it was read.
    """
    if block is None or not member.active:
        return _pulled(member, member.rev, member.card)
    if not block.active:
        newest = member.rev if block.same_card_rev != member.card_rev else member.membership_rev
        return _pulled(member, max(newest, block.lifted_rev or 0), member.card)
    rev = max(member.membership_rev, block.shown_rev)
    if block.frozen_card_rev is None or block.frozen_card_rev < member.membership_rev:
        return _pulled(member, rev, None)
    if block.frozen_card_rev == member.card_rev:
        return _pulled(member, rev, member.card)
    if frozen_card is None:
        return None
    return _pulled(member, rev, frozen_card)


def _pulled(member: Member, rev: int, card: dict[str, Any] | None) -> PulledMember:
    return PulledMember(
        user_id=member.user_id, state=member.state, role=member.role, rev=rev, card=card
    )


def page(
    found: Iterable[PulledMember], *, since: int, until: int, limit: int
) -> tuple[list[PulledMember], bool]:
    """The next `limit` members after the revision `since`, and whether there are more.

    What is newer than `until`, the group's revision before anything else was read, is left to the
    next pull: members are read one after the other, and a page that holds a later change without
    an earlier one would move the cursor past what it does not hold.

    Revisions are unique within a group, so a page's end falls between two of them. A first pull
    (`since` 0) has nothing to forget and leaves out those who are gone.
    """
    newer = [
        member
        for member in found
        if since < member.rev <= until and (since > 0 or member.state is MemberState.ACTIVE)
    ]
    newer.sort(key=lambda member: member.rev)
    return newer[:limit], len(newer) > limit


def write_cursor(key: bytes, group_id: str, user_id: str, rev: int) -> str:
    """An opaque cursor for one user in one group.

    It holds the last revision that this user was shown, never the group's own: a cursor that moves
    while nothing is shown would tell of a hidden change.
    """
    return seal(key, ("pull", group_id, user_id), rev.to_bytes(_REV_BYTES, "big"))


def read_cursor(key: bytes, group_id: str, user_id: str, cursor: str, *, newest: int) -> int:
    """The revision in a cursor.

    Args:
        key: the secret that all copies of the service share.
        group_id: the group that is pulled.
        user_id: the user who pulls.
        cursor: what an earlier pull gave.
        newest: the group's last revision; a cursor beyond it is from before a restore.

    Raises:
        Refusal: `full_sync_required`, when the cursor is another's, malformed, or from a database
            that was since restored.
    """
    try:
        rev = int.from_bytes(unseal(key, ("pull", group_id, user_id), cursor), "big")
    except NotSealedHere as error:
        raise _full_sync() from error
    if rev > newest:
        raise _full_sync()
    return rev


def _full_sync() -> Refusal:
    return Refusal(
        ErrorCode.FULL_SYNC_REQUIRED, "This cursor cannot be continued from; pull without one."
    )
