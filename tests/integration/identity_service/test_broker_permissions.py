"""What the real broker lets a terminal do, with this service answering its questions."""

import asyncio
from collections.abc import Awaitable, Callable

import aio_pika
import aiormq
import pytest
from aio_pika.abc import AbstractChannel, AbstractQueue
from aio_pika.exceptions import AMQPError
from tests.backends import Broker

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import COMMANDS, EVENTS, TERMINALS, terminal_key

from .conftest import Identity, connect

Attempt = Callable[[AbstractChannel, Credentials, Credentials], Awaitable[object]]


async def publish(channel: AbstractChannel, exchange: str, key: str) -> None:
    raw = await channel.get_underlay_channel()
    await raw.basic_publish(b"{}", exchange=exchange, routing_key=key)


async def test_terminal_sends_its_own_commands(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    async with await aio_pika.connect(broker.url) as service, await connect(ada) as connection:
        queue = await (await service.channel()).get_queue("group_service.commands")
        key = f"command.{ada.terminal_id}.group_service.create"
        await publish(await connection.channel(), COMMANDS, key)
        received = await queue.get(no_ack=True, timeout=5)
        assert received.routing_key == key


async def test_terminal_reads_its_own_queue(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    async with await aio_pika.connect(broker.url) as service, await connect(ada) as connection:
        arrived: asyncio.Queue[bytes] = asyncio.Queue()

        async def take(message: aio_pika.abc.AbstractIncomingMessage) -> None:
            await arrived.put(message.body)

        queue = await (await connection.channel()).get_queue(ada.queue, ensure=False)
        await queue.consume(take, no_ack=True)
        await publish(await service.channel(), TERMINALS, terminal_key(ada.terminal_id))
        await publish(await service.channel(), TERMINALS, "user.ada")
        async with asyncio.timeout(5):
            assert [await arrived.get(), await arrived.get()] == [b"{}", b"{}"]


async def forge_sender(channel: AbstractChannel, _: Credentials, other: Credentials) -> None:
    await publish(channel, COMMANDS, f"command.{other.terminal_id}.group_service.create")


async def send_under_a_wider_key(channel: AbstractChannel, me: Credentials, _: Credentials) -> None:
    await publish(channel, COMMANDS, f"command.{me.terminal_id}.group_service.create.more")


async def send_to_all_services(channel: AbstractChannel, me: Credentials, _: Credentials) -> None:
    await publish(channel, COMMANDS, f"command.{me.terminal_id}.#")


async def publish_an_event(channel: AbstractChannel, _: Credentials, __: Credentials) -> None:
    await publish(channel, EVENTS, "contact.changed.card")


async def write_to_another_terminal(
    channel: AbstractChannel, _: Credentials, other: Credentials
) -> None:
    await publish(channel, TERMINALS, terminal_key(other.terminal_id))


async def use_the_default_exchange(
    channel: AbstractChannel, _: Credentials, other: Credentials
) -> None:
    await publish(channel, "", other.queue)


async def queue_of(channel: AbstractChannel, credentials: Credentials) -> AbstractQueue:
    return await channel.get_queue(credentials.queue, ensure=False)


async def read_anothers_queue(channel: AbstractChannel, _: Credentials, other: Credentials) -> None:
    await (await queue_of(channel, other)).get()


async def purge_anothers_queue(
    channel: AbstractChannel, _: Credentials, other: Credentials
) -> None:
    await (await queue_of(channel, other)).purge()


async def read_a_services_queue(channel: AbstractChannel, _: Credentials, __: Credentials) -> None:
    await (await channel.get_queue("group_service.commands", ensure=False)).get()


async def declare_a_queue(channel: AbstractChannel, _: Credentials, __: Credentials) -> None:
    await channel.declare_queue("terminal.mine", durable=True)


async def declare_a_private_queue(
    channel: AbstractChannel, _: Credentials, __: Credentials
) -> None:
    await channel.declare_queue(exclusive=True, auto_delete=True)


async def declare_an_exchange(channel: AbstractChannel, _: Credentials, __: Credentials) -> None:
    await channel.declare_exchange("mine", aio_pika.ExchangeType.FANOUT)


async def delete_its_own_queue(channel: AbstractChannel, me: Credentials, _: Credentials) -> None:
    await channel.queue_delete(me.queue)


async def bind_its_own_queue_to_events(
    channel: AbstractChannel, me: Credentials, _: Credentials
) -> None:
    await (await queue_of(channel, me)).bind(EVENTS, "#")


async def bind_its_own_queue_to_another_user(
    channel: AbstractChannel, me: Credentials, _: Credentials
) -> None:
    await (await queue_of(channel, me)).bind(TERMINALS, "user.bea")


@pytest.mark.parametrize(
    "attempt",
    [
        forge_sender,
        send_under_a_wider_key,
        send_to_all_services,
        publish_an_event,
        write_to_another_terminal,
        use_the_default_exchange,
        read_anothers_queue,
        purge_anothers_queue,
        read_a_services_queue,
        declare_a_queue,
        declare_a_private_queue,
        declare_an_exchange,
        delete_its_own_queue,
        bind_its_own_queue_to_events,
        bind_its_own_queue_to_another_user,
    ],
)
async def test_broker_refuses_everything_else(identity: Identity, attempt: Attempt) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    async with await connect(ada) as connection:
        channel = await connection.channel()
        with pytest.raises(
            (AMQPError, aiormq.exceptions.ChannelInvalidStateError), match="REFUSED"
        ):
            await attempt(channel, ada, bea)


async def test_terminal_with_a_wrong_secret_is_not_let_in(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    with pytest.raises(AMQPError):
        await connect(ada.model_copy(update={"secret": "guess"}))


async def test_terminal_is_not_let_into_another_virtual_host(
    identity: Identity, broker: Broker
) -> None:
    ada = await identity.enrolled("ada")
    elsewhere = ada.broker_url.replace(broker.vhost, "%2F")
    with pytest.raises(AMQPError):
        await connect(ada.model_copy(update={"broker_url": elsewhere}))


async def test_unreadable_question_is_denied(identity: Identity) -> None:
    for question in ("user", "vhost", "resource", "topic"):
        assert await identity.broker_asks(question) == "deny"
        assert await identity.broker_asks(question, username="ada_aaaaaaaa") == "deny"
        for body in (b"\xff\xfe=%ff", b"username=%ff", b"a=1&" * 100, b"x" * 70_000):
            answer = await identity.ask("POST", f"broker/{question}", data=body)
            assert (answer.status, answer.body) == (200, "deny")
