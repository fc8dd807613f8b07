"""fanout_service knows its audiences from events alone, in whatever order these arrive (G1b)."""

import json
import random
from collections.abc import AsyncIterator

import aio_pika
import pytest
import pytest_asyncio
from pymongo import MongoClient
from tests.backends import Backends
from tests.wire import System, Terminal, number_of, running_system

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.commands import Block, Lift, Unsubscribe
from contactmesh.contracts.reply import Reply
from contactmesh.messaging.topology import EVENTS

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUEUE = "fanout_service.events"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


async def _tapped(
    system: System, channel: aio_pika.abc.AbstractChannel
) -> aio_pika.abc.AbstractQueue:
    """An integrator's queue with every event."""
    queue = await channel.declare_queue(exclusive=True)
    await queue.bind(EVENTS, "#")
    return queue


async def _drained(queue: aio_pika.abc.AbstractQueue) -> list[tuple[str, bytes]]:
    events = []
    while message := await queue.get(no_ack=True, fail=False):
        events.append((message.routing_key or "", message.body))
    return events


async def _history(
    system: System, lin: Terminal, bo: Terminal, ada: Terminal
) -> tuple[str, list[int]]:
    """Publish, block, publish (hidden from bo), lift, publish, block, publish (hidden from bo)."""
    group_id = await lin.creates(bo)
    await ada.accepts(await lin.invites(group_id, ada))
    revs: list[int] = []
    for number in range(4):
        revs.append(
            await lin.publishes(group_id, f"+861390000000{number}", revs[-1] if revs else None)
        )
        change = Lift if number == 1 else Block
        if number < 3:
            await lin.does(change(user_id=bo.user_id, group_id=group_id))
    for number in range(4):
        await ada.until_pushed(lin, group_id, f"+861390000000{number}")
    return group_id, revs


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("seed", range(4))
async def test_g1b_events_in_any_order_reach_the_right_people(system: System, seed: int) -> None:
    """The history of a group, each event twice, shuffled, as a group that the service never saw."""
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    async with system.channel() as channel:
        tap = await _tapped(system, channel)
        group_id, _ = await _history(system, lin, bo, ada)
        events = [one for one in await _drained(tap) if group_id.encode() in one[1]]
    assert len(events) >= 11
    # the same history of a group with another id, so that nothing of it is known
    other_id = f"{seed:08x}-0000-4000-8000-{random.getrandbits(48):012x}"
    renamed = []
    for key, body in events:
        envelope = json.loads(body.replace(group_id.encode(), other_id.encode()))
        envelope["id"] = f"{envelope['id'][:20]}-{seed}-{random.getrandbits(32):x}"
        renamed.append((key, json.dumps(envelope).encode()))
    shuffled = renamed * 2
    random.Random(seed).shuffle(shuffled)
    await system.publish_events(shuffled)
    for number in range(4):
        await ada.until_pushed(lin, other_id, f"+861390000000{number}")
    for group in (group_id, other_id):
        allowed = {"+8613900000000", "+8613900000002"}
        assert set(bo.pushed_numbers(lin, group)) <= allowed
    assert not bo.ever_saw("+8613900000001")
    assert not bo.ever_saw("+8613900000003")


@pytest.mark.claim("G1b")
async def test_g1b_with_an_empty_database_it_asks_for_the_audience_first(system: System) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    group_id, revs = await _history(system, lin, bo, ada)
    await system.stack.stop("fanout_service")
    with MongoClient[dict[str, object]](system.mongodb_url) as client:
        client.drop_database(f"{system.database_prefix}fanout_service")
    rev = await lin.publishes(group_id, "+8613900000008", revs[-1])
    await system.stack.start("fanout_service")
    await ada.until_pushed(lin, group_id, "+8613900000008")
    await lin.does(Lift(user_id=bo.user_id, group_id=group_id))
    await bo.until_told("group.refresh", group_id)
    await lin.publishes(group_id, "+8613900000009", rev)
    await bo.until_pushed(lin, group_id, "+8613900000009")
    assert "+8613900000008" not in bo.pushed_numbers(lin, group_id)
    assert number_of((await bo.pulls(group_id))[lin.user_id].card) == "+8613900000009"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff", "not UTF-8"),
        (b"{", "invalid_argument"),
        (b'{"specversion":"1.0"}', "/time"),
        (
            json.dumps(
                {
                    "specversion": "1.0",
                    "id": "e1",
                    "source": "/tests",
                    "type": "group.sung",
                    "time": "2026-11-30T08:15:00Z",
                }
            ).encode(),
            "unknown event group.sung",
        ),
        (
            json.dumps(
                {
                    "specversion": "1.0",
                    "id": "e2",
                    "source": "/tests",
                    "type": "group.created",
                    "time": "2026-11-30T08:15:00Z",
                    "data": {"group_id": "no", "name": "+8613900000077"},
                }
            ).encode(),
            "/data/group_id",
        ),
    ],
)
async def test_an_event_that_cannot_be_read_is_parked_with_its_reason_and_the_next_is_delivered(
    system: System, body: bytes, reason: str
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    await system.publish_events([("group.created", body)])
    parked = await system.parked(QUEUE)
    assert parked.body == body
    assert reason in str(parked.headers["x-parked-reason"])
    assert "+86" not in str(parked.headers)
    group_id = await lin.creates(bo)
    await bo.until_told("group.joined", group_id)


@pytest.mark.claim("G4")
async def test_g4_a_terminal_without_pushes_gets_none_while_the_users_other_one_does(
    system: System,
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    tablet = await system.another_terminal(bo.user_id)
    muted, other = await lin.creates(bo), await lin.creates(bo)
    await bo.does(Unsubscribe(group_id=muted))
    await lin.publishes(muted, "+8613900000005")
    await lin.publishes(other, "+8613900000006")
    await tablet.until_pushed(lin, muted, "+8613900000005")
    await bo.until_pushed(lin, other, "+8613900000006")
    assert bo.pushed_numbers(lin, muted) == []


@pytest.mark.claim("G1")
async def test_g1_an_event_that_comes_again_is_pushed_under_the_same_id(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    async with system.channel() as channel:
        tap = await _tapped(system, channel)
        group_id = await lin.creates(bo)
        await lin.publishes(group_id, "+8613900000007")
        await bo.until_pushed(lin, group_id, "+8613900000007")
        events = [one for one in await _drained(tap) if b"+8613900000007" in one[1]]
    await system.publish_events(events)

    def pushes() -> list[Envelope]:
        return [one for one in bo.received if one.type == "contact.changed"]

    await bo.until(lambda: len(pushes()) == 2)
    assert pushes()[0] == pushes()[1]
    assert not any(one.type == Reply.TYPE for one in bo.received)
