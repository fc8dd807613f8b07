"""Groups, members and invitations as a terminal is shown them.

Nothing here may tell a blocked member that the blocking one changed something: no group revision,
no audience version, no time of a last change, and an order that changes do not touch.
"""

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import AwareDatetime

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import GroupId, InvitationId, UserId


class Role(StrEnum):
    """How a member came in; the claim's first, second and third terminals (G1a)."""

    CREATOR = "creator"
    INITIAL = "initial"
    INVITED = "invited"


class MemberState(StrEnum):
    """Whether the membership stands."""

    ACTIVE = "active"
    LEFT = "left"
    REMOVED = "removed"


class GroupSummary(Message):
    """A group as one of its members sees it in a list."""

    TYPE: ClassVar[str] = "group"

    group_id: GroupId
    name: str
    owner_id: UserId
    role: Role
    joined_at: AwareDatetime
    members: int


class MemberView(Message):
    """A member in a group's list."""

    TYPE: ClassVar[str] = "member"

    user_id: UserId
    role: Role
    joined_at: AwareDatetime


class Invitation(Message):
    """Who invited whom to which group."""

    invitation_id: InvitationId
    group_id: GroupId
    group_name: str
    inviter_id: UserId
    invitee_id: UserId


class InvitationView(Invitation):
    """An open invitation."""

    TYPE: ClassVar[str] = "invitation"

    expires_at: AwareDatetime


class PulledGroup(Message):
    """What a pull says of the group itself."""

    TYPE: ClassVar[str] = "group"

    group_id: GroupId
    name: str
    owner_id: UserId


class PulledMember(Message):
    """A member as the pulling user may see them: present with or without a card, or gone.

    `rev` orders what one terminal learns of this member, by pull and by push alike.
    """

    TYPE: ClassVar[str] = "member"

    user_id: UserId
    state: MemberState
    role: Role
    rev: int
    card: dict[str, Any] | None = None
