"""Commands to group_service, each with the result that its reply carries (rows G1–G8)."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints, field_serializer, field_validator

from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.group.views import (
    GroupSummary,
    InvitationView,
    MemberView,
    PulledGroup,
    PulledMember,
)
from contactmesh.contracts.identifiers import GroupId, InvitationId, RevOrZero, UserId
from contactmesh.contracts.reply import Done, Result

GroupName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]
MOST_MEMBERS = 10_000
"""What one command may name; the operator's limit may be lower."""
Cursor = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,200}$")]


class _GroupCommand(Command):
    SERVICE: ClassVar[str] = "group_service"


class _ToGroup(_GroupCommand):
    group_id: GroupId


class Created(Result):
    """The new group's id."""

    TYPE: ClassVar[str] = "group.create"

    group_id: GroupId


class CreateGroup(_GroupCommand):
    """Create a group with the sender as its first member and `members` as initial ones (G2, G3).

    Naming someone is no proof that they exist, and being named shares nothing: a card appears once
    its owner publishes it.
    """

    TYPE: ClassVar[str] = "group.create"
    RESULT: ClassVar[type[Result]] = Created

    name: GroupName
    members: tuple[UserId, ...] = Field(default=(), max_length=MOST_MEMBERS)

    @field_validator("members")
    @classmethod
    def _each_once(cls, members: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(members))


class GroupList(Result):
    """The sender's groups, and the invitations that wait for the sender's answer."""

    TYPE: ClassVar[str] = "group.list"

    groups: tuple[GroupSummary, ...]
    invitations: tuple[InvitationView, ...]


class ListGroups(_GroupCommand):
    """Ask for the sender's groups and open invitations."""

    TYPE: ClassVar[str] = "group.list"
    RESULT: ClassVar[type[Result]] = GroupList
    READS: ClassVar[bool] = True


class GroupShown(Result):
    """One page of a group's members, in the order in which they joined.

    `after` is set while there are more. `blocked` names those whom the sender blocks here, `push`
    says whether the asking terminal receives this group's pushes.
    """

    TYPE: ClassVar[str] = "group.show"

    group: GroupSummary
    members: tuple[MemberView, ...]
    after: UserId | None = None
    blocked: tuple[UserId, ...] = ()
    invitations: tuple[InvitationView, ...] = ()
    push: bool
    card_rev: int | None = None


class ShowGroup(_ToGroup):
    """Ask for a group's members, the sender's own blocks and the open invitations."""

    TYPE: ClassVar[str] = "group.show"
    RESULT: ClassVar[type[Result]] = GroupShown
    READS: ClassVar[bool] = True

    after: UserId | None = None


class Invited(Result):
    """The new invitation."""

    TYPE: ClassVar[str] = "group.invite"

    invitation_id: InvitationId


class Invite(_ToGroup):
    """Invite a user; creator, owner and initial members may (G1a, G3)."""

    TYPE: ClassVar[str] = "group.invite"
    RESULT: ClassVar[type[Result]] = Invited

    user_id: UserId


class _ToInvitation(_GroupCommand):
    invitation_id: InvitationId


class Accepted(Result):
    """The group that the sender is now a member of."""

    TYPE: ClassVar[str] = "group.accept"

    group_id: GroupId


class AcceptInvitation(_ToInvitation):
    """Accept an invitation; the sender becomes a third member (G3)."""

    TYPE: ClassVar[str] = "group.accept"
    RESULT: ClassVar[type[Result]] = Accepted


class DeclineInvitation(_ToInvitation):
    """Decline an invitation; it is used up."""

    TYPE: ClassVar[str] = "group.decline"
    RESULT: ClassVar[type[Result]] = Done


class WithdrawInvitation(_ToInvitation):
    """Take an invitation back; the inviter and the group's owner may."""

    TYPE: ClassVar[str] = "group.withdraw"
    RESULT: ClassVar[type[Result]] = Done


class LeaveGroup(_ToGroup):
    """Leave. An owner with other members left has to hand over first."""

    TYPE: ClassVar[str] = "group.leave"
    RESULT: ClassVar[type[Result]] = Done


class RemoveMember(_ToGroup):
    """Remove a member; the owner may."""

    TYPE: ClassVar[str] = "group.remove"
    RESULT: ClassVar[type[Result]] = Done

    user_id: UserId


