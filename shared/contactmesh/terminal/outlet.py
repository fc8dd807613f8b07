"""Publishing commands, over a connection of its own.

An alarm on memory or disk makes the broker stop reading from whoever publishes, and a terminal
still has to receive while it cannot send.
"""

import asyncio
from dataclasses import dataclass

import aio_pika
import aiormq
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange

from contactmesh.contracts.envelope import CONTENT_TYPE, Envelope
from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import BROKER_FAILURES, CONNECT_SECONDS, close
from contactmesh.messaging.topology import COMMANDS
from contactmesh.runtime.waiting import uncut
from contactmesh.terminal.broker import ANSWER_SECONDS, connect
from contactmesh.terminal.session import NotDelivered


@dataclass(frozen=True, slots=True)
class _Opened:
    connection: AbstractConnection
    # Kept, because the client library refers to channels weakly.
    channel: AbstractChannel
    commands: AbstractExchange


class Outlet:
    """Where a terminal's commands go out. It connects when it is used, and again after a failure.

    Args:
        credentials: who connects, and where.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._opening = asyncio.Lock()
        self._opened: _Opened | None = None

    async def publish(self, command: Envelope, routing_key: str) -> None:
        """Send a command and wait until the broker has it.

        Raises:
            NotDelivered: the broker refused it, has no queue for it, or did not answer.
        """
        message = aio_pika.Message(
            command.encode(),
            content_type=CONTENT_TYPE,
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            message_id=command.id,
            type=command.type,
            timestamp=command.time,
            correlation_id=command.correlationid,
        )
        opened = await self._open()
        try:
            # The library's own timeout bounds neither a blocked broker nor a lost connection.
            async with asyncio.timeout(ANSWER_SECONDS):
                await opened.commands.publish(message, routing_key, mandatory=True)
        except aiormq.exceptions.DeliveryError as error:
            raise NotDelivered(type(error).__name__) from error
        except BROKER_FAILURES as error:
            # A confirmation may still come, and the same id must not be in flight twice on a
            # channel: what follows goes over another connection.
            await self._discard(opened)
            raise NotDelivered(type(error).__name__) from error

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if self._opened is not None:
            await self._discard(self._opened)

    async def _open(self) -> _Opened:
        async with self._opening:
            if self._opened is None or self._opened.channel.is_closed:
                try:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        self._opened = await uncut(self._connect(), self._discard)
                except BROKER_FAILURES as error:
                    raise NotDelivered(type(error).__name__) from error
            return self._opened

    async def _connect(self) -> _Opened:
        if self._opened is not None:
            await self._discard(self._opened)
        connection = await connect(self._credentials, "commands")
        try:
            channel = await connection.channel(on_return_raises=True)
            # A terminal has no right to declare, not even passively.
            commands = await channel.get_exchange(COMMANDS, ensure=False)
        except BaseException:
            # Cancelled or failed: nobody else knows the connection.
            await close(connection)
            raise
        return _Opened(connection, channel, commands)

    async def _discard(self, opened: _Opened) -> None:
        if self._opened is opened:
            self._opened = None
        await close(opened.connection)
