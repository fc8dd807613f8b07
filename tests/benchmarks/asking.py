"""Commands of terminals that are none, sent as the broker's operator, and their replies."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import uuid_utils
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage

from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.reply import Reply
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import COMMANDS, TERMINALS

REPLIES = "bench.replies"


class Asking:
    """Sends commands of any terminal, and hears what terminals are sent.

    Args:
        channel: of the broker's operator.
        publisher: what the commands go through.
        pushed: is told of what is no reply.
    """

    def __init__(
        self,
        channel: AbstractChannel,
        publisher: Publisher,
        pushed: Callable[[Envelope], None] = lambda _: None,
    ) -> None:
        self._channel = channel
        self._publisher = publisher
        self._pushed = pushed
        self._consumer = ""
        self._waiting: dict[str, asyncio.Future[Reply]] = {}

    async def prepare(self) -> None:
        """Hear everything that is sent to single terminals."""
        replies = await self._channel.declare_queue(REPLIES, durable=True)
        await replies.bind(TERMINALS, "terminal.*")
        self._consumer = await replies.consume(self._arrived, no_ack=True)

    async def close(self) -> None:
        """Hear no more."""
        replies = await self._channel.get_queue(REPLIES, ensure=False)
        await replies.cancel(self._consumer)
        await replies.delete(if_unused=False, if_empty=False)

    async def _arrived(self, message: AbstractIncomingMessage) -> None:
        envelope = Envelope.decode(message.body)
        if envelope.type != Reply.TYPE:
            self._pushed(envelope)
            return
        waiting = self._waiting.pop(envelope.correlationid or "", None)
        if waiting is not None:
            waiting.set_result(Reply.model_validate(envelope.data))

    async def ask(self, commands: Sequence[tuple[str, Command]]) -> list[Reply]:
        """Send commands of terminals, all at once, and wait for every reply."""
        waiting = []
        outgoing = []
        for terminal_id, command in commands:
            envelope = Envelope.of(
                command,
                id=str(uuid_utils.uuid7()),
                source=f"/terminals/{terminal_id}",
                time=datetime.now(UTC),
            )
            future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            self._waiting[envelope.id] = future
            waiting.append(future)
            key = command.routing_key(terminal_id)
            outgoing.append(Outgoing.of(envelope, exchange=COMMANDS, routing_key=key))
        await self._publisher.publish(outgoing)
        replies = await asyncio.gather(*waiting)
        refused = [reply.error for reply in replies if reply.error is not None]
        if refused:
            raise SystemExit(f"refused: {refused[0]}")
        return list(replies)
