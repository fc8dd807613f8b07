"""Two copies of group_service decide about the same group at once.

While one copy handles a command, the other handles another one completely: before the first read of
the first, before its second, and so on until just before its commit. Whatever the moment, replies
and stored state must be those of the one command after the other, in one of the two orders.
"""

import itertools
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio
from tests.integration.group_service.copies import GroupCopy, HookedDatabase, Interruption
from tests.wire import card_of, number_of

from contactmesh.contracts.command import Command
from contactmesh.contracts.group.commands import (
    AcceptInvitation,
    Block,
    CreateGroup,
    DissolveGroup,
    HandOver,
    Invite,
    LeaveGroup,
    Lift,
    PublishCard,
    RemoveMember,
    Unsubscribe,
    WithdrawInvitation,
)
from contactmesh.contracts.reply import Reply
from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Document
from group_service.domain.documents import Limits

LIMITS = Limits(owned_groups=2, open_invitations=3, members=3)
"""One more group, one more invitation, one more member: of two that want it, one gets it."""


@dataclass(frozen=True)
class Place:
    """A group of lin's, with bo in it, and ada and mei invited."""

    suffix: str
    group_id: str
    to_ada: str
    to_mei: str
    rev: int
    """The revision of lin's card."""

    def user(self, name: str) -> str:
        return f"{name}-{self.suffix}"


Asked = Callable[[Place], tuple[str, Command]]


def _publish(number: str) -> Asked:
    def asked(place: Place) -> tuple[str, Command]:
        card = card_of(place.user("lin"), number)
        return "lin", PublishCard(group_id=place.group_id, card=card, base_rev=place.rev)

    return asked


ASKED: dict[str, Asked] = {
    "lin publishes": _publish("+8613800000002"),
    "lin publishes elsewhere": _publish("+8613800000003"),
    "lin blocks ada everywhere": lambda place: ("lin", Block(user_id=place.user("ada"))),
    "lin blocks bo everywhere": lambda place: ("lin", Block(user_id=place.user("bo"))),
    "lin blocks bo here": lambda place: (
        "lin",
        Block(user_id=place.user("bo"), group_id=place.group_id),
    ),
    "lin lifts bo everywhere": lambda place: ("lin", Lift(user_id=place.user("bo"))),
    "ada blocks lin everywhere": lambda place: ("ada", Block(user_id=place.user("lin"))),
    "bo blocks lin everywhere": lambda place: ("bo", Block(user_id=place.user("lin"))),
    "ada accepts": lambda place: ("ada", AcceptInvitation(invitation_id=place.to_ada)),
    "mei accepts": lambda place: ("mei", AcceptInvitation(invitation_id=place.to_mei)),
    "lin withdraws from ada": lambda place: (
        "lin",
        WithdrawInvitation(invitation_id=place.to_ada),
    ),
    "lin creates with bo": lambda place: (
        "lin",
        CreateGroup(name="two", members=(place.user("bo"),)),
    ),
    "lin invites kit": lambda place: (
        "lin",
        Invite(group_id=place.group_id, user_id=place.user("kit")),
    ),
    "lin invites zoe": lambda place: (
        "lin",
        Invite(group_id=place.group_id, user_id=place.user("zoe")),
    ),
    "bo leaves": lambda place: ("bo", LeaveGroup(group_id=place.group_id)),
    "bo mutes": lambda place: ("bo", Unsubscribe(group_id=place.group_id)),
    "lin removes bo": lambda place: (
        "lin",
        RemoveMember(group_id=place.group_id, user_id=place.user("bo")),
    ),
    "lin hands over to bo": lambda place: (
        "lin",
        HandOver(group_id=place.group_id, user_id=place.user("bo")),
    ),
    "lin dissolves": lambda place: ("lin", DissolveGroup(group_id=place.group_id)),
}

TELLING = [
    ("lin publishes", "lin publishes elsewhere"),
    ("lin publishes", "lin blocks bo here"),
    ("lin publishes", "lin lifts bo everywhere"),
    ("lin blocks ada everywhere", "ada accepts"),
    ("ada accepts", "lin blocks ada everywhere"),
    ("ada accepts", "ada blocks lin everywhere"),
    ("ada accepts", "ada accepts"),
    ("ada accepts", "mei accepts"),
    ("ada accepts", "lin withdraws from ada"),
    ("lin creates with bo", "lin creates with bo"),
    ("lin creates with bo", "lin blocks bo everywhere"),
    ("lin blocks bo everywhere", "lin creates with bo"),
    ("lin invites kit", "lin invites zoe"),
    ("bo blocks lin everywhere", "bo leaves"),
    ("bo mutes", "bo leaves"),
    ("lin removes bo", "bo leaves"),
    ("lin hands over to bo", "bo leaves"),
    ("lin dissolves", "lin hands over to bo"),
]
"""Pairs of which the second takes away what the first is based on."""

PAIRS = (
    [pytest.param(*pair, marks=pytest.mark.long) for pair in itertools.product(ASKED, ASKED)]
    if os.environ.get("CONTACTMESH_LONG_TESTS")
    else TELLING
)


