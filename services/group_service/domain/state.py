"""The documents that a batch of commands works on, and what the batch has changed in them.

Commands of one batch see each other's changes; a command that is refused has changed nothing,
since every rule checks before it puts.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.deciding.table import Table
from group_service.domain.documents import (
    Block,
    FrozenCard,
    Group,
    Invitation,
    Limits,
    Member,
    OwnCard,
    PullInterval,
    StandingBlock,
    Succession,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, when, and under which name new things are made."""

    user_id: str
    terminal_id: str
    command_id: str
    now: datetime
    limits: Limits


class State:
    """Everything that a batch has loaded."""

    def __init__(self) -> None:
        self.groups: Table[str, Group] = Table()
        self.members: Table[tuple[str, str], Member] = Table()
        self.blocks: Table[tuple[str, str, str], Block] = Table()
        self.standing: Table[tuple[str, str], StandingBlock] = Table()
        self.frozen: Table[tuple[str, str, int], FrozenCard] = Table()
        self.invitations: Table[str, Invitation] = Table()
        self.usage: Table[str, Usage] = Table()
        self.guards: Table[str, int] = Table()
        self.intervals: Table[str, PullInterval] = Table()
        self.successions: Table[tuple[str, str], Succession] = Table()
        self.own_cards: Table[str, OwnCard] = Table()

    def group_of(self, group_id: str, asking: Asking) -> tuple[Group, Member]:
        """The group and the sender's own membership.

        Raises:
            Refusal: `not_found`, alike for a group that is not there and one that is not the
                sender's.
        """
        group = self.groups.get(group_id)
        member = self.members.get((group_id, asking.user_id))
        if group is None or group.dissolved or member is None or not member.active:
            raise no_such_group()
        return group, member

    def member(self, group_id: str, user_id: str) -> Member:
        """Another member of a group that the sender is in.

        Raises:
            Refusal: `not_found`.
        """
        member = self.members.get((group_id, user_id))
        if member is None or not member.active:
            raise Refusal(ErrorCode.NOT_FOUND, "No such member in this group; see its list.")
        return member

    def usage_of(self, user_id: str) -> Usage:
        """What a user has used up of the quotas."""
        usage = self.usage.get(user_id)
        if usage is None:
            usage = Usage(user_id, 0, 0)
            self.usage.put(user_id, usage)
        return usage

    def uses(self, user_id: str, *, groups: int = 0, invitations: int = 0) -> None:
        """Count what a user has more or less of, for the commands that follow in the batch."""
        usage = self.usage.get(user_id)
        if usage is not None:
            self.usage.put(
                user_id,
                replace(
                    usage,
                    owned_groups=usage.owned_groups + groups,
                    open_invitations=usage.open_invitations + invitations,
                ),
            )

    def guard(self, *user_ids: str) -> None:
        """Let no other process decide about these users at the same time.

        A group's own guard is its head. This one is for what spans groups: a user who is blocked
        everywhere while joining one more, and quotas.
        """
        for user_id in user_ids:
            self.guards.put(user_id, self.guards.get(user_id) or 0)

    def put_group(self, group: Group) -> None:
        """Set a group's new head."""
        self.groups.put(group.group_id, group)

    def put_member(self, member: Member) -> None:
        """Set a membership's new state."""
        self.members.put((member.group_id, member.user_id), member)

    def put_block(self, block: Block) -> None:
        """Set a block's new state."""
        self.blocks.put((block.group_id, block.setter_id, block.blocked_id), block)


def no_such_group() -> Refusal:
    """The one answer for a group that is not there or not the sender's."""
    return Refusal(ErrorCode.NOT_FOUND, "You are in no such group; see the list of your groups.")


def denied(why: str) -> Refusal:
    """The sender may see it, but may not do it."""
    return Refusal(ErrorCode.PERMISSION_DENIED, why)
