"""What fanout_service delivers to terminals about groups."""

from typing import ClassVar

from pydantic import AwareDatetime

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.group.views import Invitation, MemberState, Role
from contactmesh.contracts.identifiers import GroupId, RevOrZero, UserId


class GroupJoined(Message):
    """The receiving user is now a member; pull the group."""

    TYPE: ClassVar[str] = "group.joined"

    group_id: GroupId
    name: str
    owner_id: UserId


class MemberJoinedUpdate(Message):
    """Another user became a member."""

    TYPE: ClassVar[str] = "group.member.joined"

    group_id: GroupId
    user_id: UserId
    role: Role
    rev: RevOrZero


class MemberLeftUpdate(Message):
    """A user, maybe the receiving one, is no longer a member."""

    TYPE: ClassVar[str] = "group.member.left"

    group_id: GroupId
    user_id: UserId
    state: MemberState
    rev: RevOrZero


class RefreshUpdate(Message):
    """There is something to pull in the group."""

    TYPE: ClassVar[str] = "group.refresh"

    group_id: GroupId


class HandedOverUpdate(Message):
    """The group has another owner."""

    TYPE: ClassVar[str] = "group.handed_over"

    group_id: GroupId
    owner_id: UserId


class GroupDissolvedUpdate(Message):
    """The group is no more."""

    TYPE: ClassVar[str] = "group.dissolved"

    group_id: GroupId


class InvitationUpdate(Invitation):
    """Someone invites the receiving user."""

    TYPE: ClassVar[str] = "group.invitation.received"

    expires_at: AwareDatetime


class InvitationClosedUpdate(Invitation):
    """An invitation that the receiving user sent or got was answered or withdrawn."""

    TYPE: ClassVar[str] = "group.invitation.closed"

    outcome: str
