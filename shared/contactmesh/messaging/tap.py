"""Watching what the broker delivers: queues beside those of terminals, for demos and tests.

A tap sees the bytes themselves, before any client has read or dropped them.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aio_pika
from aio_pika.abc import AbstractExchange, AbstractIncomingMessage

from contactmesh.messaging.connection import BROKER_FAILURES, BrokerUnavailable, connect
from contactmesh.messaging.topology import TERMINALS

ANSWER_SECONDS: Final = 30.0


class _Copies:
    """What one recipient was sent, up to the last mark that came through the same queue."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.marked = asyncio.Event()

    async def arrived(self, message: AbstractIncomingMessage) -> None:
        if message.routing_key is not None and message.routing_key.startswith("tap."):
            self.marked.set()
        else:
            self.bodies.append(message.body)


class Tap:
    """Copies of what is delivered to several recipients from the tap's opening on."""

    def __init__(
        self, exchange: AbstractExchange, mark: str, copies: Mapping[str, _Copies]
    ) -> None:
        self._exchange = exchange
        self._mark = mark
        self._copies = copies

    async def take(self) -> dict[str, list[bytes]]:
        """What was delivered to each recipient since the last call, up to now.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        for copies in self._copies.values():
            copies.marked.clear()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                # It runs through every queue, behind all that is in there.
                await self._exchange.publish(aio_pika.Message(b""), self._mark)
                for copies in self._copies.values():
                    await copies.marked.wait()
        except BROKER_FAILURES as error:
            raise BrokerUnavailable(f"The tap is lost: {type(error).__name__}.") from error
        taken = {recipient: copies.bodies for recipient, copies in self._copies.items()}
        for copies in self._copies.values():
            copies.bodies = []
        return taken


@asynccontextmanager
async def tapped(url: str, recipients: Mapping[str, Iterable[str]]) -> AsyncIterator[Tap]:
    """Tap what is sent to terminals; the queues go with the connection.

    Args:
        url: the broker's virtual host, as the operator.
        recipients: by any name, the routing keys that each recipient's own queue is bound to.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    connection = await connect(url, "tap")
    try:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                channel = await connection.channel()
                exchange = await channel.get_exchange(TERMINALS, ensure=False)
                mark = f"tap.{secrets.token_hex(8)}"
                copies = {recipient: _Copies() for recipient in recipients}
                for recipient, keys in recipients.items():
                    queue = await channel.declare_queue(exclusive=True)
                    for key in (*keys, mark):
                        await queue.bind(exchange, key)
                    await queue.consume(copies[recipient].arrived, no_ack=True)
        except BROKER_FAILURES as error:
            raise BrokerUnavailable(f"No tap: {type(error).__name__}.") from error
        yield Tap(exchange, mark, copies)
    finally:
        await connection.close()
