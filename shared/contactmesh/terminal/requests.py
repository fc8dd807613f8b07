"""Sending a command until its reply is there, always under the same id."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final, TypeVar

import structlog
import uuid_utils
from pydantic import ValidationError

from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.reply import Reply, Result
from contactmesh.terminal.errors import NoReply, UnreadableReply, refusal_of
from contactmesh.terminal.link import Link
from contactmesh.terminal.reading import unreadable
from contactmesh.terminal.session import NotDelivered

LONGEST_REPLY_SECONDS: Final = 30.0
"""What the wait for a reply grows to, as it doubles with each try."""

_log = structlog.get_logger(__name__)

R = TypeVar("R", bound=Result)


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


class Requests:
    """The commands of one terminal, and the replies that they wait for.

    Args:
        link: the connection.
        terminal_id: who sends them.
        reply_seconds: how long a reply may take before the command is sent again.
        deadline_seconds: how long a command is tried in all.
    """

    def __init__(
        self, link: Link, terminal_id: str, *, reply_seconds: float, deadline_seconds: float
    ) -> None:
        self._link = link
        self._terminal_id = terminal_id
        self._reply_seconds = reply_seconds
        self._deadline_seconds = deadline_seconds
        self._waiting: dict[str, ExpectedReply] = {}

    async def request(self, command: Command, message_id: str | None = None) -> Result:
        """Send a command and wait for its result; see `Terminal.request`."""
        envelope = self._envelope(command, message_id or str(uuid_utils.uuid7()))
        try:
            async with asyncio.timeout(self._deadline_seconds):
                reply = await self._exchange(envelope, command.routing_key(self._terminal_id))
        except TimeoutError as error:
            raise NoReply(command.TYPE, envelope.id, self._deadline_seconds) from error
        if reply.error is not None:
            raise refusal_of(reply.error)
        try:
            return command.RESULT.model_validate(reply.result)
        except ValidationError as error:
            raise UnreadableReply(
                f"The reply to {command.TYPE} cannot be read ({unreadable(error)}). "
                "Update the terminal."
            ) from error

    def _envelope(self, command: Command, message_id: str) -> Envelope:
        envelope = Envelope.of(
            command,
            id=message_id,
            source=f"/terminals/{self._terminal_id}",
            time=datetime.now(UTC),
        )
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        return envelope.model_copy(update={"traceparent": trace})

    async def _exchange(self, envelope: Envelope, routing_key: str) -> Reply:
        patience = self._reply_seconds
        with self._expected(envelope.id) as expected:
            while True:
                session = await self._link.session()
                try:
                    await session.publish(envelope, routing_key)
                except NotDelivered as error:
                    _log.info("command_not_delivered", type=envelope.type, reason=str(error))
                reply = await expected.wait(session.lost, patience)
                if reply is not None:
                    if reply.error is None or reply.error.code is not ErrorCode.UNAVAILABLE:
                        return reply
                    # The service invites to send the same again, later.
                    expected.forget()
                    await asyncio.sleep(patience)
                patience = min(patience * 2, LONGEST_REPLY_SECONDS)

    async def ask(self, command: Command, result: type[R]) -> R:
        """Send a command and wait for its result, which is of the type given."""
        answer = await self.request(command)
        if not isinstance(answer, result):
            raise TypeError(f"{command.TYPE} answers {type(answer).__name__}")
        return answer

    @contextmanager
    def _expected(self, message_id: str) -> Iterator[ExpectedReply]:
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
