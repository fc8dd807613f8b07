"""Creating, leaving, removing, handing over, dissolving (G1, G1a, G2, G3)."""

from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field
from contactmesh.contracts.group.commands import (
    Created,
    CreateGroup,
    DissolveGroup,
    HandOver,
    LeaveGroup,
    RemoveMember,
    SetPullInterval,
    Subscribe,
    Unsubscribe,
)
from contactmesh.contracts.group.events import (
    GroupCreated,
    GroupDissolved,
    HandedOver,
    MemberJoined,
    MemberLeft,
    SubscriptionChanged,
)
from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.deciding.decision import Decision, Told
from group_service.domain.documents import Block, Group, Member, PullInterval
from group_service.domain.state import Asking, State, denied


def new_id(asking: Asking) -> str:
    """The id of what a command makes: the same whenever the command is decided again."""
    return str(uuid5(NAMESPACE_OID, f"{asking.terminal_id}/{asking.command_id}"))


def create(state: State, asking: Asking, command: CreateGroup) -> Decision:
    """Set up a group with its creator and initial members."""
    usage = state.usage_of(asking.user_id)
    if usage.owned_groups >= asking.limits.owned_groups:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"You own {usage.owned_groups} groups, as many as are allowed. Dissolve or hand over "
            "one first.",
            limit=asking.limits.owned_groups,
        )
    initial = [user_id for user_id in command.members if user_id != asking.user_id]
    if len(initial) + 1 > asking.limits.members:
        raise invalid_field("/data/members", f"at most {asking.limits.members - 1} of them")
    group_id = new_id(asking)
    user_ids = [asking.user_id, *initial]
    group = Group(
        group_id=group_id,
        name=command.name,
        owner_id=asking.user_id,
        rev=0,
        audience_version=1,
        member_count=len(user_ids),
        created_at=asking.now,
    )
    for user_id in user_ids:
        group = group.advanced(asking.now)
        state.put_member(_member(group, user_id, _role(user_id, asking.user_id), asking))
    blocks = _standing_blocks_among(state, group_id, user_ids)
    state.put_group(group)
    state.guard(*user_ids)
    state.uses(asking.user_id, groups=1)
    created = GroupCreated(
        group_id=group_id,
        audience_version=group.audience_version,
        name=group.name,
        owner_id=asking.user_id,
        members=tuple(user_ids),
        blocks=blocks,
    )
    return Decision(Created(group_id=group_id), (Told(created, group_id),))


def _role(user_id: str, creator_id: str) -> Role:
    return Role.CREATOR if user_id == creator_id else Role.INITIAL


def _member(group: Group, user_id: str, role: Role, asking: Asking) -> Member:
    return Member(
        group_id=group.group_id,
        user_id=user_id,
        role=role,
        state=MemberState.ACTIVE,
        joined_at=asking.now,
        joined_version=group.audience_version,
        membership_rev=group.rev,
        rev=group.rev,
    )


def _standing_blocks_among(
    state: State, group_id: str, user_ids: list[str]
) -> tuple[tuple[str, str], ...]:
    """Make the blocks "in all groups" hold in this group, but for what was excepted here."""
    present = set(user_ids)
    made = []
    for standing in state.standing:
        key = (group_id, standing.setter_id, standing.blocked_id)
        before = state.blocks.get(key)
        held = before is not None and (before.active or before.excepted)
        if {standing.setter_id, standing.blocked_id} <= present and not held:
            # Nothing is kept to be shown: whoever comes in blocked has no card to go on seeing.
            shown = 0 if before is None else before.lifted_rev or 0
            state.put_block(Block(*key, active=True, shown_rev=shown))
            made.append((standing.setter_id, standing.blocked_id))
    return tuple(sorted(made))


def admit(state: State, asking: Asking, group: Group) -> Told:
    """Make the sender a member of a group that they were invited to."""
    if group.member_count >= asking.limits.members:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"The group has {group.member_count} members, as many as are allowed.",
            limit=asking.limits.members,
        )
    head = group.advanced(asking.now).with_new_audience()
    head = replace(head, member_count=head.member_count + 1)
    state.put_group(head)
    state.put_member(_member(head, asking.user_id, Role.INVITED, asking))
    state.guard(asking.user_id)
    others = [
        other
        for standing in state.standing
        for other in (standing.setter_id, standing.blocked_id)
        if (found := state.members.get((head.group_id, other))) is not None and found.active
    ]
    joined = MemberJoined(
        group_id=head.group_id,
        audience_version=head.audience_version,
        user_id=asking.user_id,
        role=Role.INVITED,
        rev=head.rev,
        group_name=head.name,
        owner_id=head.owner_id,
        blocks=tuple(
            pair
            for pair in _standing_blocks_among(state, head.group_id, [asking.user_id, *others])
            if asking.user_id in pair
        ),
    )
    return Told(joined, head.group_id, head.rev)


