"""Publishing with confirms, over a connection of its own.

A memory or disk alarm on the broker blocks connections that publish; consuming goes over another
connection, so that acknowledgements still pass.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import aiormq
from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.channel import Channel

from contactmesh.messaging.connection import (
    BROKER_FAILURES,
    BrokerUnavailable,
    close,
    connect,
    underlay,
)
from contactmesh.messaging.message import Outgoing

CONFIRM_SECONDS: Final = 10.0
WINDOW: Final = 500
WINDOW_BYTES: Final = 16 * 1024 * 1024
"""Publishes in flight at once; more would only wait in the broker, until it is too late."""


@dataclass(frozen=True, slots=True)
class _Opened:
    connection: AbstractConnection
    # Kept, because the client library refers to channels weakly.
    channel: AbstractChannel


class Publisher:
    """Publishes messages and waits until the broker has taken them.

    It connects at the first publish and again after a failure. One publisher serves all tasks of a
    process.
    """

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._opened: _Opened | None = None
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def publish(self, messages: Sequence[Outgoing], *, mandatory: bool = False) -> None:
        """Publish all messages and wait for every confirm.

        With `mandatory`, a message that reaches no queue counts as a failure. After a failure some
        of the messages may have been taken: publish all of them again, consumers know repeats.

        Raises:
            BrokerUnavailable: the broker did not take them all within 10 seconds a window.
        """
        for window in _windows(messages):
            await self._publish_window(window, mandatory=mandatory)

    async def close(self) -> None:
        """Close the connection; the next publish opens another."""
        if self._opened is not None:
            await self._discard(self._opened)

    async def _publish_window(self, window: Sequence[Outgoing], *, mandatory: bool) -> None:
        opened: _Opened | None = None
        try:
            async with asyncio.timeout(CONFIRM_SECONDS):
                opened = await self._open()
                raw = await underlay(opened.channel)
                await asyncio.gather(
                    *(_publish(raw, message, mandatory=mandatory) for message in window)
                )
        except BROKER_FAILURES as error:
            if opened is not None:
                await self._discard(opened)
            kind = type(error).__name__
            raise BrokerUnavailable(f"The broker did not take a message: {kind}.") from error

    async def _open(self) -> _Opened:
        async with self._opening:
            if self._opened is not None and self._opened.channel.is_closed:
                await self._discard(self._opened)
            if self._opened is None:
                connection = await connect(self._url, self._name)
                try:
                    channel = await connection.channel(
                        publisher_confirms=True, on_return_raises=True
                    )
                except BaseException:
                    # Cancelled or failed: what was begun is undone, and the reason passes.
                    await close(connection)
                    raise
                self._opened = _Opened(connection, channel)
            return self._opened

    async def _discard(self, opened: _Opened) -> None:
        # By the time that one task learns of a failure, another may have opened the next one.
        if self._opened is opened:
            self._opened = None
        await close(opened.connection)


def _windows(messages: Sequence[Outgoing]) -> Iterator[list[Outgoing]]:
    window: list[Outgoing] = []
    room = WINDOW_BYTES
    for message in messages:
        room -= len(message.body)
        if window and (room < 0 or len(window) == WINDOW):
            yield window
            window, room = [], WINDOW_BYTES - len(message.body)
        window.append(message)
    if window:
        yield window


async def _publish(channel: Channel, message: Outgoing, *, mandatory: bool) -> None:
    await channel.basic_publish(
        message.body,
        exchange=message.exchange,
        routing_key=message.routing_key,
        mandatory=mandatory,
        wait=False,
        properties=aiormq.spec.Basic.Properties(
            content_type=message.content_type,
            delivery_mode=2 if message.persistent else 1,
            message_id=message.message_id,
            message_type=message.type,
            correlation_id=message.correlation_id,
            timestamp=message.timestamp,
            headers={**message.headers, **({"BCC": list(message.bcc)} if message.bcc else {})},
        ),
    )
