"""Watching what the broker delivers: queues beside those of terminals, for demos and tests.

A tap sees the bytes themselves, before any client has read or dropped them.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from aio_pika.abc import AbstractQueue

from contactmesh.messaging.connection import BROKER_FAILURES, BrokerUnavailable, connect
from contactmesh.messaging.topology import TERMINALS

ANSWER_SECONDS: Final = 10.0


class Tap:
    """Copies of what is delivered to several recipients from the tap's opening on."""

    def __init__(self, queues: Mapping[str, AbstractQueue]) -> None:
        self._queues = queues

    async def take(self) -> dict[str, list[bytes]]:
        """What was delivered to each recipient since the last call.

        Raises:
            BrokerUnavailable: the broker does not answer; what it had is lost.
        """
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return {
                    recipient: [body async for body in _emptied(queue)]
                    for recipient, queue in self._queues.items()
                }
        except BROKER_FAILURES as error:
            raise BrokerUnavailable(f"The tap is lost: {type(error).__name__}.") from error


@asynccontextmanager
async def tapped(url: str, recipients: Mapping[str, Iterable[str]]) -> AsyncIterator[Tap]:
    """Tap what is sent to terminals; the queues go with the connection.

    Args:
        url: the broker's virtual host, as the operator.
        recipients: what each recipient's own queue is bound to, by any name.

    Raises:
        BrokerUnavailable: the broker cannot be reached or refuses.
    """
    connection = await connect(url, "tap")
    try:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                channel = await connection.channel()
                queues: dict[str, AbstractQueue] = {}
                for recipient, keys in recipients.items():
                    queue = queues[recipient] = await channel.declare_queue(exclusive=True)
                    for key in keys:
                        await queue.bind(TERMINALS, key)
        except BROKER_FAILURES as error:
            raise BrokerUnavailable(f"No tap: {type(error).__name__}.") from error
        yield Tap(queues)
    finally:
        await connection.close()


async def _emptied(queue: AbstractQueue) -> AsyncIterator[bytes]:
    while (message := await queue.get(no_ack=True, fail=False)) is not None:
        yield message.body
