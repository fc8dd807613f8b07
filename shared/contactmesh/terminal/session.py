"""One connection to the broker, from its opening to its loss."""

import asyncio
from typing import Final

import aiormq
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import BROKER_FAILURES, CONNECT_SECONDS, close
from contactmesh.runtime.waiting import uncut
from contactmesh.terminal.broker import ANSWER_SECONDS, connect
from contactmesh.terminal.outlet import Outlet

PREFETCH: Final = 200
"""How many updates may be under way to the terminal and not yet in its phonebook."""


class SessionLost(Exception):
    """The connection failed. Whatever was under way has to be done again on the next one."""


class QueueMissing(Exception):
    """The broker has no queue for this terminal: it expired, or was never made."""


class CredentialsRefused(Exception):
    """The broker does not let these credentials in."""


class Session:
    """A terminal's consumer, and the outlet for its commands.

    Attributes:
        lost: set once nothing can be received over it any more.
    """

    def __init__(self, credentials: Credentials) -> None:
        self.lost = asyncio.Event()
        self._credentials = credentials
        self._outlet = Outlet(credentials)
        self._inbox: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
        self._connection: AbstractConnection | None = None
        # Kept, because the client library refers to channels weakly.
        self._channel: AbstractChannel | None = None

    @classmethod
    async def open(cls, credentials: Credentials) -> "Session":
        """Connect and begin to consume.

        Raises:
            SessionLost: the broker cannot be reached or does not answer.
            QueueMissing: there is no queue to consume.
            CredentialsRefused: the broker does not know the terminal, or its secret is wrong.
        """
        return await uncut(cls._opened(credentials), cls.close)

    @classmethod
    async def _opened(cls, credentials: Credentials) -> "Session":
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
        underlay = await self._channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(self._cancelled)
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
            NotDelivered: the broker refused it, has no queue for it, or did not answer.
        """
        await self._outlet.publish(command, routing_key)

    async def acknowledge(self, message: AbstractIncomingMessage, *, and_before: bool) -> None:
        """Tell the broker that a message is dealt with, or that message and all before it.

        Raises:
            SessionLost: the connection is gone; the broker will deliver it again.
        """
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await message.ack(multiple=and_before)
        except BROKER_FAILURES as error:
            self.lost.set()
            raise SessionLost(type(error).__name__) from error

    async def close(self) -> None:
        """Close everything. What was not acknowledged will be delivered again."""
        self.lost.set()
        await self._outlet.close()
        if self._connection is not None:
            await close(self._connection)
