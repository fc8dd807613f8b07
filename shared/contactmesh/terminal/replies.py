"""Which reply belongs to which command."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.reply import Reply
from contactmesh.terminal.changes import unreadable
from contactmesh.terminal.errors import UnreadableReply


class ExpectedReply:
    """The reply to one command, which may be told to come again."""

    def __init__(self) -> None:
        self._reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    async def wait(self, lost: asyncio.Event, seconds: float) -> Reply | None:
        """The reply; none if the connection is lost first, or the time is over.

        Raises:
            UnreadableReply: it is there and cannot be read.
        """
        gone = asyncio.create_task(lost.wait())
        try:
            await asyncio.wait(
                (self._reply, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            gone.cancel()
        return self._reply.result() if self._reply.done() else None

    def forget(self) -> None:
        """Wait for another reply than the one that came."""
        self._reply = asyncio.get_running_loop().create_future()

    def arrived(self, envelope: Envelope) -> None:
        """Take a reply; a repeated one is ignored."""
        if self._reply.done():
            return
        try:
            self._reply.set_result(Reply.model_validate(envelope.data))
        except ValidationError as error:
            self._reply.set_exception(
                UnreadableReply(f"The reply cannot be read ({unreadable(error)}). Update.")
            )

    def close(self) -> None:
        """Nobody waits any more."""
        if not self._reply.cancel() and not self._reply.cancelled():
            # Marks it as seen: an error that nobody came for is no news.
            self._reply.exception()


class Replies:
    """The commands that wait for their reply, by message id."""

    def __init__(self) -> None:
        self._waiting: dict[str, ExpectedReply] = {}

    @contextmanager
    def expected(self, message_id: str) -> Iterator[ExpectedReply]:
        """Wait for the reply to a command; what comes afterwards is ignored."""
        reply = ExpectedReply()
        self._waiting[message_id] = reply
        try:
            yield reply
        finally:
            if self._waiting.get(message_id) is reply:
                del self._waiting[message_id]
            reply.close()

    def arrived(self, envelope: Envelope) -> None:
        """Hand a reply to whoever waits for it. A repeated or late one has nobody waiting."""
        waiting = self._waiting.get(envelope.correlationid or "")
        if waiting is not None:
            waiting.arrived(envelope)
