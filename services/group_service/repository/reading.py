"""The queries behind list, show, pull and blocks, and what they need as indexes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from contactmesh.storage.database import Database, Index
from group_service.domain.documents import Block, Group, Invitation, InvitationState, Member
from group_service.repository import mapping
from group_service.repository.mapping import join_key

CLOSED_INVITATION_SECONDS: Final = 30 * 24 * 3600

INDEXES: Final = {
    mapping.GROUPS: [Index((("owner_id", 1), ("dissolved", 1)))],
    mapping.MEMBERS: [
        Index((("group_id", 1), ("rev", 1))),
        Index((("group_id", 1), ("joined_at", 1), ("user_id", 1))),
        Index((("user_id", 1), ("state", 1))),
    ],
    mapping.BLOCKS: [
        Index((("group_id", 1), ("blocked_id", 1))),
        Index((("setter_id", 1), ("active", 1), ("group_id", 1))),
        Index((("setter_id", 1), ("blocked_id", 1))),
    ],
    mapping.STANDING: [Index((("setter_id", 1),)), Index((("blocked_id", 1),))],
    mapping.SUCCESSIONS: [Index((("owner_id", 1),))],
    mapping.FROZEN: [Index((("group_id", 1), ("user_id", 1)))],
    mapping.INVITATIONS: [
        Index((("invitee_id", 1), ("state", 1))),
        Index((("group_id", 1), ("state", 1), ("invitee_id", 1))),
        Index((("inviter_id", 1), ("state", 1), ("expires_at", 1))),
        Index((("expires_at", 1),), expire_seconds=CLOSED_INVITATION_SECONDS),
    ],
}


class Reading:
    """Reads for commands that only ask."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._groups = database.collection(mapping.GROUPS)
        self._members = database.collection(mapping.MEMBERS)
        self._blocks = database.collection(mapping.BLOCKS)
        self._standing = database.collection(mapping.STANDING)
        self._frozen = database.collection(mapping.FROZEN)
        self._invitations = database.collection(mapping.INVITATIONS)
        self._intervals = database.collection(mapping.INTERVALS)

    async def prepare(self) -> None:
        """Make sure that every query has its index."""
        for collection, indexes in INDEXES.items():
            await self._database.collection(collection).ensure(indexes)

    async def group(self, group_id: str) -> Group | None:
        """A group's head."""
        found = await self._groups.get(group_id)
        return None if found is None else mapping.group(found)

    async def groups(self, group_ids: Sequence[str]) -> dict[str, Group]:
        """Heads by id."""
        found = await self._groups.get_many(group_ids)
        return {id_: mapping.group(document) for id_, document in found.items()}

    async def member(self, group_id: str, user_id: str) -> Member | None:
        """One membership."""
        found = await self._members.get(join_key(group_id, user_id))
        return None if found is None else mapping.member(found)

    async def members(self, group_id: str, user_ids: Sequence[str]) -> list[Member]:
        """Some memberships."""
        found = await self._members.get_many([join_key(group_id, id_) for id_ in user_ids])
        return [mapping.member(document) for document in found.values()]

    async def memberships_of(self, user_id: str) -> list[Member]:
        """A user's standing memberships, without the cards."""
        found = await self._members.find(
            {"user_id": user_id, "state": "active"}, sort=[("_id", 1)], without=["card"]
        )
        return [mapping.member(document) for document in found]

    async def member_list(self, group_id: str, after: Member | None, *, limit: int) -> list[Member]:
        """Standing memberships in the order of joining, without the cards."""
        where: dict[str, Any] = {"group_id": group_id, "state": "active"}
        if after is not None:
            where["$or"] = [
                {"joined_at": {"$gt": after.joined_at}},
                {"joined_at": after.joined_at, "user_id": {"$gt": after.user_id}},
            ]
        found = await self._members.find(
            where, sort=[("joined_at", 1), ("user_id", 1)], limit=limit, without=["card"]
        )
        return [mapping.member(document) for document in found]

    async def changed_members(
        self, group_id: str, since: int, *, until: int, except_for: Sequence[str], limit: int
    ) -> list[Member]:
        """Memberships whose last change is after one revision and not after another, in order.

        From the beginning, only those that stand: a first pull has nobody to forget.
        """
        found = await self._members.find(
            {
                "group_id": group_id,
                "rev": {"$gt": since, "$lte": until},
                "user_id": {"$nin": list(except_for)},
                **({} if since else {"state": "active"}),
            },
            sort=[("rev", 1)],
            limit=limit,
        )
        return [mapping.member(document) for document in found]

    async def blocks_against(self, group_id: str, user_id: str) -> list[Block]:
        """The blocks that hold, or held, against a user in a group."""
        found = await self._blocks.find({"group_id": group_id, "blocked_id": user_id})
        return [mapping.block(document) for document in found]

    async def blocks_by(self, user_id: str, group_id: str | None = None) -> list[Block]:
        """The blocks that a user has set and that stand, in one group or in all."""
        where: dict[str, Any] = {"setter_id": user_id, "active": True}
        if group_id is not None:
            where["group_id"] = group_id
        found = await self._blocks.find(where, sort=[("_id", 1)])
        return [mapping.block(document) for document in found]

    async def blocked_everywhere_by(self, user_id: str) -> list[str]:
        """Whom a user blocks in all groups."""
        found = await self._standing.find({"setter_id": user_id}, sort=[("_id", 1)])
        return [document["blocked_id"] for document in found]

    async def frozen_cards(self, keys: Sequence[tuple[str, str, int]]) -> dict[str, dict[str, Any]]:
        """Cards kept for blocks, by user; `keys` are (group, user, card revision)."""
        found = await self._frozen.get_many([join_key(*key) for key in keys])
        return {frozen.user_id: frozen.card for frozen in map(mapping.frozen_card, found.values())}

    async def invitations_for(self, user_id: str, now: datetime) -> list[Invitation]:
        """The invitations that wait for a user's answer."""
        return await self._open_invitations({"invitee_id": user_id}, now)

    async def invitations_of_group(self, group_id: str, now: datetime) -> list[Invitation]:
        """The open invitations to a group."""
        return await self._open_invitations({"group_id": group_id}, now)

    async def _open_invitations(self, where: dict[str, str], now: datetime) -> list[Invitation]:
        found = await self._invitations.find(
            {**where, "state": InvitationState.OPEN.value, "expires_at": {"$gt": now}}, limit=500
        )
        invitations = [mapping.invitation(document) for document in found]
        return sorted(invitations, key=lambda item: (item.created_at, item.invitation_id))

    async def pull_seconds(self, terminal_id: str) -> int | None:
        """The pull interval that a terminal chose."""
        found = await self._intervals.get(terminal_id)
        return None if found is None else mapping.pull_interval(found).seconds

    async def all_members(self, group_id: str) -> list[Member]:
        """Every standing membership of a group, without the cards."""
        found = await self._members.find(
            {"group_id": group_id, "state": "active"}, sort=[("rev", 1)], without=["card"]
        )
        return [mapping.member(document) for document in found]

    async def all_blocks(self, group_id: str) -> list[Block]:
        """Every block in a group, lifted ones too."""
        found = await self._blocks.find({"group_id": group_id})
        return [mapping.block(document) for document in found]
