"""The outbox relay between a real database and a real broker, which may be away."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import aio_pika
import pytest
import pytest_asyncio
from prometheus_client import REGISTRY
from tests.backends import Broker
from tests.integration.identity_service.breakable_line import breakable_line
from tests.wire import DEADLINE

from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE
from contactmesh.local.waiting import until
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxEntry, OutboxRelay
from contactmesh.messaging.topology import EVENTS, GROUP
from contactmesh.storage.database import Database
from contactmesh.storage.errors import DatabaseUnavailable
from contactmesh.storage.outbox import LEASE, MongoOutbox

QUEUE = GROUP.events_queue
SHORT = 0.05


@pytest_asyncio.fixture
async def database(database_url: str, database_prefix: str) -> AsyncIterator[Database]:
    async with Database(database_url, f"{database_prefix}relay") as opened:
        yield opened


@pytest_asyncio.fixture
async def outbox(database: Database) -> MongoOutbox:
    outbox = MongoOutbox(database)
    await outbox.prepare()
    return outbox


@pytest_asyncio.fixture
async def publisher(broker: Broker) -> AsyncIterator[Publisher]:
    async with Publisher(broker.url, "tests") as opened:
        yield opened


@asynccontextmanager
async def _running(relay: OutboxRelay) -> AsyncIterator[None]:
    task = asyncio.create_task(relay.run())
    try:
        yield
    finally:
        relay.stop()
        async with asyncio.timeout(DEADLINE):
            await task


def _relay(outbox: MongoOutbox, publisher: Publisher) -> OutboxRelay:
    return OutboxRelay(outbox, publisher, transient=(DatabaseUnavailable,))


async def _commit(
    database: Database, outbox: MongoOutbox, *ids: str, ago: timedelta = timedelta()
) -> Sequence[OutboxEntry]:
    now = datetime.now(UTC) - ago
    messages = [
        Outgoing(EVENTS, "group.dissolved", b"{}", id_, "group.dissolved", now) for id_ in ids
    ]
    async with database.transaction() as transaction:
        return await outbox.add(transaction, messages, now)


async def _left(database: Database) -> int:
    return await database.collection("outbox").count({}, limit=1_000)


async def _until_empty(database: Database) -> None:
    async def empty() -> bool:
        return await _left(database) == 0

    await until(empty, seconds=DEADLINE)


async def _published(broker: Broker) -> list[str | None]:
    """The message ids that the queue holds; they stay in it."""
    async with await aio_pika.connect(broker.url) as connection:
        queue = await (await connection.channel()).get_queue(QUEUE.name)
        found = []
        while message := await queue.get(fail=False):
            found.append(message.message_id)
        return found


async def test_what_was_handed_over_is_published_before_a_stop_ends(
    broker: Broker, database: Database, outbox: MongoOutbox, publisher: Publisher
) -> None:
    relay = _relay(outbox, publisher)
    for id_ in ("a", "b", "c"):
        await relay.committed(await _commit(database, outbox, id_))
    relay.stop()
    async with asyncio.timeout(DEADLINE):
        await relay.run()
    assert await _left(database) == 0
    assert await _published(broker) == ["a", "b", "c"]


async def test_events_that_share_a_message_are_kept_published_and_deleted_as_one(
    broker: Broker, database: Database, outbox: MongoOutbox, publisher: Publisher
) -> None:
    now = datetime.now(UTC) - timedelta(minutes=1)
    several = Outgoing(
        EVENTS, "group.dissolved", b"[{},{}]", "a", "x", now, content_type=BATCH_CONTENT_TYPE
    )
    async with database.transaction() as transaction:
        left = await outbox.add(transaction, [several], now)
    assert [one.message for one in left] == [several]
    relay = _relay(MongoOutbox(database), publisher)
    running = asyncio.create_task(relay.run())
    await _until_empty(database)
    relay.stop()
    await running
    async with await aio_pika.connect(broker.url) as connection:
        queue = await (await connection.channel()).get_queue(QUEUE.name)
        message = await queue.get()
        assert message is not None
        assert (message.body, message.content_type) == (b"[{},{}]", BATCH_CONTENT_TYPE)


async def test_what_a_dead_process_left_is_taken_over_when_its_lease_has_ended(
    broker: Broker, database: Database, outbox: MongoOutbox, publisher: Publisher
) -> None:
    dead = MongoOutbox(database)
    await _commit(database, dead, "dead", ago=LEASE + timedelta(seconds=1))
    await _commit(database, dead, "alive")
    async with _running(_relay(outbox, publisher)):

        async def one_left() -> bool:
            return await _left(database) == 1

        await until(one_left, seconds=DEADLINE)
    assert await _published(broker) == ["dead"]


async def test_while_the_broker_is_away_the_oldest_entry_is_seen_to_age_and_then_goes_once(
    broker: Broker, database: Database, outbox: MongoOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contactmesh.messaging.relay.SWEEP_SECONDS", SHORT)
    monkeypatch.setattr("contactmesh.storage.outbox.LEASE", timedelta(seconds=SHORT))
    async with breakable_line(broker.url) as line, Publisher(line.url, "tests") as publisher:
        await line.cut()
        relay = _relay(outbox, publisher)
        async with _running(relay):
            await relay.committed(await _commit(database, outbox, "mine"))
            await _commit(database, MongoOutbox(database), "of another", ago=LEASE)
            seen: set[float] = set()

            async def ages() -> bool:
                seen.add(REGISTRY.get_sample_value("contactmesh_outbox_oldest_age_seconds") or 0)
                return len(seen - {0}) >= 5

            await until(ages, seconds=DEADLINE)
            assert await _left(database) == 2
            await line.mend()
            await _until_empty(database)
    assert sorted(map(str, await _published(broker))) == ["mine", "of another"]


async def test_handing_over_waits_when_publishing_is_far_behind(
    broker: Broker, database: Database, outbox: MongoOutbox, publisher: Publisher
) -> None:
    relay = _relay(outbox, publisher)
    entries = await _commit(database, outbox, *(str(number) for number in range(200)))
    handed = 0

    async def hand_over() -> None:
        nonlocal handed
        for entry in entries:
            await relay.committed([entry])
            handed += 1

    handing = asyncio.create_task(hand_over())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await asyncio.shield(handing)
    assert 0 < handed < 200, "nothing takes them yet"
    async with _running(relay):
        async with asyncio.timeout(DEADLINE):
            await handing
        await _until_empty(database)
    assert await _published(broker) == [str(number) for number in range(200)]
