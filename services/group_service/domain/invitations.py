"""Inviting, accepting, declining, withdrawing (G1a, G3)."""

from dataclasses import replace
from datetime import timedelta

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.group.commands import (
    Accepted,
    AcceptInvitation,
    DeclineInvitation,
    Invite,
    Invited,
    WithdrawInvitation,
)
from contactmesh.contracts.group.events import InvitationClosed, InvitationSent
from contactmesh.contracts.group.views import Role
from contactmesh.deciding.decision import Decision, Told
from group_service.domain.documents import Invitation, InvitationState
from group_service.domain.membership import admit, new_id
from group_service.domain.state import Asking, State, denied


def invite(state: State, asking: Asking, command: Invite) -> Decision:
    """Invite a user. Whether there is such a user is not told, as nobody may probe for that."""
    group, member = state.group_of(command.group_id, asking)
    if member.role is Role.INVITED and group.owner_id != asking.user_id:
        raise denied("Only the creator, the owner and the initial members may invite.")
    present = state.members.get((group.group_id, command.user_id))
    if present is not None and present.active:
        raise Refusal(ErrorCode.CONFLICT, f"{command.user_id} is a member already.")
    for waiting in state.invitations:
        if (
            (waiting.group_id, waiting.invitee_id) == (group.group_id, command.user_id)
            and waiting.inviter_id == asking.user_id
            and waiting.is_open(asking.now)
        ):
            return Decision(Invited(invitation_id=waiting.invitation_id))
    usage = state.usage_of(asking.user_id)
    if usage.open_invitations >= asking.limits.open_invitations:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"{usage.open_invitations} of your invitations are open, as many as are allowed. "
            "Withdraw some, or wait for answers.",
            limit=asking.limits.open_invitations,
        )
    invitation = Invitation(
        invitation_id=new_id(asking),
        group_id=group.group_id,
        group_name=group.name,
        inviter_id=asking.user_id,
        invitee_id=command.user_id,
        created_at=asking.now,
        expires_at=asking.now + timedelta(days=asking.limits.invitation_days),
    )
    state.invitations.put(invitation.invitation_id, invitation)
    state.uses(asking.user_id, invitations=1)
    state.guard(asking.user_id)
    state.put_group(group)
    sent = InvitationSent(
        invitation_id=invitation.invitation_id,
        group_id=group.group_id,
        group_name=group.name,
        inviter_id=asking.user_id,
        invitee_id=command.user_id,
        expires_at=invitation.expires_at,
    )
    return Decision(
        Invited(invitation_id=invitation.invitation_id), (Told(sent, invitation.invitation_id),)
    )


def accept(state: State, asking: Asking, command: AcceptInvitation) -> Decision:
    """Become a member."""
    invitation = _waiting_for_sender(state, asking, command.invitation_id)
    group = state.groups.get(invitation.group_id)
    if group is None or group.dissolved:
        raise _no_such_invitation()
    member = state.members.get((group.group_id, asking.user_id))
    told = () if member is not None and member.active else (admit(state, asking, group),)
    closed = _close(state, invitation, InvitationState.ACCEPTED)
    return Decision(Accepted(group_id=group.group_id), (*told, closed))


def decline(state: State, asking: Asking, command: DeclineInvitation) -> Decision:
    """Turn an invitation down."""
    invitation = _waiting_for_sender(state, asking, command.invitation_id)
    return Decision(told=(_close(state, invitation, InvitationState.DECLINED),))


def withdraw(state: State, asking: Asking, command: WithdrawInvitation) -> Decision:
    """Take an invitation back, as its inviter or as the group's owner."""
    invitation = state.invitations.get(command.invitation_id)
    if invitation is None or not invitation.is_open(asking.now):
        raise _no_such_invitation()
    group = state.groups.get(invitation.group_id)
    owner_id = None if group is None else group.owner_id
    if asking.user_id not in {invitation.inviter_id, owner_id}:
        raise _no_such_invitation()
    return Decision(told=(_close(state, invitation, InvitationState.WITHDRAWN),))


def _waiting_for_sender(state: State, asking: Asking, invitation_id: str) -> Invitation:
    invitation = state.invitations.get(invitation_id)
    if (
        invitation is None
        or invitation.invitee_id != asking.user_id
        or not invitation.is_open(asking.now)
    ):
        raise _no_such_invitation()
    return invitation


def _no_such_invitation() -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND, "No such invitation is open; it may be used, withdrawn or expired."
    )


def _close(state: State, invitation: Invitation, outcome: InvitationState) -> Told:
    state.invitations.put(invitation.invitation_id, replace(invitation, state=outcome))
    state.guard(invitation.invitee_id)
    state.uses(invitation.inviter_id, invitations=-1)
    closed = InvitationClosed(
        invitation_id=invitation.invitation_id,
        group_id=invitation.group_id,
        group_name=invitation.group_name,
        inviter_id=invitation.inviter_id,
        invitee_id=invitation.invitee_id,
        outcome=outcome,
    )
    return Told(closed, invitation.invitation_id)
