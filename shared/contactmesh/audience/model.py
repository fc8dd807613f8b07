"""A group's audience at a version, and how events move it on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from contactmesh.contracts.group.events import (
    AudienceEvent,
    AudienceSnapshot,
    BlockLifted,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    MemberJoined,
    MemberLeft,
    SubscriptionChanged,
)

STANDING: Final = 0
"""A block that has not been lifted."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A member who is told of changes, since an audience version, on terminals not muted."""

    since: int
    muted_terminals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is told of changes in a group.

    `blocks` says by setter and blocked user at which version the block was lifted, or `STANDING`.
    A lifted block stays, since a change made while it stood may arrive late.
    """

    group_id: str
    version: int
    members: Mapping[str, Listener] = field(default_factory=dict)
    blocks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    dissolved: bool = False


@dataclass(frozen=True, slots=True)
class Touched:
    """The members, and the blocks as (setter, blocked), that events may have changed."""

    members: frozenset[str] = frozenset()
    blocks: frozenset[tuple[str, str]] = frozenset()

    def __or__(self, other: "Touched") -> "Touched":
        """What either has changed."""
        return Touched(self.members | other.members, self.blocks | other.blocks)


def base_of(event: AudienceEvent) -> int | None:
    """The version that a copy must have for the event to be its next step.

    Nothing for an event that does not move the audience on, and 0 for one that brings it whole.
    """
    match event:
        case GroupCreated() | AudienceSnapshot():
            return 0
        case MemberJoined() | MemberLeft() | BlockSet() | BlockLifted():
            return event.audience_version - 1
        case SubscriptionChanged() | GroupDissolved():
            return event.audience_version - 1
    return None


def begun(event: GroupCreated | AudienceSnapshot) -> Audience:
    """The audience that an event brings whole."""
    blocks: dict[str, dict[str, int]] = {}
    match event:
        case GroupCreated():
            members = {user_id: Listener(event.audience_version) for user_id in event.members}
            for setter_id, blocked_id in event.blocks:
                blocks.setdefault(setter_id, {})[blocked_id] = STANDING
        case AudienceSnapshot():
            members = {
                member.user_id: Listener(member.since, member.muted_terminals)
                for member in event.members
            }
            for block in event.blocks:
                lifted = block.lifted_version or STANDING
                blocks.setdefault(block.setter_id, {})[block.blocked_id] = lifted
    dissolved = isinstance(event, AudienceSnapshot) and event.dissolved
    return Audience(event.group_id, event.audience_version, members, blocks, dissolved)


def moved_on(audience: Audience, event: AudienceEvent) -> Audience:
    """The audience after its next event, whose `base_of` is the audience's version."""
    next_one = replace(audience, version=event.audience_version)
    match event:
        case MemberJoined():
            members = {**audience.members, event.user_id: Listener(event.audience_version)}
            blocks = audience.blocks
            for setter_id, blocked_id in event.blocks:
                blocks = _with_block(blocks, setter_id, blocked_id, STANDING)
            return replace(next_one, members=members, blocks=blocks)
        case MemberLeft():
            members = dict(audience.members)
            members.pop(event.user_id, None)
            return replace(next_one, members=members)
        case BlockSet():
            blocks = _with_block(audience.blocks, event.setter_id, event.blocked_id, STANDING)
            return replace(next_one, blocks=blocks)
        case BlockLifted():
            blocks = _with_block(
                audience.blocks, event.setter_id, event.blocked_id, event.audience_version
            )
            return replace(next_one, blocks=blocks)
        case SubscriptionChanged():
            listener = audience.members.get(event.user_id)
            if listener is None:
                return next_one
            muted = replace(listener, muted_terminals=event.muted_terminals)
            return replace(next_one, members={**audience.members, event.user_id: muted})
        case GroupDissolved():
            return replace(next_one, dissolved=True)
    return next_one


def _with_block(
    blocks: Mapping[str, Mapping[str, int]], setter_id: str, blocked_id: str, lifted: int
) -> Mapping[str, Mapping[str, int]]:
    return {**blocks, setter_id: {**blocks.get(setter_id, {}), blocked_id: lifted}}


def touched(event: AudienceEvent) -> Touched:
    """What an event changes that does not bring the audience whole."""
    match event:
        case MemberJoined():
            return Touched(frozenset((event.user_id,)), frozenset(event.blocks))
        case MemberLeft() | SubscriptionChanged():
            return Touched(members=frozenset((event.user_id,)))
        case BlockSet() | BlockLifted():
            return Touched(blocks=frozenset(((event.setter_id, event.blocked_id),)))
    return Touched()


def everything(*audiences: Audience | None) -> Touched:
    """All members and blocks of audiences: what may differ between them."""
    there = [audience for audience in audiences if audience is not None]
    return Touched(
        frozenset(user_id for audience in there for user_id in audience.members),
        frozenset(
            (setter_id, blocked_id)
            for audience in there
            for setter_id, blocked in audience.blocks.items()
            for blocked_id in blocked
        ),
    )
