"""Loading what a batch looks at, in as few round trips as it needs, and writing what it changed."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from contactmesh.storage.database import Collection, Database
from contactmesh.storage.transaction import Write
from group_service.domain.documents import InvitationState, Usage
from group_service.domain.state import State
from group_service.repository import mapping
from group_service.repository.mapping import join_key
from group_service.wanted import Wanted


class Loaded:
    """A state with the `etag`s that it was loaded at."""

    def __init__(self) -> None:
        self.state = State()
        self.guard_etags: dict[str, int] = {}

    def writes(self) -> list[Write]:
        """What the batch changed, guarded by what it was based on."""
        state = self.state
        writes = [
            Write(
                mapping.GROUPS,
                group_id,
                {**mapping.stored(group), "etag": group.etag + 1},
                guard=group.etag,
            )
            for group_id, group in state.groups.changed.items()
            if group is not None
        ]
        for user_id in state.guards.changed:
            etag = self.guard_etags.get(user_id, 0)
            writes.append(Write(mapping.GUARDS, user_id, {"etag": etag + 1}, guard=etag))
        for collection, table in (
            (mapping.MEMBERS, state.members),
            (mapping.BLOCKS, state.blocks),
            (mapping.STANDING, state.standing),
            (mapping.FROZEN, state.frozen),
            (mapping.INVITATIONS, state.invitations),
            (mapping.INTERVALS, state.intervals),
            (mapping.SUCCESSIONS, state.successions),
            (mapping.OWN_CARDS, state.own_cards),
        ):
            writes += [
                Write(
                    collection,
                    key if isinstance(key, str) else join_key(*key),
                    None if document is None else mapping.stored(document),
                )
                for key, document in table.changed.items()
            ]
        return writes


class Loading:
    """Loads the documents that a batch looks at."""

    def __init__(self, database: Database) -> None:
        self._groups = database.collection(mapping.GROUPS)
        self._members = database.collection(mapping.MEMBERS)
        self._blocks = database.collection(mapping.BLOCKS)
        self._standing = database.collection(mapping.STANDING)
        self._frozen = database.collection(mapping.FROZEN)
        self._invitations = database.collection(mapping.INVITATIONS)
        self._guards = database.collection(mapping.GUARDS)
        self._successions = database.collection(mapping.SUCCESSIONS)
        self._own_cards = database.collection(mapping.OWN_CARDS)

    async def load(self, want: Wanted, now: datetime) -> Loaded:
        """Load what is wanted.

        Heads and guards come first, and what is decided on after them: whatever another process
        commits meanwhile, one of their `etag`s is then outdated when this batch commits. What leads
        to them is only looked at for its key, and loaded again after them.
        """
        loaded = Loaded()
        state = loaded.state
        await self._find_invitations(want)
        await self._load_guards(want, loaded)
        await asyncio.gather(
            self._find_groups_of(want),
            self._find_memberships(want),
            self._find_blocks_between(want),
            self._load_standing(want, state),
        )
        await self._load_groups(want, state)
        await asyncio.gather(
            self._load_invitations(want, state),
            self._load_members(want, state),
            self._load_blocks(want, state),
            self._load_frozen(want, state),
            self._load_usage(want, state, now),
            self._load_successions(want, state),
            self._load_own_cards(want, state),
        )
        return loaded

    async def _find_invitations(self, want: Wanted) -> None:
        found = await self._invitations.get_many(sorted(want.invitations))
        for invitation in map(mapping.invitation, found.values()):
            want.groups.add(invitation.group_id)
            want.members.add((invitation.group_id, invitation.invitee_id))
            want.joining.add((invitation.group_id, invitation.invitee_id))
            want.guards.add(invitation.invitee_id)

    async def _find_groups_of(self, want: Wanted) -> None:
        if not want.groups_of:
            return
        users = sorted({user_id for user_id, _ in want.groups_of})
        found = await self._members.find(
            {"user_id": {"$in": users}, "state": "active"}, without=["card"]
        )
        for member in map(mapping.member, found):
            want.groups.add(member.group_id)
            want.members.add((member.group_id, member.user_id))
            want.frozen_of.add((member.group_id, member.user_id))
            for user_id, other in want.groups_of:
                if user_id == member.user_id:
                    want.members.add((member.group_id, other))
                    want.blocks.add((member.group_id, user_id, other))

    async def _find_memberships(self, want: Wanted) -> None:
        if not want.cards_of:
            return
        found = await self._members.find(
            {"user_id": {"$in": sorted(want.cards_of)}, "state": "active"}, without=["card"]
        )
        for member in map(mapping.member, found):
            want.groups.add(member.group_id)
            want.members.add((member.group_id, member.user_id))

    async def _find_blocks_between(self, want: Wanted) -> None:
        pairs = [
            {"setter_id": setter, "blocked_id": other} for setter, other in want.blocks_between
        ]
        for block in map(mapping.block, await _any_of(self._blocks, pairs)):
            want.groups.add(block.group_id)
            want.members.add((block.group_id, block.setter_id))
            want.blocks.add((block.group_id, block.setter_id, block.blocked_id))
            want.frozen_of.add((block.group_id, block.setter_id))

    async def _load_standing(self, want: Wanted, state: State) -> None:
        found = list(
            (await self._standing.get_many([join_key(*pair) for pair in want.standing])).values()
        )
        joiners = {user_id for _, user_id in want.joining}
        if setters := sorted(joiners | want.standing_of):
            found += await self._standing.find({"setter_id": {"$in": setters}})
        if joiners:
            found += await self._standing.find({"blocked_id": {"$in": sorted(joiners)}})
        for standing in map(mapping.standing_block, found):
            pair = (standing.setter_id, standing.blocked_id)
            state.standing.load([(pair, standing)])
            for group_id, joiner in want.joining:
                if joiner in pair:
                    want.members |= {(group_id, user_id) for user_id in pair}
                    want.blocks.add((group_id, *pair))

    async def _load_invitations(self, want: Wanted, state: State) -> None:
        found = list((await self._invitations.get_many(sorted(want.invitations))).values())
        found += await _any_of(
            self._invitations,
            [
                {
                    "group_id": group_id,
                    "invitee_id": invitee_id,
                    "state": InvitationState.OPEN.value,
                }
                for group_id, invitee_id in want.invitations_to
            ],
        )
        state.invitations.load(
            (invitation.invitation_id, invitation) for invitation in map(mapping.invitation, found)
        )

    async def _load_groups(self, want: Wanted, state: State) -> None:
        found = await self._groups.get_many(sorted(want.groups))
        state.groups.load((id_, mapping.group(document)) for id_, document in found.items())

    async def _load_members(self, want: Wanted, state: State) -> None:
        found = list((await _by_keys(self._members, want.members)).values())
        members = [mapping.member(document) for document in found]
        state.members.load(((member.group_id, member.user_id), member) for member in members)

    async def _load_blocks(self, want: Wanted, state: State) -> None:
        found = (await _by_keys(self._blocks, want.blocks)).values()
        state.blocks.load(
            ((block.group_id, block.setter_id, block.blocked_id), block)
            for block in map(mapping.block, found)
        )

    async def _load_frozen(self, want: Wanted, state: State) -> None:
        found = await _any_of(
            self._frozen,
            [{"group_id": group_id, "user_id": user_id} for group_id, user_id in want.frozen_of],
        )
        state.frozen.load(
            ((card.group_id, card.user_id, card.card_rev), card)
            for card in map(mapping.frozen_card, found)
        )

    async def _load_usage(self, want: Wanted, state: State, now: datetime) -> None:
        for user_id in want.usage_of:
            owned = await self._groups.count(
                {"owner_id": user_id, "dissolved": False}, limit=1_000_000
            )
            waiting = await self._invitations.count(
                {
                    "inviter_id": user_id,
                    "state": InvitationState.OPEN.value,
                    "expires_at": {"$gt": now},
                },
                limit=1_000_000,
            )
            state.usage.load([(user_id, Usage(user_id, owned, waiting))])

    async def _load_successions(self, want: Wanted, state: State) -> None:
        if not want.lines_of:
            return
        found = await self._successions.find({"owner_id": {"$in": sorted(want.lines_of)}})
        state.successions.load(
            ((succession.owner_id, succession.before), succession)
            for succession in map(mapping.succession, found)
        )

    async def _load_own_cards(self, want: Wanted, state: State) -> None:
        found = await self._own_cards.get_many(sorted(want.own_cards_of))
        state.own_cards.load((id_, mapping.own_card(document)) for id_, document in found.items())

    async def _load_guards(self, want: Wanted, loaded: Loaded) -> None:
        found = await self._guards.get_many(sorted(want.guards))
        loaded.guard_etags = {user_id: guard["etag"] for user_id, guard in found.items()}


async def _any_of(
    collection: Collection, alternatives: Sequence[Mapping[str, str]]
) -> list[dict[str, Any]]:
    return await collection.find({"$or": list(alternatives)}) if alternatives else []


async def _by_keys(
    collection: Collection, keys: Iterable[tuple[str, ...]]
) -> dict[str, dict[str, object]]:
    return await collection.get_many([join_key(*key) for key in sorted(keys)])
