"""One connection to the broker, from its opening to its loss.

It is two connections below: an alarm on memory or disk makes the broker block publishers, and a
terminal still has to receive while it cannot send.
"""

import asyncio
from typing import Final

import aio_pika
import aiormq
from aio_pika.abc import (
    AbstractChannel,
    AbstractConnection,
    AbstractExchange,
    AbstractIncomingMessage,
)
from yarl import URL

from contactmesh.contracts.envelope import CONTENT_TYPE, Envelope
from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import COMMANDS

CONNECT_SECONDS: Final = 10.0
PUBLISH_SECONDS: Final = 5.0
HEARTBEAT_SECONDS: Final = 15
PREFETCH: Final = 200
"""How many updates may be under way to the terminal and not yet in its phonebook."""

_BROKER_FAILURES: Final = (
    aiormq.exceptions.AMQPError,
    aiormq.exceptions.ChannelInvalidStateError,
    ConnectionError,
    OSError,
    TimeoutError,
)


class SessionLost(Exception):
    """The connection failed. Whatever was under way has to be done again on the next one."""


class QueueMissing(Exception):
    """The broker has no queue for this terminal: it expired, or was never made."""


class CredentialsRefused(Exception):
    """The broker does not let these credentials in."""


class NotDelivered(Exception):
    """The broker has nowhere to put a command for now: its service is not set up, or overflows."""


class Session:
    """A terminal's connections, channels and consumer.

    Attributes:
        lost: set once anything of it is closed.
    """

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
        self.lost = asyncio.Event()
        self._connections: list[AbstractConnection] = []
        # The client library refers to channels weakly.
        self._channels: list[AbstractChannel] = []
        self._commands: AbstractExchange | None = None

    @classmethod
    async def open(cls, credentials: Credentials) -> "Session":
        """Connect and begin to consume.

        Raises:
            SessionLost: the broker cannot be reached or does not answer.
            QueueMissing: there is no queue to consume.
            CredentialsRefused: the broker does not know the terminal, or its secret is wrong.
        """
        session = cls()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await session._open(credentials)
        except aiormq.exceptions.ChannelNotFoundEntity as error:
            await session.close()
            raise QueueMissing(credentials.queue) from error
        except (
            aiormq.exceptions.AuthenticationError,
            aiormq.exceptions.ProbableAuthenticationError,
        ) as error:
            await session.close()
            raise CredentialsRefused(type(error).__name__) from error
        except _BROKER_FAILURES as error:
            await session.close()
            raise SessionLost(type(error).__name__) from error
        except BaseException:
            await session.close()
            raise
        return session

    async def _open(self, credentials: Credentials) -> None:
        url = broker_address(credentials)
        publishing = await self._connect(url, f"{credentials.terminal_id} commands")
        channel = await self._channel(publishing, on_return_raises=True)
        # A terminal has no right to declare, not even passively.
        self._commands = await channel.get_exchange(COMMANDS, ensure=False)

        consuming = await self._connect(url, f"{credentials.terminal_id} updates")
        channel = await self._channel(consuming)
        await channel.set_qos(prefetch_count=PREFETCH)
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(self._cancelled)
        queue = await channel.get_queue(credentials.queue, ensure=False)
        await queue.consume(self._keep)

    async def _connect(self, url: str, name: str) -> AbstractConnection:
        connection = await aio_pika.connect(
            url, client_properties={"connection_name": name}, heartbeat=HEARTBEAT_SECONDS
        )
        self._connections.append(connection)
        connection.close_callbacks.add(self._closed)
        return connection

    async def _channel(
        self, connection: AbstractConnection, *, on_return_raises: bool = False
    ) -> AbstractChannel:
        channel = await connection.channel(on_return_raises=on_return_raises)
        self._channels.append(channel)
        channel.close_callbacks.add(self._closed)
        return channel

    def _closed(self, _sender: object, _reason: BaseException | None) -> None:
        self.lost.set()

    def _cancelled(self, _frame: object) -> None:
        # The broker ended the consumer, which happens when the queue is deleted.
        self.lost.set()

    async def _keep(self, message: AbstractIncomingMessage) -> None:
        # The library starts a task per delivery. Nothing is awaited before this line, so the
        # order of the queue is kept.
        self._inbox.put_nowait(message)

    async def arrived(self) -> list[AbstractIncomingMessage]:
        """What has arrived, at least one message; nothing once the connection is lost."""
        if self.lost.is_set():
            return []
        first = asyncio.create_task(self._inbox.get())
        lost = asyncio.create_task(self.lost.wait())
        try:
            await asyncio.wait((first, lost), return_when=asyncio.FIRST_COMPLETED)
            if not first.done():
                return []
            messages = [first.result()]
            while not self._inbox.empty():
                messages.append(self._inbox.get_nowait())
            return messages
        finally:
            first.cancel()
            lost.cancel()

    async def publish(self, command: Envelope, routing_key: str) -> None:
        """Send a command and wait until the broker has it.

        Raises:
            SessionLost: the connection is gone, or there was no confirmation in 5 seconds. The
                command may have been taken or not.
            NotDelivered: the broker refused it or has no queue for it.
        """
        if self._commands is None or self.lost.is_set():
            raise SessionLost("closed")
        message = aio_pika.Message(
            command.encode(),
            content_type=CONTENT_TYPE,
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            message_id=command.id,
            type=command.type,
            timestamp=command.time,
            correlation_id=command.correlationid,
        )
        try:
            # The library's own timeout bounds neither a blocked broker nor a lost connection.
            async with asyncio.timeout(PUBLISH_SECONDS):
                await self._commands.publish(message, routing_key, mandatory=True)
        except aiormq.exceptions.DeliveryError as error:
            raise NotDelivered(type(error).__name__) from error
        except _BROKER_FAILURES as error:
            # A confirmation may still come; the same id must not be in flight twice on a channel.
            self.lost.set()
            raise SessionLost(type(error).__name__) from error

    async def acknowledge(self, message: AbstractIncomingMessage, *, and_before: bool) -> None:
        """Tell the broker that a message is dealt with, or that message and all before it.

        Raises:
            SessionLost: the connection is gone; the broker will deliver it again.
        """
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await message.ack(multiple=and_before)
        except _BROKER_FAILURES as error:
            self.lost.set()
            raise SessionLost(type(error).__name__) from error

    async def close(self) -> None:
        """Close everything. What was not acknowledged will be delivered again."""
        self.lost.set()
        for connection in self._connections:
            try:
                async with asyncio.timeout(PUBLISH_SECONDS):
                    await connection.close()
            except _BROKER_FAILURES:
                # It is gone already, which is what was wanted.
                continue


def broker_address(credentials: Credentials) -> str:
    """The broker's URL with the terminal's credentials, unless it carries others."""
    url = URL(credentials.broker_url)
    if url.user is None:
        url = url.with_user(credentials.terminal_id).with_password(credentials.secret)
    return str(url)
