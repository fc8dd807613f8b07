"""The fan-out on a real database: what a large group costs, and what waits for an audience."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from contactmesh.audience.storage import Audiences, Held, HeldEvents
from contactmesh.contracts.contact import ContactChanged, Origin, Scope
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.group.events import (
    AudienceBlock,
    AudienceMember,
    AudienceRequested,
    AudienceSnapshot,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    MemberLeft,
)
from contactmesh.contracts.group.views import MemberState
from contactmesh.messaging.message import Delivery, Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.storage.database import Database
from fanout_service.handlers import FanOut
from fanout_service.repository import Terminals

LARGE = "01234567-89ab-cdef-0123-456789abcdef"
OTHER = "11234567-89ab-cdef-0123-456789abcdef"
MEMBERS = tuple(f"user{number:05d}" for number in range(3_000))
BATCH = 200
MILLISECONDS_PER_EVENT = 10
"""Far more than it takes, also on a busy machine; a write for each event took over a hundred."""


class _Publisher(Publisher):
    """Keeps what would be published."""

    def __init__(self) -> None:
        self.published: list[Outgoing] = []

    async def publish(self, messages: Sequence[Outgoing], *, mandatory: bool = False) -> None:
        self.published += messages


@dataclass
class _Service:
    """A fan-out without its queue."""

    database: Database
    now: datetime = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)
    publisher: _Publisher = field(default_factory=_Publisher)
    sent: int = 0

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)

    async def start(self) -> None:
        self.held = HeldEvents(self.database)
        await self.held.prepare()
        await Audiences(self.database).prepare()
        self.restart()

    def restart(self) -> None:
        self.fan_out = FanOut(
            Audiences(self.database, lambda: self.now),
            self.held,
            Terminals(self.database),
            self.publisher,
            lambda: self.now,
        )

    async def takes(self, *messages: Message) -> None:
        batch = [self._arrived(message) for message in messages]
        for first in range(0, len(batch), BATCH):
            assert await self.fan_out.handle(batch[first : first + BATCH]) == []

    def _arrived(self, message: Message) -> Delivery:
        self.sent += 1
        envelope = Envelope.of(
            message, id=f"e{self.sent}", source="/tests", time=self.now, subject="s"
        )
        return Delivery(envelope.encode(), "", envelope.id)

    def told(self, type_: str) -> list[set[str]]:
        return [set(one.bcc) for one in self.publisher.published if one.type == type_]


@pytest_asyncio.fixture
async def service(database_url: str, database_prefix: str) -> AsyncIterator[_Service]:
    async with Database(database_url, f"{database_prefix}fanout_service") as database:
        service = _Service(database)
        await service.start()
        yield service


def _created(group_id: str, *members: str) -> GroupCreated:
    return GroupCreated(
        group_id=group_id, audience_version=1, name="g", owner_id=members[0], members=members
    )


def _set(version: int, setter: str, blocked: str) -> BlockSet:
    return BlockSet(group_id=LARGE, audience_version=version, setter_id=setter, blocked_id=blocked)


def _changed(group_id: str, owner: str, version: int) -> ContactChanged:
    return ContactChanged(
        scope=Scope.CARD,
        owner_id=owner,
        uid="urn:example:1",
        rev=7,
        card={"uid": "urn:example:1"},
        origin=Origin(service="group_service", terminal_id=f"{owner}_aaaaaaaa"),
        group_id=group_id,
        audience_version=version,
    )


@pytest.mark.claim("G1b")
async def test_g1b_many_blocks_in_a_large_group_do_not_hold_up_another(service: _Service) -> None:
    await service.takes(_created(LARGE, *MEMBERS), _created(OTHER, "lin", "bo"))
    owner, *others = MEMBERS
    blocks = [_set(2 + number, owner, others[number]) for number in range(1_000)]
    began = time.perf_counter()
    await service.takes(*blocks, _changed(OTHER, "lin", 1))
    milliseconds = (time.perf_counter() - began) * 1_000 / len(blocks)
    assert service.told("contact.changed") == [{"user.lin", "user.bo"}]
    assert milliseconds < MILLISECONDS_PER_EVENT
    service.publisher.published.clear()
    service.restart()
    await service.takes(_changed(LARGE, owner, 1_001))
    told = set().union(*service.told("contact.changed"))
    assert told == {f"user.{user}" for user in (owner, *others[1_000:])}


def _left(version: int, user_id: str) -> MemberLeft:
    return MemberLeft(
        group_id=OTHER,
        audience_version=version,
        user_id=user_id,
        state=MemberState.LEFT,
        rev=version,
    )


@pytest.mark.claim("G1b")
async def test_g1b_two_processes_take_one_groups_events_in_turns(service: _Service) -> None:
    """Each has a copy that the other has made old; nothing is lost, and no block either."""
    first = service.fan_out
    service.restart()
    second = service.fan_out
    await service.takes(_created(LARGE, *MEMBERS[:50]))
    for number in range(1, 49):
        service.fan_out = first if number % 2 else second
        await service.takes(_set(1 + number, MEMBERS[0], MEMBERS[number]))
    await service.takes(_changed(LARGE, MEMBERS[0], 49))
    assert service.told("contact.changed") == [{f"user.{MEMBERS[0]}", f"user.{MEMBERS[49]}"}]


@pytest.mark.claim("G1b")
async def test_g1b_what_comes_before_its_turn_waits_in_any_number(service: _Service) -> None:
    changes = [_changed(LARGE, MEMBERS[0], 401) for _ in range(450)]
    blocks = [_set(1 + number, MEMBERS[0], MEMBERS[number]) for number in range(1, 401)]
    await service.takes(*changes, *reversed(blocks))
    assert service.told("contact.changed") == []
    await service.takes(_created(LARGE, *MEMBERS[:402]))
    assert service.told("contact.changed") == [
        {f"user.{MEMBERS[0]}", f"user.{MEMBERS[401]}"} for _ in changes
    ]
    service.passes(seconds=1)
    await service.fan_out.heal()
    assert await service.held.count(service.now) == 0


async def test_a_snapshot_replaces_what_was_stored_and_an_older_one_nothing(
    service: _Service,
) -> None:
    await service.takes(_created(OTHER, "lin", "bo", "ada"))
    member = AudienceMember(user_id="lin", since=1), AudienceMember(user_id="mei", since=5)
    block = AudienceBlock(setter_id="lin", blocked_id="mei", lifted_version=6)
    snapshot = AudienceSnapshot(group_id=OTHER, audience_version=7, members=member, blocks=(block,))
    older = snapshot.model_copy(update={"audience_version": 6, "members": (), "blocks": ()})
    await service.takes(snapshot)
    service.restart()
    await service.takes(older, _changed(OTHER, "lin", 7), _changed(OTHER, "lin", 5))
    assert service.told("contact.changed") == [{"user.lin", "user.mei"}, {"user.lin"}]


async def test_who_has_left_and_what_is_dissolved_does_not_stay_for_ever(
    service: _Service,
) -> None:
    await service.takes(_created(OTHER, "lin", "bo", "ada"), _left(2, "bo"))
    stored = service.database.collection("audience_members")
    assert {one["user_id"] for one in await stored.find({})} == {"lin", "ada"}
    assert await stored.count({"dissolved_at": {"$ne": None}}, limit=9) == 0
    await service.takes(_left(3, "ada"), GroupDissolved(group_id=OTHER, audience_version=4))
    for name in ("audience_members", "audience_heads"):
        (left,) = await service.database.collection(name).find({})
        assert left["dissolved_at"] == service.now
    service.restart()
    await service.takes(GroupDissolved(group_id=OTHER, audience_version=4))
    assert service.told("group.dissolved") == [{"user.lin"}, {"user.lin"}]


async def test_an_audience_that_nobody_knows_is_asked_for_less_and_less_often(
    service: _Service,
) -> None:
    await service.takes(*[_changed(LARGE, "lin", 1) for _ in range(30)])
    asked = 0
    for _ in range(60):
        service.passes(seconds=10)
        await service.fan_out.heal()
        asked = len(service.told(AudienceRequested.TYPE))
    assert 6 <= asked <= 15
    await service.takes(_changed(OTHER, "lin", 1))
    service.passes(seconds=0.5)
    service.publisher.published.clear()
    await service.fan_out.heal()
    assert len(service.told(AudienceRequested.TYPE)) == 1
    assert await service.held.count(service.now + timedelta(seconds=1)) == 31


async def test_nothing_is_asked_for_when_nothing_is_missing(service: _Service) -> None:
    await service.takes(_changed(OTHER, "lin", 2))
    await service.takes(_created(OTHER, "lin"), _changed(OTHER, "lin", 1))
    await service.fan_out.heal()
    assert service.told(AudienceRequested.TYPE) == []


async def test_what_was_put_aside_and_can_no_longer_be_read_is_parked(service: _Service) -> None:
    held = Held("e", OTHER, 1, b"{", service.now, "group.block.set")
    await service.held.hold([held, held])
    await service.takes(_created(OTHER, "lin"))
    (parked,) = [one for one in service.publisher.published if one.type == "parked"]
    assert (parked.body, parked.routing_key) == (b"{", "fanout_service.events")
    assert parked.headers["x-original-routing-key"] == "group.block.set"
    assert await service.held.count(service.now + timedelta(seconds=1)) == 0
