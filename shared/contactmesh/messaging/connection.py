"""Connecting to the broker, and what its failures mean."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import aio_pika
import aiormq
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractQueue
from aiormq.channel import Channel
from pamqp.common import FieldTable
from yarl import URL

from contactmesh.messaging.properties import read_forgivingly
from contactmesh.messaging.topology import (
    DEAD,
    EVENTS,
    EXCHANGES,
    Queue,
    ServiceTopology,
    event_key,
    subscription_queue,
    terminal_key,
    terminal_queue,
    user_key,
)
from contactmesh.messaging.topology import TERMINALS as TERMINALS_EXCHANGE

read_forgivingly()

CONNECT_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 15
CLOSE_SECONDS: Final = 5.0
"""How long the broker may take to say good-bye."""


class BrokerUnavailable(Exception):
    """The broker cannot be reached, refuses for now, or does not answer. Try again later."""


BROKER_FAILURES: Final = (
    aiormq.exceptions.AMQPError,
    aiormq.exceptions.ChannelInvalidStateError,
    ConnectionError,
    OSError,
    TimeoutError,
)
"""What the client raises when the connection, and not the message, is at fault."""


async def connect(url: str, name: str) -> AbstractConnection:
    """Open a connection as `open_connection` does.

    Raises:
        BrokerUnavailable: no connection within 10 seconds.
    """
    try:
        return await open_connection(url, name)
    except BROKER_FAILURES as error:
        raise BrokerUnavailable(f"No connection to the broker: {type(error).__name__}.") from error


async def open_connection(url: str, name: str) -> AbstractConnection:
    """Open a connection that shows up in the broker's lists as `name`.

    It does not reconnect by itself: whoever owns it knows what has to be done again.

    Raises:
        Exception: one of `BROKER_FAILURES`.
    """
    connection = aio_pika.Connection(
        URL(url).update_query(name=name, heartbeat=str(HEARTBEAT_SECONDS))
    )
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await connection.connect()
    except BaseException:
        # Nobody else knows it, whether it failed or was cancelled, and one that never opened
        # would otherwise try to close itself when it is collected.
        await close(connection)
        raise
    return connection


async def close(connection: AbstractConnection) -> None:
    """Close a connection, whatever state it is in."""
    with contextlib.suppress(*BROKER_FAILURES):
        async with asyncio.timeout(CLOSE_SECONDS):
            await connection.close()


async def underlay(channel: AbstractChannel) -> Channel:
    """The protocol channel below a channel, for what is done a thousand times a second."""
    raw = await channel.get_underlay_channel()
    if not isinstance(raw, Channel):
        raise TypeError(f"not a protocol channel: {type(raw).__name__}")
    return raw


@asynccontextmanager
async def declaring(url: str, name: str) -> AsyncIterator[AbstractConnection]:
    """A connection for a short while, its failures told as `BrokerUnavailable`."""
    connection = await connect(url, name)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            yield connection
    except BROKER_FAILURES as error:
        raise BrokerUnavailable(f"The broker did not do it: {type(error).__name__}.") from error
    finally:
        await close(connection)


async def declare_service(url: str, service: ServiceTopology) -> None:
    """Declare the exchanges and a service's queues, with their parking queues.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    async with declaring(url, f"{service.service} topology") as connection:
        await declare(await connection.channel(), service.queues)


async def declare(channel: AbstractChannel, queues: Sequence[Queue]) -> None:
    """Declare the exchanges and some queues, with their parking queues and their bindings."""
    for name in EXCHANGES:
        await channel.declare_exchange(name, aio_pika.ExchangeType.TOPIC, durable=True)
    for queue in queues:
        await _declare_queue(channel, queue)


async def _declare_queue(channel: AbstractChannel, queue: Queue) -> None:
    quorum: FieldTable = {"x-queue-type": "quorum"}
    parking = await channel.declare_queue(queue.parking, durable=True, arguments=quorum)
    await parking.bind(DEAD, queue.name)
    declared = await channel.declare_queue(queue.name, durable=True, arguments=quorum)
    for binding in queue.bindings:
        await declared.bind(binding.exchange, binding.key)


async def declare_terminal_queue(url: str, terminal_id: str, user_id: str) -> str:
    """Make sure that a terminal's AMQP queue exists and is bound; returns its name.

    What it had by MQTT goes, since it would fill with what the terminal reads elsewhere.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    async with declaring(url, "identity_service terminal queue") as connection:
        channel = await connection.channel()
        queue: AbstractQueue = await channel.declare_queue(
            terminal_queue(terminal_id), durable=True
        )
        await queue.bind(TERMINALS_EXCHANGE, terminal_key(terminal_id))
        await queue.bind(TERMINALS_EXCHANGE, user_key(user_id))
        await channel.queue_delete(subscription_queue(terminal_id))
        return queue.name


async def delete_terminal_queue(url: str, terminal_id: str) -> None:
    """Delete what waits for a terminal, by whichever protocol it comes for it.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    await delete_queues(url, terminal_queue(terminal_id), subscription_queue(terminal_id))


async def delete_queues(url: str, *names: str) -> None:
    """Delete queues and what waits in them; nothing happens where there is none.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    async with declaring(url, "identity_service queues") as connection:
        channel = await connection.channel()
        for name in names:
            await channel.queue_delete(name)


async def declare_integrator_queue(url: str, queue: str, scopes: Iterable[str]) -> None:
    """Make an integrator's queue anew, bound to contact changes of these scopes and no others.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    async with declaring(url, "identity_service integrator queue") as connection:
        channel = await connection.channel()
        await channel.queue_delete(queue)  # with the bindings of one that had its name before
        declared = await channel.declare_queue(
            queue, durable=True, arguments={"x-queue-type": "quorum"}
        )
        for scope in scopes:
            await declared.bind(EVENTS, event_key("contact.changed", scope))
