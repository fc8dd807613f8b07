"""A group_service that answers by a script, at the real broker, to test the terminal alone."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import aio_pika
import uuid_utils
from aio_pika.abc import AbstractExchange, AbstractIncomingMessage
from pydantic import JsonValue

from contactmesh.contracts.command import CommandAddress
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.group.commands import GroupList, ListGroups, Pull, Pulled
from contactmesh.contracts.group.views import GroupSummary, Role
from contactmesh.contracts.reply import Reply, Result
from contactmesh.messaging.connection import declare_service
from contactmesh.messaging.topology import (
    GROUP,
    MULTI_SIM,
    REGISTRY,
    TERMINALS,
    terminal_key,
)

Answer = Result | Refusal | None
"""A result, a refusal, or silence."""
Script = Callable[[Envelope], Answer]


class ScriptedService:
    """Answers each command type by its script; without one it knows of no groups.

    Attributes:
        received: every command that arrived, repeated ones too.
        deliveries: the same, with the AMQP properties.
    """

    def __init__(self, terminals: AbstractExchange) -> None:
        self._terminals = terminals
        self._scripts: dict[str, Script] = {
            ListGroups.TYPE: lambda _: GroupList(groups=(), invitations=())
        }
        self.received: list[Envelope] = []
        self.deliveries: list[AbstractIncomingMessage] = []

    def answer(self, command: str, script: Script) -> None:
        """Answer a type of command from now on."""
        self._scripts[command] = script

    def answer_in_turn(self, command: str, *answers: Answer) -> None:
        """Answer a type of command with these, one after the other, and then with the last."""
        left = list(answers)
        self.answer(command, lambda _: left.pop(0) if len(left) > 1 else left[0])

    def have_group(self, *pages: Pulled) -> None:
        """Be the service of a user in one group, whose pulls give these pages in turn."""
        group = pages[0].group
        summary = GroupSummary(
            group_id=group.group_id,
            name=group.name,
            owner_id=group.owner_id,
            role=Role.INITIAL,
            joined_at=datetime(2026, 1, 1, tzinfo=UTC),
            members=2,
        )
        self.answer(ListGroups.TYPE, lambda _: GroupList(groups=(summary,), invitations=()))
        self.answer_in_turn(Pull.TYPE, *pages)

    def commands(self, kind: str) -> list[Envelope]:
        """The commands of a type that arrived."""
        return [envelope for envelope in self.received if envelope.type == kind]

    async def handle(self, message: AbstractIncomingMessage) -> None:
        """Take one command."""
        envelope = Envelope.decode(message.body)
        self.received.append(envelope)
        self.deliveries.append(message)
        sender = CommandAddress.parse(message.routing_key or "").sender
        script = self._scripts.get(envelope.type)
        answer = None if script is None else script(envelope)
        if isinstance(answer, Refusal):
            await self.reply(envelope, sender.terminal_id, Reply.refused(envelope.type, answer))
        elif answer is not None:
            await self.reply(envelope, sender.terminal_id, Reply.ok(envelope.type, answer))
        await message.ack()

    async def reply(self, command: Envelope, terminal_id: str, reply: Reply) -> None:
        """Send a reply."""
        envelope = Envelope.of(
            reply,
            id=str(uuid_utils.uuid7()),
            source="/services/group_service",
            time=datetime.now(UTC),
            cause=command,
        )
        await self.send(envelope.encode(), terminal_key(terminal_id))

    async def push(self, terminal_id: str, *messages: Message) -> None:
        """Push updates to a terminal."""
        for message in messages:
            envelope = Envelope.of(
                message,
                id=str(uuid_utils.uuid7()),
                source="/services/fanout_service",
                time=datetime.now(UTC),
            )
            await self.send(envelope.encode(), terminal_key(terminal_id))

    async def send(self, body: bytes, key: str) -> None:
        """Send any bytes to a terminal's queue."""
        await self._terminals.publish(aio_pika.Message(body, message_id="raw"), key)


@asynccontextmanager
async def scripted_service(url: str) -> AsyncIterator[ScriptedService]:
    """Run one at the broker of this URL."""
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel(on_return_raises=True)
        service = ScriptedService(await channel.get_exchange(TERMINALS))
        for topology in (GROUP, REGISTRY, MULTI_SIM):
            await declare_service(url, topology)
            queue = await channel.get_queue(topology.commands_queue.name)
            await queue.consume(service.handle)
        yield service


def refused(code: ErrorCode, message: str = "No.", **details: JsonValue) -> Refusal:
    """A refusal."""
    return Refusal(code, message, **details)
