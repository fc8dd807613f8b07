"""Events of group_service, for services and integrators.

The events that carry an `audience_version` and raise it are the history of the group's audience:
applied in the order of the versions they give who may be told what. They are for services; what
a terminal receives is in `updates`.
"""

from typing import ClassVar

from pydantic import AwareDatetime

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.group.views import Invitation, MemberState, Role
from contactmesh.contracts.identifiers import GroupId, Rev, RevOrZero, TerminalId, UserId


class AudienceEvent(Message):
    """An event whose delivery needs the group's audience at `audience_version`."""

    group_id: GroupId
    audience_version: Rev


class GroupCreated(AudienceEvent):
    """A group begins, with audience version 1."""

    TYPE: ClassVar[str] = "group.created"

    name: str
    owner_id: UserId
    members: tuple[UserId, ...]
    blocks: tuple[tuple[UserId, UserId], ...] = ()


class MemberJoined(AudienceEvent):
    """A user became a member.

    `blocks` are the standing blocks, as (setter, blocked), that now hold in this group because one
    of the two has just come in.
    """

    TYPE: ClassVar[str] = "group.member.joined"

    user_id: UserId
    role: Role
    rev: RevOrZero
    group_name: str
    owner_id: UserId
    blocks: tuple[tuple[UserId, UserId], ...] = ()


class MemberLeft(AudienceEvent):
    """A user is no longer a member."""

    TYPE: ClassVar[str] = "group.member.left"

    user_id: UserId
    state: MemberState
    rev: RevOrZero


class BlockSet(AudienceEvent):
    """`setter_id` does not want `blocked_id` to learn of changes."""

    TYPE: ClassVar[str] = "group.block.set"

    setter_id: UserId
    blocked_id: UserId


class BlockLifted(AudienceEvent):
    """The block is gone; `refresh` when the other has missed something and should pull.

    It comes after the group's end too, since blocks outlive their group.
    """

    TYPE: ClassVar[str] = "group.block.lifted"

    setter_id: UserId
    blocked_id: UserId
    refresh: bool


class StandingBlockChanged(Message):
    """`setter_id` blocks `blocked_id` everywhere, or no longer does.

    It is told whether or not the two share a group. `rev` orders the changes between the two; in
    the groups that they share, `BlockSet` and `BlockLifted` say the same.
    """

    TYPE: ClassVar[str] = "user.block.changed"

    setter_id: UserId
    blocked_id: UserId
    blocked: bool
    rev: RevOrZero


class SubscriptionChanged(AudienceEvent):
    """The terminals of a member that receive no pushes of this group."""

    TYPE: ClassVar[str] = "group.subscription.changed"

    user_id: UserId
    muted_terminals: tuple[TerminalId, ...]


class HandedOver(AudienceEvent):
    """The group has another owner; the audience stays as it is."""

    TYPE: ClassVar[str] = "group.handed_over"

    owner_id: UserId


class GroupDissolved(AudienceEvent):
    """The group is no more."""

    TYPE: ClassVar[str] = "group.dissolved"


class InvitationSent(Invitation):
    """A user was invited."""

    TYPE: ClassVar[str] = "group.invitation.sent"

    expires_at: AwareDatetime


class InvitationClosed(Invitation):
    """An invitation was accepted, declined or withdrawn."""

    TYPE: ClassVar[str] = "group.invitation.closed"

    outcome: str


class AudienceRequested(Message):
    """A service's copy of a group's audience has a gap; group_service answers with a snapshot."""

    TYPE: ClassVar[str] = "group.audience.requested"

    group_id: GroupId


class AudienceMember(Message):
    """A member in a snapshot: since which audience version, and the terminals without pushes."""

    TYPE: ClassVar[str] = "audience.member"

    user_id: UserId
    since: RevOrZero
    muted_terminals: tuple[TerminalId, ...] = ()


class AudienceBlock(Message):
    """A block in a snapshot; one that was lifted says with which audience version.

    It is still needed then: a change made while it stood may be delivered late.
    """

    TYPE: ClassVar[str] = "audience.block"

    setter_id: UserId
    blocked_id: UserId
    lifted_version: RevOrZero | None = None


class AudienceSnapshot(AudienceEvent):
    """The whole audience of a group at a version; of a dissolved one, its blocks alone."""

    TYPE: ClassVar[str] = "group.audience.snapshot"

    members: tuple[AudienceMember, ...]
    blocks: tuple[AudienceBlock, ...]
    dissolved: bool = False