class HandOver(_ToGroup):
    """Make another member the owner; the owner may."""

    TYPE: ClassVar[str] = "group.hand_over"
    RESULT: ClassVar[type[Result]] = Done

    user_id: UserId


class DissolveGroup(_ToGroup):
    """End the group for everyone; the owner may."""

    TYPE: ClassVar[str] = "group.dissolve"
    RESULT: ClassVar[type[Result]] = Done


class CardPublished(Result):
    """The card's revision after publishing; unchanged when the content was the same."""

    TYPE: ClassVar[str] = "group.publish_card"

    rev: int


class PublishCard(_ToGroup):
    """Publish the sender's own card to a group (G1c).

    `base_rev` is the revision that the card was edited from, none for the first; if another of the
    sender's terminals has published since, the answer is `conflict` with `current_rev`.
    """

    TYPE: ClassVar[str] = "group.publish_card"
    RESULT: ClassVar[type[Result]] = CardPublished

    card: Card
    base_rev: RevOrZero | None = None

    @field_serializer("card")
    def _card_as_jscontact(self, card: Card) -> dict[str, object]:
        return dict(card.to_json())


class Block(_GroupCommand):
    """Set "do not notify" on a user, in one group or, without `group_id`, in all (G1b).

    From then on the user cannot learn that the sender's details changed. They are not told. It
    holds until it is lifted, whoever leaves the group and whatever becomes of it. The carrier
    registry learns of it by event, milliseconds later; `carrier.revoke_grant` holds there at once.
    """

    TYPE: ClassVar[str] = "group.block"
    RESULT: ClassVar[type[Result]] = Done

    user_id: UserId
    group_id: GroupId | None = None


class Lift(_GroupCommand):
    """Take a block back; the user gets the current card and nothing of what was missed.

    Whoever set a block may lift it, a member of the group or no longer one, and after its end.
    """

    TYPE: ClassVar[str] = "group.lift"
    RESULT: ClassVar[type[Result]] = Done

    user_id: UserId
    group_id: GroupId | None = None


class BlockList(Result):
    """Everyone whom the sender blocks: in all groups, and group by group."""

    TYPE: ClassVar[str] = "group.blocks"

    everywhere: tuple[UserId, ...] = ()
    in_groups: dict[GroupId, tuple[UserId, ...]] = Field(default_factory=dict)


class ListBlocks(_GroupCommand):
    """Ask whom the sender blocks."""

    TYPE: ClassVar[str] = "group.blocks"
    RESULT: ClassVar[type[Result]] = BlockList
    READS: ClassVar[bool] = True


class Pulled(Result):
    """What changed since the cursor, as far as the sender may see it (G4).

    A page: with `has_more`, pull again with `cursor`. Without `since` the pages together are all
    that there is; a member who is in none of them is gone. `invitations` are those that wait for
    the sender, `interval_seconds` the pull interval that the terminal chose.
    """

    TYPE: ClassVar[str] = "group.pull"

    group: PulledGroup
    members: tuple[PulledMember, ...]
    invitations: tuple[InvitationView, ...] = ()
    cursor: Cursor
    has_more: bool
    interval_seconds: int


class Pull(_ToGroup):
    """Ask for what changed in a group since a cursor of an earlier pull (G4)."""

    TYPE: ClassVar[str] = "group.pull"
    RESULT: ClassVar[type[Result]] = Pulled
    READS: ClassVar[bool] = True

    since: Cursor | None = None
    limit: int = Field(default=200, ge=1, le=500)


class SetPullInterval(_GroupCommand):
    """Choose how often the sending terminal pulls, in seconds (G8)."""

    TYPE: ClassVar[str] = "group.set_pull_interval"
    RESULT: ClassVar[type[Result]] = Done

    seconds: int = Field(ge=10, le=7 * 24 * 3600)


class Subscribe(_ToGroup):
    """Receive the group's pushes on the sending terminal; so it is to begin with."""

    TYPE: ClassVar[str] = "group.subscribe"
    RESULT: ClassVar[type[Result]] = Done


class Unsubscribe(_ToGroup):
    """Receive no pushes of the group on the sending terminal; pulling goes on."""

    TYPE: ClassVar[str] = "group.unsubscribe"
    RESULT: ClassVar[type[Result]] = Done