def leave(state: State, asking: Asking, command: LeaveGroup) -> Decision:
    """End the sender's own membership; the last member's leaving ends the group."""
    group, member = state.group_of(command.group_id, asking)
    if group.owner_id == asking.user_id:
        if group.member_count == 1:
            return _dissolved(state, group)
        raise denied("You own this group. Hand it over or dissolve it first.")
    return _gone(state, asking, group, member, MemberState.LEFT)


def remove(state: State, asking: Asking, command: RemoveMember) -> Decision:
    """End another's membership, as the owner."""
    group, _ = state.group_of(command.group_id, asking)
    _owner_only(group, asking)
    if command.user_id == asking.user_id:
        raise invalid_field("/data/user_id", "you cannot remove yourself; leave or dissolve")
    member = state.member(group.group_id, command.user_id)
    return _gone(state, asking, group, member, MemberState.REMOVED)


def _gone(state: State, asking: Asking, group: Group, member: Member, how: MemberState) -> Decision:
    head = group.advanced(asking.now).with_new_audience()
    state.put_group(replace(head, member_count=head.member_count - 1))
    state.put_member(
        replace(
            member,
            state=how,
            membership_rev=head.rev,
            rev=head.rev,
            card=None,
            card_rev=None,
            card_digest=None,
            card_uid=None,
            frozen_here=0,
            muted_terminals=(),
        )
    )
    for frozen in state.frozen:
        if (frozen.group_id, frozen.user_id) == (group.group_id, member.user_id):
            state.frozen.drop((frozen.group_id, frozen.user_id, frozen.card_rev))
    left = MemberLeft(
        group_id=group.group_id,
        audience_version=head.audience_version,
        user_id=member.user_id,
        state=how,
        rev=head.rev,
    )
    return Decision(told=(Told(left, group.group_id, head.rev),))


def hand_over(state: State, asking: Asking, command: HandOver) -> Decision:
    """Make another member the owner."""
    group, _ = state.group_of(command.group_id, asking)
    _owner_only(group, asking)
    member = state.member(group.group_id, command.user_id)
    if member.user_id == group.owner_id:
        return Decision()
    state.put_group(replace(group, owner_id=member.user_id))
    state.guard(asking.user_id, member.user_id)
    state.uses(asking.user_id, groups=-1)
    state.uses(member.user_id, groups=1)
    handed_over = HandedOver(
        group_id=group.group_id,
        audience_version=group.audience_version,
        owner_id=member.user_id,
    )
    return Decision(told=(Told(handed_over, group.group_id),))


def dissolve(state: State, asking: Asking, command: DissolveGroup) -> Decision:
    """End the group for everyone."""
    group, _ = state.group_of(command.group_id, asking)
    _owner_only(group, asking)
    return _dissolved(state, group)


def _dissolved(state: State, group: Group) -> Decision:
    head = replace(group.with_new_audience(), dissolved=True)
    state.put_group(head)
    state.uses(group.owner_id, groups=-1)
    dissolved = GroupDissolved(group_id=group.group_id, audience_version=head.audience_version)
    return Decision(told=(Told(dissolved, group.group_id),))


def _owner_only(group: Group, asking: Asking) -> None:
    if group.owner_id != asking.user_id:
        raise denied("Only the group's owner may do this.")


def subscribe(state: State, asking: Asking, command: Subscribe) -> Decision:
    """Send this group's pushes to the sending terminal again."""
    return _muted(state, asking, command.group_id, muted=False)


def unsubscribe(state: State, asking: Asking, command: Unsubscribe) -> Decision:
    """Send no pushes of this group to the sending terminal; it may still pull."""
    return _muted(state, asking, command.group_id, muted=True)


def _muted(state: State, asking: Asking, group_id: str, *, muted: bool) -> Decision:
    group, member = state.group_of(group_id, asking)
    terminals = set(member.muted_terminals) - {asking.terminal_id}
    if muted:
        terminals.add(asking.terminal_id)
    if terminals == set(member.muted_terminals):
        return Decision()
    head = group.with_new_audience()
    state.put_group(head)
    state.put_member(replace(member, muted_terminals=tuple(sorted(terminals))))
    changed = SubscriptionChanged(
        group_id=group_id,
        audience_version=head.audience_version,
        user_id=asking.user_id,
        muted_terminals=tuple(sorted(terminals)),
    )
    return Decision(told=(Told(changed, group_id),))


def set_pull_interval(state: State, asking: Asking, command: SetPullInterval) -> Decision:
    """Keep how often the sending terminal wants to pull (G8)."""
    interval = PullInterval(asking.terminal_id, command.seconds)
    state.intervals.put(asking.terminal_id, interval)
    return Decision()
