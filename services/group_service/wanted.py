"""Which documents the rules look at, so that a batch loads them together."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import ContactChanged, Scope
from contactmesh.contracts.group import commands
from contactmesh.runtime.commands import Request


@dataclass(slots=True)
class Wanted:
    """What to load; keys are as in the state, users and groups by id."""

    groups: set[str] = field(default_factory=set)
    members: set[tuple[str, str]] = field(default_factory=set)
    """(group, user)"""
    groups_of: set[tuple[str, str]] = field(default_factory=set)
    """(user, other): the user's groups, with the other's membership and the block between them"""
    joining: set[tuple[str, str]] = field(default_factory=set)
    """(group, user): the standing blocks that could come to hold there"""
    blocks: set[tuple[str, str, str]] = field(default_factory=set)
    """(group, setter, blocked)"""
    blocks_between: set[tuple[str, str]] = field(default_factory=set)
    """(setter, blocked): in whatever group, with that group and the setter's membership"""
    standing: set[tuple[str, str]] = field(default_factory=set)
    """(setter, blocked)"""
    standing_of: set[str] = field(default_factory=set)
    """Setters, with all their blocks "in all groups"."""
    frozen_of: set[tuple[str, str]] = field(default_factory=set)
    """(group, user): the user's cards that blocks keep there"""
    invitations: set[str] = field(default_factory=set)
    invitations_to: set[tuple[str, str]] = field(default_factory=set)
    """(group, invitee)"""
    usage_of: set[str] = field(default_factory=set)
    guards: set[str] = field(default_factory=set)
    cards_of: set[str] = field(default_factory=set)
    """Users, with all their memberships."""
    lines_of: set[str] = field(default_factory=set)
    """Users, with what became of their numbers."""
    own_cards_of: set[str] = field(default_factory=set)


def wanted(requests: list[Request]) -> Wanted:
    """What a batch of commands looks at."""
    all_wanted = Wanted()
    for request in requests:
        _WANTS[type(request.command)](all_wanted, request, request.command)
    return all_wanted


def wanted_for_cards(events: Iterable[ContactChanged]) -> Wanted:
    """What changes to users' numbers, and to their own cards in their address books, look at."""
    want = Wanted()
    for event in events:
        want.cards_of.add(event.owner_id)
        want.guards.add(event.owner_id)
        (want.lines_of if event.scope is Scope.LINE else want.own_cards_of).add(event.owner_id)
    return want


def _own_membership(want: Wanted, request: Request, command: Any) -> None:
    want.groups.add(command.group_id)
    want.members.add((command.group_id, request.sender.user_id))


def _and_member(want: Wanted, request: Request, command: Any) -> None:
    _own_membership(want, request, command)
    want.members.add((command.group_id, command.user_id))


def _create(want: Wanted, request: Request, command: commands.CreateGroup) -> None:
    users = {request.sender.user_id, *command.members}
    want.usage_of.add(request.sender.user_id)
    want.guards |= users
    want.standing_of |= users


def _invite(want: Wanted, request: Request, command: commands.Invite) -> None:
    _and_member(want, request, command)
    want.invitations_to.add((command.group_id, command.user_id))
    want.usage_of.add(request.sender.user_id)
    want.guards.add(request.sender.user_id)


def _invitation(want: Wanted, request: Request, command: Any) -> None:
    want.invitations.add(command.invitation_id)


def _leave(want: Wanted, request: Request, command: commands.LeaveGroup) -> None:
    _own_membership(want, request, command)
    want.frozen_of.add((command.group_id, request.sender.user_id))


def _remove(want: Wanted, request: Request, command: commands.RemoveMember) -> None:
    _and_member(want, request, command)
    want.frozen_of.add((command.group_id, command.user_id))


def _hand_over(want: Wanted, request: Request, command: commands.HandOver) -> None:
    _and_member(want, request, command)
    want.guards |= {request.sender.user_id, command.user_id}


def _publish(want: Wanted, request: Request, command: commands.PublishCard) -> None:
    _own_membership(want, request, command)


def _block(want: Wanted, request: Request, command: commands.Block | commands.Lift) -> None:
    setter = request.sender.user_id
    if command.group_id is None:
        if isinstance(command, commands.Block):
            want.groups_of.add((setter, command.user_id))
        want.blocks_between.add((setter, command.user_id))
        want.standing.add((setter, command.user_id))
        want.guards |= {setter, command.user_id}
        return
    _and_member(want, request, command)
    if isinstance(command, commands.Lift):
        want.standing.add((setter, command.user_id))
        want.guards |= {setter, command.user_id}
    want.blocks.add((command.group_id, setter, command.user_id))
    want.frozen_of.add((command.group_id, setter))


def _nothing(want: Wanted, request: Request, command: Any) -> None:
    pass


_WANTS: Mapping[type[Command], Callable[[Wanted, Request, Any], None]] = {
    commands.CreateGroup: _create,
    commands.Invite: _invite,
    commands.AcceptInvitation: _invitation,
    commands.DeclineInvitation: _invitation,
    commands.WithdrawInvitation: _invitation,
    commands.LeaveGroup: _leave,
    commands.RemoveMember: _remove,
    commands.HandOver: _hand_over,
    commands.DissolveGroup: _own_membership,
    commands.PublishCard: _publish,
    commands.Block: _block,
    commands.Lift: _block,
    commands.Subscribe: _own_membership,
    commands.Unsubscribe: _own_membership,
    commands.SetPullInterval: _nothing,
}
