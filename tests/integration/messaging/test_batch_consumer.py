"""Consuming in batches from the real broker: poison, patience, limits, lost connections."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import quote

import aio_pika
import pamqp.encode
import pytest
import pytest_asyncio
from aiohttp import ClientSession
from tests.backends import Broker
from tests.wire import DEADLINE, take_parked
from yarl import URL

from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE
from contactmesh.local.waiting import until
from contactmesh.messaging.connection import BrokerUnavailable, connect
from contactmesh.messaging.consumer import BATCH, BatchConsumer
from contactmesh.messaging.message import Delivery, Outgoing, Parked
from contactmesh.messaging.parking import TooManyParked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import COMMANDS, EVENTS, GROUP, MAX_EVENT_BYTES, Queue

QUEUE = GROUP.events_queue
SPOILT = datetime(2026, 11, 30, tzinfo=UTC)


class Away(Exception):
    """Something that the service needs cannot be reached."""


@dataclass
class Handler:
    """Notes what it handles, and fails as told."""

    fails: Callable[[Delivery], Exception | None] = lambda _: None
    parks: Callable[[Delivery], bool] = lambda _: False
    calls: list[int] = field(default_factory=list)
    handled: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        self.calls.append(len(batch))
        await self.gate.wait()
        for delivery in batch:
            error = self.fails(delivery)
            if error is not None:
                raise error
        self.handled += [delivery.body.decode() for delivery in batch if not self.parks(delivery)]
        return [Parked(delivery, "it says so") for delivery in batch if self.parks(delivery)]

    async def poisoned(self, delivery: Delivery) -> None:
        self.told.append(delivery.body.decode())

    async def until_handled(self, *bodies: str) -> None:
        async def all_handled() -> bool:
            return set(bodies) <= set(self.handled)

        await until(all_handled, seconds=DEADLINE)


@pytest_asyncio.fixture
async def publisher(broker: Broker) -> AsyncIterator[Publisher]:
    async with Publisher(broker.url, "tests") as opened:
        yield opened


@asynccontextmanager
async def _consuming(
    broker: Broker, handler: Handler, publisher: Publisher, queue: Queue = QUEUE
) -> AsyncIterator[BatchConsumer]:
    consumer = BatchConsumer(broker.url, queue, handler, publisher, name="tests", transient=(Away,))
    running = asyncio.create_task(consumer.run())
    try:
        yield consumer
    finally:
        consumer.stop()
        handler.gate.set()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(running, return_exceptions=True)


async def _send(broker: Broker, *bodies: str) -> None:
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        for body in bodies:
            message = aio_pika.Message(body.encode(), message_id=f"id-{body[:40]}")
            await channel.default_exchange.publish(message, QUEUE.name)


@asynccontextmanager
async def _stallable(url: str) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """The broker over a line on which nothing moves while the event is not set."""
    server = URL(url)
    flowing = asyncio.Event()
    flowing.set()

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while received := await source.read(65_536):
                await flowing.wait()
                target.write(received)
        target.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(server.host, server.port)
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        port = listener.sockets[0].getsockname()[1]
        yield str(server.with_host("127.0.0.1").with_port(port)), flowing
    finally:
        flowing.set()
        listener.close()


async def _waiting(broker: Broker, queue: str) -> int:
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        declared = await channel.declare_queue(queue, passive=True)
        return declared.declaration_result.message_count or 0


async def test_what_arrives_while_a_batch_is_handled_is_the_next_batch(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler()
    bodies = [str(number) for number in range(BATCH + 50)]
    handler.gate.clear()
    async with _consuming(broker, handler, publisher):
        await _send(broker, "first")

        async def begun() -> bool:
            return bool(handler.calls)

        await until(begun, seconds=DEADLINE)
        await _send(broker, *bodies)

        async def delivered() -> bool:
            return await _waiting(broker, QUEUE.name) == 0

        await until(delivered, seconds=DEADLINE)
        handler.gate.set()
        await handler.until_handled(*bodies)
    assert handler.handled == ["first", *bodies], "in order, each once"
    assert handler.calls[0] == 1, "alone when it is quiet"
    assert max(handler.calls) == BATCH
    assert await _waiting(broker, QUEUE.name) == 0


async def test_events_that_share_a_message_are_handled_and_parked_each_by_itself(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler(
        fails=lambda one: ValueError() if b"bad" in one.body else None,
        parks=lambda one: b"odd" in one.body,
    )
    ids = [f"good{number}" for number in range(BATCH - 10)]
    events = ["bad", *ids, "odd"]
    body = "[" + ", ".join(f'{{"id": "{id_}"}}' for id_ in events) + "]"
    now = datetime.now(UTC)
    plain = Outgoing(EVENTS, "group.dissolved", b'{"id":"plain"}', "m-1", "group.dissolved", now)
    several = replace(plain, body=body.encode(), content_type=BATCH_CONTENT_TYPE, message_id="m-2")
    async with _consuming(broker, handler, publisher):
        handler.gate.clear()
        await publisher.publish([plain, several, replace(plain, message_id="m-3"), several])
        handler.gate.set()
        parked = [await take_parked(broker.url, QUEUE.name) for _ in range(4)]
        await handler.until_handled(*(f'{{"id":"{id_}"}}' for id_ in ids))
    assert [one for one in handler.handled if "plain" not in one] == [
        f'{{"id":"{id_}"}}' for _ in range(2) for id_ in ids
    ]
    assert max(handler.calls) <= BATCH + 1, "a message is not parted, and batches are no larger"
    assert sorted((one.body, one.headers["x-original-message-id"]) for one in parked) == [
        (f'{{"id":"{id_}"}}'.encode(), id_) for id_ in ("bad", "bad", "odd", "odd")
    ]
    assert await _waiting(broker, QUEUE.name) == 0


async def test_a_command_stays_one_whatever_its_sender_calls_it(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler()
    now = datetime.now(UTC)
    key = "command.lin_aaaaaaaa.group_service.list"
    several = Outgoing(COMMANDS, key, b"[{},{},{}]", "m", "x", now, content_type=BATCH_CONTENT_TYPE)
    consumer = BatchConsumer(broker.url, GROUP.commands_queue, handler, publisher, name="tests")
    running = asyncio.create_task(consumer.run())
    await publisher.publish([several], mandatory=True)
    await handler.until_handled("[{},{},{}]")
    consumer.stop()
    await running
    assert handler.handled == ["[{},{},{}]"]


async def test_poison_is_found_and_parked_with_its_reason_while_the_others_pass(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler(
        fails=lambda one: ValueError("+8613800000001") if b"bad" in one.body else None
    )
    bodies = [f"bad{number}" if number in (3, 11) else f"good{number}" for number in range(16)]
    await _send(broker, *bodies)
    async with _consuming(broker, handler, publisher):
        await handler.until_handled(*(body for body in bodies if "good" in body))
        parked = [await take_parked(broker.url, QUEUE.name) for _ in range(2)]
    assert sorted(handler.handled) == sorted(body for body in bodies if "good" in body)
    assert handler.told == ["bad3", "bad11"]
    assert [message.body for message in parked] == [b"bad3", b"bad11"]
    for message in parked:
        reason = str(message.headers["x-parked-reason"])
        assert reason.startswith("ValueError at Handler.handle:")
        assert "+86" not in reason, "the error's text may hold contact details"
        assert message.headers["x-parked-from"] == QUEUE.name
        assert message.headers["x-original-routing-key"] == QUEUE.name
        assert message.headers["x-original-message-id"] == f"id-{message.body.decode()}"


async def test_what_the_handler_gives_back_is_parked(broker: Broker, publisher: Publisher) -> None:
    handler = Handler(parks=lambda one: one.body == b"no event")
    await _send(broker, "one", "no event", "two")
    async with _consuming(broker, handler, publisher):
        await handler.until_handled("one", "two")
        parked = await take_parked(broker.url, QUEUE.name)
    assert parked.headers["x-parked-reason"] == "it says so"
    assert handler.told == []


@pytest.mark.parametrize("error", [Away(), BrokerUnavailable()])
async def test_a_passing_failure_keeps_the_messages_and_parks_none(
    broker: Broker, publisher: Publisher, error: Exception
) -> None:
    failures = 4

    def fails(_: Delivery) -> Exception | None:
        nonlocal failures
        failures -= 1
        return error if failures >= 0 else None

    handler = Handler(fails=fails)
    await _send(broker, "one", "two")
    async with _consuming(broker, handler, publisher):
        await handler.until_handled("one", "two")
    assert handler.handled == ["one", "two"]
    assert len(handler.calls) >= 5, "the whole batch each time, not split"
    assert await _waiting(broker, QUEUE.parking) == 0
    assert await _waiting(broker, QUEUE.name) == 0


async def test_stopping_in_the_midst_of_a_failure_gives_the_messages_back(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler(fails=lambda _: Away())
    await _send(broker, "one", "two")
    async with _consuming(broker, handler, publisher):

        async def begun() -> bool:
            return bool(handler.calls)

        await until(begun, seconds=DEADLINE)

    async def back() -> bool:
        return await _waiting(broker, QUEUE.name) == 2

    await until(back, seconds=DEADLINE)


async def test_when_nearly_everything_is_invalid_the_consumer_stops_and_leaves_it(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler(parks=lambda _: True)
    await _send(broker, *(str(number) for number in range(150)))
    consumer = BatchConsumer(broker.url, QUEUE, handler, publisher, name="tests")
    with pytest.raises(TooManyParked, match="leaves the others in the queue"):
        async with asyncio.timeout(DEADLINE):
            await consumer.run()
    assert not consumer.consuming

    async def all_there() -> bool:
        left = await _waiting(broker, QUEUE.name) + await _waiting(broker, QUEUE.parking)
        return left == 150

    await until(all_there, seconds=DEADLINE)
    assert await _waiting(broker, QUEUE.parking) < 100


async def test_nobody_is_told_that_a_message_was_set_aside_which_is_left_in_the_queue(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler(fails=lambda _: ValueError())
    await _send(broker, *(str(number) for number in range(120)))
    consumer = BatchConsumer(broker.url, QUEUE, handler, publisher, name="tests")
    with pytest.raises(TooManyParked):
        async with asyncio.timeout(DEADLINE):
            await consumer.run()

    async def all_there() -> bool:
        left = await _waiting(broker, QUEUE.name) + await _waiting(broker, QUEUE.parking)
        return left == 120

    await until(all_there, seconds=DEADLINE)
    assert len(handler.told) == await _waiting(broker, QUEUE.parking) < 50


async def test_what_one_user_sends_stops_the_consumer_for_nobody_else(
    broker: Broker, publisher: Publisher
) -> None:
    queue = GROUP.commands_queue
    handler = Handler(fails=lambda one: None if one.body == b"good" else ValueError())
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        commands = await channel.get_exchange(COMMANDS)

        async def send(body: str, user_id: str) -> None:
            message = aio_pika.Message(body.encode())
            await commands.publish(message, f"command.{user_id}_aaaaaaaa.group_service.list")

        for number in range(120):
            await send(str(number), "mo")
        await send("good", "lin")
    async with _consuming(broker, handler, publisher, queue) as consumer:
        await handler.until_handled("good")
        assert consumer.halted is None

    async def all_parked() -> bool:
        return await _waiting(broker, queue.parking) == 120

    await until(all_parked, seconds=DEADLINE)
    assert len(handler.told) == 120


async def test_every_consumer_lets_go_of_a_body_that_is_over_the_limit_of_events(
    broker: Broker, publisher: Publisher
) -> None:
    seen: list[int | None] = []
    handler = Handler(parks=lambda one: bool(seen.append(one.too_large)))  # type: ignore[func-returns-value]
    await _send(broker, "x" * (MAX_EVENT_BYTES + 1), "small")
    async with _consuming(broker, handler, publisher):
        await handler.until_handled("", "small")
    assert set(seen) == {MAX_EVENT_BYTES + 1, None}


class BrokenAtFirst(Publisher):
    """A publisher that the broker refuses for a while."""

    refusals = 0

    async def publish(self, messages: Sequence[object], *, mandatory: bool = False) -> None:
        if self.refusals:
            self.refusals -= 1
            raise BrokerUnavailable
        await super().publish(messages, mandatory=mandatory)  # type: ignore[arg-type]


async def test_one_message_that_cannot_be_parked_for_long_counts_once(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for the broker is no reason to take the release for a bad one."""
    handler = Handler(parks=lambda one: one.body == b"no event")
    await _send(broker, "no event")

    async def at_once(self: BatchConsumer, seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(BatchConsumer, "_pause", at_once)
    async with BrokenAtFirst(broker.url, "tests") as publisher:
        publisher.refusals = 150
        async with _consuming(broker, handler, publisher):
            assert (await take_parked(broker.url, QUEUE.name)).body == b"no event"
            await _send(broker, "one")
            await handler.until_handled("one")


async def test_a_closed_connection_is_replaced_and_nothing_is_lost(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler()
    async with _consuming(broker, handler, publisher) as consumer:
        await _send(broker, "one")
        await handler.until_handled("one")
        handler.gate.clear()
        await _send(broker, "two")

        async def begun() -> bool:
            return len(handler.calls) == 2

        await until(begun, seconds=DEADLINE)
        await _close_connection(broker, "tests consumer")
        handler.gate.set()
        await _send(broker, "three")
        await handler.until_handled("two", "three")
        assert consumer.consuming

        async def settled() -> bool:
            return await _waiting(broker, QUEUE.name) == 0

        await until(settled, seconds=DEADLINE)


async def test_a_queue_that_was_deleted_is_there_again_with_its_consumer(
    broker: Broker, publisher: Publisher
) -> None:
    handler = Handler()
    async with _consuming(broker, handler, publisher) as consumer:
        await _send(broker, "one")
        await handler.until_handled("one")
        connection = await aio_pika.connect(broker.url)
        async with connection:
            channel = await connection.channel()
            await channel.exchange_delete(EVENTS)
            await channel.queue_delete(QUEUE.name)

            async def noticed() -> bool:
                return not consumer.consuming

            await until(noticed, seconds=DEADLINE)

        async def consuming() -> bool:
            return consumer.consuming

        await until(consuming, seconds=DEADLINE)
        await publisher.publish([_event("two")], mandatory=True)
        await handler.until_handled("{}")


async def test_a_broker_that_stalls_does_not_hold_a_stop(
    broker: Broker, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("consumer.ANSWER_SECONDS", "connection.CLOSE_SECONDS"):
        monkeypatch.setattr(f"contactmesh.messaging.{limit}", 0.2)
    handler = Handler()
    async with _stallable(broker.url) as (url, flowing):
        consumer = BatchConsumer(url, QUEUE, handler, publisher, name="tests")
        running = asyncio.create_task(consumer.run())

        async def consuming() -> bool:
            return consumer.consuming

        await until(consuming, seconds=DEADLINE)
        flowing.clear()
        consumer.stop()
        async with asyncio.timeout(5):
            await running


async def test_an_attempt_to_connect_that_is_given_up_leaves_no_connection_behind() -> None:
    ended = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # up to the end
        writer.close()
        ended.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await connect(f"amqp://127.0.0.1:{port}/", "tests")
        async with asyncio.timeout(5):
            await ended.wait()


async def test_a_late_failure_on_an_old_connection_leaves_the_new_one_alone(
    publisher: Publisher,
) -> None:
    old = await publisher._open()
    await publisher.close()
    await publisher.publish([_event("one")], mandatory=True)
    new = await publisher._open()
    await publisher._discard(old)  # as a task does that waited on it all the time
    assert await publisher._open() is new
    await publisher.publish([_event("two")], mandatory=True)


async def test_a_publisher_connects_again_after_the_broker_closed_its_connection(
    broker: Broker, publisher: Publisher
) -> None:
    await publisher.publish([_event("one")])
    await _close_connection(broker, "tests")

    async def published() -> bool:
        try:
            await publisher.publish([_event("two")], mandatory=True)
        except BrokerUnavailable:
            return False
        return True

    await until(published, seconds=DEADLINE)
    assert await _waiting(broker, QUEUE.name) >= 2


@pytest.mark.parametrize(
    ("kind", "written"),
    [("timestamp", b"\x7f" + b"\xff" * 7), ("shortstr", b"\x02\xff\xfe")],
)
async def test_properties_that_cannot_be_read_do_not_keep_the_others_waiting(
    broker: Broker,
    publisher: Publisher,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    written: bytes,
) -> None:
    """The broker passes them on, and the client library breaks the connection off over them."""
    handler = Handler()
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        encoders = pamqp.encode.METHODS
        usual = encoders[kind]

        def spoilt(value: object) -> bytes:
            return written if value in ("spoilt", SPOILT) else usual(value)

        with monkeypatch.context() as patch:
            patch.setitem(encoders, kind, spoilt)
            message = aio_pika.Message(b"odd", timestamp=SPOILT, app_id="spoilt")
            await channel.default_exchange.publish(message, QUEUE.name)
    await _send(broker, "one")
    async with _consuming(broker, handler, publisher):
        await handler.until_handled("odd", "one")


def _event(message_id: str) -> Outgoing:
    now = datetime.now(UTC)
    return Outgoing(EVENTS, "group.dissolved", b"{}", message_id, "group.dissolved", now)


async def test_what_must_reach_a_queue_and_does_not_is_a_failure(publisher: Publisher) -> None:
    nowhere = replace(_event("one"), routing_key="nobody.listens")
    await publisher.publish([nowhere])
    with pytest.raises(BrokerUnavailable):
        await publisher.publish([_event("two"), nowhere], mandatory=True)
    await publisher.publish([_event("three")], mandatory=True)


async def _close_connection(broker: Broker, name: str) -> None:
    """Close it as an operator would, once the management plugin shows it."""
    url = URL(broker.management_url)
    closed = 0
    async with ClientSession() as session:

        async def done() -> bool:
            nonlocal closed
            async with session.get(url / "api/connections") as answer:
                for one in await answer.json():
                    told = one.get("client_properties", {}).get("connection_name")
                    if told == name and one.get("vhost") == broker.vhost:
                        path = f"api/connections/{quote(one['name'], safe='')}"
                        target = URL(f"{str(url).rstrip('/')}/{path}", encoded=True)
                        async with session.delete(target) as deleted:
                            assert deleted.status in (204, 404)
                            closed += 1
            return closed > 0

        await until(done, seconds=DEADLINE)
