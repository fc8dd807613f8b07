"""What the broker takes from a terminal and does not check: none of it reaches anybody else."""

import contextlib
import secrets
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aio_pika
import pytest
from aio_pika.abc import AbstractIncomingMessage
from pamqp import commands, constants
from tests.wire import System

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import CreateGroup, DissolveGroup, ListGroups
from contactmesh.contracts.group.updates import GroupJoined
from contactmesh.contracts.identifiers import TERMINAL_ID_PATTERN
from contactmesh.messaging.topology import COMMANDS, EVENTS, FAN_OUT_KEY, TERMINALS

from .raw_amqp import BASIC, raw_client

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Observer:
    """What went through the exchanges that terminals cannot write to."""

    seen: list[AbstractIncomingMessage] = field(default_factory=list)

    def carried(self, text: str) -> list[str | None]:
        """The keys of the messages whose body has this text in it."""
        return [message.routing_key for message in self.seen if text.encode() in message.body]


@asynccontextmanager
async def _observing(system: System) -> AsyncIterator[Observer]:
    observer = Observer()
    async with system.channel() as channel:
        queue = await channel.declare_queue(exclusive=True)
        for exchange in (EVENTS, TERMINALS):
            await queue.bind(exchange, "#")

        async def arrived(message: AbstractIncomingMessage) -> None:
            observer.seen.append(message)

        await queue.consume(arrived, no_ack=True)
        yield observer


@pytest.mark.parametrize("header", ["CC", "BCC"])
async def test_further_keys_lead_nowhere(system: System, header: str) -> None:
    good, bad = await system.terminals("good", "bad")
    mark = secrets.token_hex(8)
    keys = [
        f"terminal.{good.id}",
        f"user.{good.user_id}",
        good.credentials.queue,
        f"command.{good.id}.group_service.create",
        f"command.{good.id}.sync_service.exchange",
        "contact.changed.card",
        "terminal.revoked",
        FAN_OUT_KEY,
        "group_service.commands",
        "#",
    ]
    async with _observing(system) as observer:
        command_id = await bad.send_command(CreateGroup(name=mark), headers={header: keys})
        reply = await bad.reply_to(command_id)
        await bad.until_told(GroupJoined.TYPE)
        await good.does(ListGroups())
        # What another service got by a further key it has answered to the true sender.
        second = await bad.reply_to(command_id, number=2)
    assert {reply.status, second.status} == {"ok", "error"}
    assert not good.ever_saw(mark)
    carried = observer.carried(f'"{command_id}"')
    assert set(carried) <= {f"terminal.{bad.id}", "group.created", FAN_OUT_KEY}
    assert carried.count(FAN_OUT_KEY) <= 1, "its own user is told of the new group, nobody else"
    listed = await good.does(ListGroups())
    assert listed.model_dump()["groups"] == ()


async def test_where_a_reply_goes_is_not_the_senders_choice(system: System) -> None:
    good, bad = await system.terminals("good", "bad")
    assert bad._exchange is not None
    for reply_to in (good.credentials.queue, f"terminal.{good.id}"):
        envelope = bad.envelope(ListGroups())
        message = aio_pika.Message(
            envelope.encode(), message_id=envelope.id, reply_to=reply_to, correlation_id=good.id
        )
        await bad._exchange.publish(message, ListGroups.routing_key(bad.id), mandatory=False)
        assert (await bad.reply_to(envelope.id)).status == "ok"
        assert envelope.id not in good.replies


async def test_a_body_that_names_another_sender_is_its_senders(system: System) -> None:
    good, bad = await system.terminals("good", "bad")
    group_id = await good.creates(bad)
    forged = Envelope.of(
        DissolveGroup(group_id=group_id),
        id=secrets.token_hex(8),
        source=f"/terminals/{good.id}",
        time=good.envelope(ListGroups()).time,
        subject=good.user_id,
    )
    await bad.send(forged.encode(), DissolveGroup.routing_key(bad.id), message_id=forged.id)
    reply = await bad.reply_to(forged.id)
    assert reply.error is not None
    assert reply.error.code is ErrorCode.PERMISSION_DENIED
    assert set(await good.pulls(group_id)) == {good.user_id, bad.user_id}


async def test_anothers_command_played_again_is_a_command_of_ones_own(system: System) -> None:
    good, bad = await system.terminals("good", "bad")
    secret = f"secret {secrets.token_hex(8)}"
    command = CreateGroup(name=secret)
    command_id = secrets.token_hex(12)
    theirs = await good.does(command, command_id)
    mine = await bad.does(CreateGroup(name="mine"), command_id)
    assert mine != theirs
    assert not bad.ever_saw(secret)
    assert await good.does(command, command_id) == theirs


async def test_nobody_learns_anothers_terminal_from_what_is_pushed(system: System) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    group_id = await lin.creates(bo, ada)
    await lin.publishes(group_id, "+8613800000001")
    for terminal in (bo, ada):
        await terminal.until_pushed(lin, group_id, "+8613800000001")
    ids = {lin.id, bo.id, ada.id}
    for terminal in (lin, bo, ada):
        own = {f"terminal.{terminal.id}", f"user.{terminal.user_id}", FAN_OUT_KEY}
        for message in terminal.raw:
            assert message.routing_key in own
            told = f"{message.body!r} {message.headers!r} {message.info()!r}"
            assert not [one for one in ids - {terminal.id} if one in told]
    assert TERMINAL_ID_PATTERN.endswith("{8}$"), "else the ids above are other texts"


async def test_a_revoked_terminals_open_connection_is_closed(system: System) -> None:
    good, bad = await system.terminals("good", "bad")
    async with raw_client(bad.credentials) as client:
        await client.send(1, commands.Basic.Consume(queue=bad.credentials.queue))
        await system.revoke(bad.id)
        assert await client.refusal() >= 0
    # The broker may believe for some seconds what it was told before: then it is closed again.
    with contextlib.suppress(ConnectionError):
        async with raw_client(bad.credentials) as again:
            assert await again.refusal() >= 0
    await good.does(ListGroups())


async def test_a_message_that_never_ends_holds_nobody_up(system: System) -> None:
    good, bad = await system.terminals("good", "bad")
    async with raw_client(bad.credentials) as client:
        key = ListGroups.routing_key(bad.id)
        await client.send(1, commands.Basic.Publish(exchange=COMMANDS, routing_key=key))
        head = struct.pack(">HHQH", BASIC, 0, 2**62, 0)
        await client.send_frame(constants.FRAME_HEADER, 1, head)
        for _ in range(100):
            await client.send_frame(constants.FRAME_BODY, 1, b"x" * 1000)
        await good.does(ListGroups())