@dataclass
class House:
    """One database and two copies, the first of which can be interrupted."""

    database: Database
    first: GroupCopy
    second: GroupCopy
    interruption: Interruption

    async def place(self) -> Place:
        """A new group in its state of departure."""
        suffix = secrets.token_hex(4)
        lin, bo, ada, mei = (f"{name}-{suffix}" for name in ("lin", "bo", "ada", "mei"))
        reply = await self.second.does(lin, CreateGroup(name="one", members=(bo,)))
        group_id = reply.result["group_id"]
        first = PublishCard(group_id=group_id, card=card_of(lin, "+8613800000001"))
        published, to_ada, to_mei = await self.second.decides(
            (lin, first),
            (lin, Invite(group_id=group_id, user_id=ada)),
            (lin, Invite(group_id=group_id, user_id=mei)),
        )
        return Place(
            suffix,
            group_id,
            to_ada.result["invitation_id"],
            to_mei.result["invitation_id"],
            published.result["rev"],
        )

    async def picture(self, place: Place) -> object:
        """All that is stored about a place's people, with nothing in it that is by chance."""

        def plain(user_id: str) -> str:
            return user_id.removesuffix(f"-{place.suffix}")

        users = [place.user(name) for name in ("lin", "bo", "ada", "mei", "kit", "zoe")]
        collection = self.database.collection
        groups = await collection("groups").find({"owner_id": {"$in": users}})
        names = {group["_id"]: group["name"] for group in groups}
        within = {"group_id": {"$in": list(names)}}
        members = await collection("members").find(within)
        blocks = await collection("blocks").find(within)
        frozen = await collection("frozen_cards").find(within)
        standing = await collection("standing_blocks").find({"setter_id": {"$in": users}})
        invitations = await collection("invitations").find(within)
        card_revs = {
            (one["group_id"], one["user_id"], one["card_rev"]): _number(one)
            for one in (*members, *frozen)
        }
        return {
            "groups": sorted(
                (
                    group["name"],
                    plain(group["owner_id"]),
                    group["member_count"],
                    group["audience_version"],
                    group["dissolved"],
                )
                for group in groups
            ),
            "members": sorted(
                (
                    names[one["group_id"]],
                    plain(one["user_id"]),
                    one["state"],
                    _number(one),
                    one["frozen_here"],
                    len(one["muted_terminals"]),
                )
                for one in members
            ),
            "blocks": sorted(
                (
                    names[one["group_id"]],
                    plain(one["setter_id"]),
                    plain(one["blocked_id"]),
                    one["active"],
                    card_revs.get((one["group_id"], one["setter_id"], one["frozen_card_rev"]))
                    or "",
                )
                for one in blocks
            ),
            "frozen": sorted((_number(one), one["holders"]) for one in frozen),
            "standing": sorted(
                (plain(one["setter_id"]), plain(one["blocked_id"])) for one in standing
            ),
            "invitations": sorted(
                (plain(one["inviter_id"]), plain(one["invitee_id"]), one["state"])
                for one in invitations
            ),
        }


def _number(document: Document) -> str:
    card = document["card"]
    return "" if card is None else number_of(json.loads(card)) or ""


def _answer(reply: Reply) -> str:
    return reply.status if reply.error is None else reply.error.code.value


@pytest_asyncio.fixture
async def house(database_url: str, database_prefix: str) -> AsyncIterator[House]:
    name = f"{database_prefix}group_service"
    interruption = Interruption()
    async with (
        Database(database_url, name) as database,
        HookedDatabase(database_url, name, interruption) as hooked,
    ):
        first = GroupCopy(hooked, LIMITS, before_commit=interruption.now)
        await first.reading.prepare()
        yield House(database, first, GroupCopy(database, LIMITS), interruption)


async def _check(house: House, one: str, other: str) -> None:
    possible = []
    for one_first in (True, False):
        place = await house.place()
        answers = {}
        for is_one in (one_first, not one_first):
            user, command = ASKED[one if is_one else other](place)
            answers[is_one] = _answer(await house.second.does(place.user(user), command))
        possible.append((answers[True], answers[False], await house.picture(place)))

    at, reads = 1, 1
    while at <= reads + 1:
        place = await house.place()
        replies: list[Reply] = []

        async def interrupt(place: Place = place, replies: list[Reply] = replies) -> None:
            user, command = ASKED[other](place)
            replies.append(await house.second.does(place.user(user), command))

        house.interruption.set(interrupt, at=at)
        user, command = ASKED[one](place)
        reply = await house.first.does(place.user(user), command)
        reads = house.interruption.count
        (interrupting,) = replies
        result = (_answer(reply), _answer(interrupting), await house.picture(place))
        assert result in possible, f"{other}, before read {at} of {one}"
        at += 1


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_two_commands_at_once_are_one_after_the_other(
    house: House, one: str, other: str
) -> None:
    await _check(house, one, other)
