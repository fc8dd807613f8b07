"""A session over AMQP: a consumer of the terminal's queue, and beside it a way out."""

import asyncio
from typing import Final

import aiormq
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aiormq.channel import Channel

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import BROKER_FAILURES, CONNECT_SECONDS, close, underlay
from contactmesh.runtime.waiting import uncut
from contactmesh.terminal.broker import ANSWER_SECONDS, connect
from contactmesh.terminal.outlet import Outlet
from contactmesh.terminal.session import (
    Arrived,
    CredentialsRefused,
    QueueMissing,
    Session,
    SessionLost,
)

PREFETCH: Final = 200
"""How many updates may be under way to the terminal and not yet in its phonebook."""


class AmqpSession(Session):
    """A terminal's consumer, and the outlet for its commands."""

    def __init__(self, credentials: Credentials) -> None:
        super().__init__()
        self._credentials = credentials
        self._outlet = Outlet(credentials)
        self._connection: AbstractConnection | None = None
        # Kept, because the client library refers to channels weakly.
        self._channel: AbstractChannel | None = None
        self._protocol: Channel | None = None

    @classmethod
    async def open(cls, credentials: Credentials) -> "AmqpSession":
        """Connect and begin to consume.

        Raises:
            SessionLost: the broker cannot be reached or does not answer.
            QueueMissing: there is no queue to consume.
            CredentialsRefused: the broker does not know the terminal, or its secret is wrong.
        """
        return await uncut(cls._opened(credentials), cls.close)

    @classmethod
    async def _opened(cls, credentials: Credentials) -> "AmqpSession":
        session = cls(credentials)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await session._open()
        except aiormq.exceptions.ChannelNotFoundEntity as error:
            await session.close()
            raise QueueMissing(credentials.queue) from error
        except (
            aiormq.exceptions.AuthenticationError,
            aiormq.exceptions.ProbableAuthenticationError,
        ) as error:
            await session.close()
            raise CredentialsRefused(type(error).__name__) from error
        except BROKER_FAILURES as error:
            await session.close()
            raise SessionLost(type(error).__name__) from error
        except BaseException:
            # Cancelled or failed: what was begun is undone, and the reason passes.
            await session.close()
            raise
        return session

    async def _open(self) -> None:
        self._connection = await connect(self._credentials, "updates")
        self._connection.close_callbacks.add(self._closed)
        self._channel = await self._connection.channel()
        self._channel.close_callbacks.add(self._closed)
        await self._channel.set_qos(prefetch_count=PREFETCH)
        self._protocol = await underlay(self._channel)
        self._protocol.on_consumer_cancel_callbacks.add(self._cancelled)
        # A terminal has no right to declare, not even passively.
        queue = await self._channel.get_queue(self._credentials.queue, ensure=False)
        await queue.consume(self._keep)

    def _closed(self, _sender: object, _reason: BaseException | None) -> None:
        self.lost.set()

    def _cancelled(self, _frame: object) -> None:
        # The broker ended the consumer, which happens when the queue is deleted.
        self.lost.set()

    async def _keep(self, message: AbstractIncomingMessage) -> None:
        # The library starts a task per delivery. Nothing is awaited before this line, so the
        # order of the queue is kept.
        self._inbox.put_nowait(Arrived(message.body, message.delivery_tag or 0, message.message_id))

    async def publish(self, command: Envelope, routing_key: str) -> None:
        """Send a command; see `Session.publish`."""
        await self._outlet.publish(command, routing_key)

    async def acknowledge(self, message: Arrived) -> None:
        """Acknowledge up to a message; see `Session.acknowledge`."""
        if self._protocol is None:
            raise SessionLost("never opened")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._protocol.basic_ack(message.number, multiple=True)
        except BROKER_FAILURES as error:
            self.lost.set()
            raise SessionLost(type(error).__name__) from error

    async def close(self) -> None:
        """Close both connections; see `Session.close`."""
        self.lost.set()
        await self._outlet.close()
        if self._connection is not None:
            await close(self._connection)
