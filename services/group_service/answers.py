"""Answering commands that only ask: list, show, blocks, pull."""

from collections import defaultdict
from datetime import datetime
from typing import Final

from contactmesh.contracts.group.commands import (
    BlockList,
    GroupList,
    GroupShown,
    ListBlocks,
    ListGroups,
    Pull,
    Pulled,
    ShowGroup,
)
from contactmesh.contracts.group.views import (
    GroupSummary,
    InvitationView,
    MemberView,
    PulledGroup,
    PulledMember,
)
from contactmesh.contracts.reply import Result
from contactmesh.runtime.commands import Request
from group_service.domain.documents import Group, Invitation, Limits, Member
from group_service.domain.pulling import page, read_cursor, shown, write_cursor
from group_service.domain.state import no_such_group
from group_service.repository.reading import Reading

MEMBERS_PER_PAGE: Final = 500


class Answers:
    """The reading side of group_service."""

    def __init__(self, reading: Reading, limits: Limits, cursor_key: bytes) -> None:
        self._reading = reading
        self._limits = limits
        self._cursor_key = cursor_key

    async def answer(self, request: Request, now: datetime) -> Result:
        """The result of a reading command.

        Raises:
            Refusal: the sender may not see it, or the cursor is not usable.
        """
        match request.command:
            case ListGroups():
                return await self._list(request, now)
            case ShowGroup() as command:
                return await self._show(request, command, now)
            case ListBlocks():
                return await self._blocks(request)
            case Pull() as command:
                return await self._pull(request, command, now)
            case other:
                raise TypeError(f"not a reading command: {type(other).__name__}")

    async def _own(self, request: Request, group_id: str) -> tuple[Group, Member]:
        group = await self._reading.group(group_id)
        member = await self._reading.member(group_id, request.sender.user_id)
        if group is None or group.dissolved or member is None or not member.active:
            raise no_such_group()
        return group, member

    async def _list(self, request: Request, now: datetime) -> GroupList:
        user_id = request.sender.user_id
        memberships = await self._reading.memberships_of(user_id)
        heads = await self._reading.groups([member.group_id for member in memberships])
        return GroupList(
            groups=tuple(
                _summary(head, member)
                for member in memberships
                if (head := heads.get(member.group_id)) is not None and not head.dissolved
            ),
            invitations=_views(await self._reading.invitations_for(user_id, now)),
        )

    async def _show(self, request: Request, command: ShowGroup, now: datetime) -> GroupShown:
        group, own = await self._own(request, command.group_id)
        after = (
            None
            if command.after is None
            else await self._reading.member(group.group_id, command.after)
        )
        members = await self._reading.member_list(group.group_id, after, limit=MEMBERS_PER_PAGE + 1)
        shown_members = members[:MEMBERS_PER_PAGE]
        blocks = await self._reading.blocks_by(own.user_id, group.group_id)
        return GroupShown(
            group=_summary(group, own),
            members=tuple(
                MemberView(user_id=member.user_id, role=member.role, joined_at=member.joined_at)
                for member in shown_members
            ),
            after=shown_members[-1].user_id if len(members) > MEMBERS_PER_PAGE else None,
            blocked=tuple(block.blocked_id for block in blocks),
            invitations=_views(await self._reading.invitations_of_group(group.group_id, now)),
            push=request.sender.terminal_id not in own.muted_terminals,
            card_rev=own.card_rev,
        )

    async def _blocks(self, request: Request) -> BlockList:
        user_id = request.sender.user_id
        in_groups: dict[str, list[str]] = defaultdict(list)
        for block in await self._reading.blocks_by(user_id):
            in_groups[block.group_id].append(block.blocked_id)
        return BlockList(
            everywhere=tuple(await self._reading.blocked_everywhere_by(user_id)),
            in_groups={group_id: tuple(users) for group_id, users in in_groups.items()},
        )

    async def _pull(self, request: Request, command: Pull, now: datetime) -> Pulled:
        group, own = await self._own(request, command.group_id)
        since = 0
        if command.since is not None:
            since = read_cursor(
                self._cursor_key, group.group_id, own.user_id, command.since, newest=group.rev
            )
        found = await self._visible(group, own.user_id, since, command.limit)
        members, has_more = page(found, since=since, until=group.rev, limit=command.limit)
        last = members[-1].rev if members else since
        seconds = await self._reading.pull_seconds(request.sender.terminal_id)
        return Pulled(
            group=PulledGroup(group_id=group.group_id, name=group.name, owner_id=group.owner_id),
            members=tuple(members),
            invitations=_views(await self._reading.invitations_for(own.user_id, now)),
            cursor=write_cursor(self._cursor_key, group.group_id, own.user_id, last),
            has_more=has_more,
            interval_seconds=seconds or self._limits.default_pull_seconds,
        )

    async def _visible(
        self, group: Group, viewer_id: str, since: int, limit: int
    ) -> list[PulledMember]:
        """Members that changed, as the viewer may see them.

        Blocks are read once to know whose cards are special, and once more after the cards: a card
        is shown only if no block that was read after it forbids it. A block that is set while a
        pull runs therefore holds for that pull.
        """
        group_id = group.group_id
        setters = [b.setter_id for b in await self._reading.blocks_against(group_id, viewer_id)]
        members = await self._reading.changed_members(
            group_id, since, until=group.rev, except_for=setters, limit=limit + 1
        )
        members += await self._reading.members(group_id, setters)
        blocks = {
            block.setter_id: block
            for block in await self._reading.blocks_against(group_id, viewer_id)
        }
        frozen = await self._reading.frozen_cards(
            [
                (group_id, block.setter_id, block.frozen_card_rev)
                for block in blocks.values()
                if block.active and block.frozen_card_rev is not None
            ]
        )
        seen = (shown(one, blocks.get(one.user_id), frozen.get(one.user_id)) for one in members)
        return [visible for visible in seen if visible is not None]


def _summary(group: Group, member: Member) -> GroupSummary:
    return GroupSummary(
        group_id=group.group_id,
        name=group.name,
        owner_id=group.owner_id,
        role=member.role,
        joined_at=member.joined_at,
        members=group.member_count,
    )


def _views(invitations: list[Invitation]) -> tuple[InvitationView, ...]:
    return tuple(
        InvitationView(
            invitation_id=item.invitation_id,
            group_id=item.group_id,
            group_name=item.group_name,
            inviter_id=item.inviter_id,
            invitee_id=item.invitee_id,
            expires_at=item.expires_at,
        )
        for item in invitations
    )
