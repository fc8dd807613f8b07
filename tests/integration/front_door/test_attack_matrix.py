"""Every way to do by AMQP what a terminal may not, tried on the whole running system.

Each is refused by the broker, and what identity_service has refused is in its log. After each the
other terminals are answered as before.
"""

import contextlib
import struct
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from pamqp import commands, constants
from pamqp.base import Frame
from tests.wire import DEADLINE, System, Terminal
from yarl import URL

from contactmesh.contracts.group.commands import ListGroups
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import (
    BROKER_MAX_MESSAGE_BYTES,
    COMMANDS,
    DEAD,
    EVENTS,
    MQTT,
    TERMINALS,
    terminal_key,
    user_key,
)

from .raw_amqp import CHANNEL_MAX, FRAME_MAX, RawClient, raw_client

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACCESS_REFUSED = 403
PRECONDITION_FAILED = 406
FRAME_ERROR = 501
UNEXPECTED_FRAME = 505
NOT_ALLOWED = 530
NOT_IMPLEMENTED = 540
SERVICE_QUEUE = "group_service.commands"

Attack = Callable[[Terminal, Terminal], tuple[Frame, ...]]
"""From the attacker and the victim, what the attacker sends."""

_Queue, _Exchange, _Basic = commands.Queue, commands.Exchange, commands.Basic


def _publish(exchange: str, key: Callable[[Terminal, Terminal], str]) -> Attack:
    return lambda bad, victim: (_Basic.Publish(exchange=exchange, routing_key=key(bad, victim)),)


def _bind(queue: Callable[[Terminal, Terminal], str], exchange: str, key: str) -> Attack:
    return lambda bad, victim: (
        _Queue.Bind(queue=queue(bad, victim), exchange=exchange, routing_key=key),
    )


def _own(bad: Terminal, _: Terminal) -> str:
    return bad.credentials.queue


def _others(_: Terminal, victim: Terminal) -> str:
    return victim.credentials.queue


PUBLISHING: dict[str, Attack] = {
    "another's command": _publish(COMMANDS, lambda _, v: ListGroups.routing_key(v.id)),
    "a command of nobody": _publish(COMMANDS, lambda _, __: "command..group_service.list"),
    "a key to all services": _publish(COMMANDS, lambda b, _: f"command.{b.id}.#"),
    "a key to any service": _publish(COMMANDS, lambda b, _: f"command.{b.id}.*.list"),
    "a longer key": _publish(COMMANDS, lambda b, _: f"command.{b.id}.group_service.list.x"),
    "a key with a line break": _publish(
        COMMANDS, lambda b, _: f"command.{b.id}.group_service.list\n"
    ),
    "no key": _publish(COMMANDS, lambda _, __: ""),
    "an event": _publish(EVENTS, lambda _, __: "contact.changed.card"),
    "a revocation": _publish(EVENTS, lambda _, __: "terminal.revoked"),
    "a command by MQTT's exchange": _publish(MQTT, lambda b, _: ListGroups.routing_key(b.id)),
    "to another user by MQTT's exchange": _publish(MQTT, lambda _, v: user_key(v.user_id)),
    "to another terminal": _publish(TERMINALS, lambda _, v: terminal_key(v.id)),
    "to another user": _publish(TERMINALS, lambda _, v: user_key(v.user_id)),
    "to itself": _publish(TERMINALS, lambda b, _: terminal_key(b.id)),
    "into parking": _publish(DEAD, lambda _, __: SERVICE_QUEUE),
    "past all exchanges": _publish("", _others),
    "past all exchanges to itself": _publish("", _own),
    "to a service's queue": _publish("", lambda _, __: SERVICE_QUEUE),
    "to the broker's topics": _publish("amq.topic", lambda _, __: "a"),
    "to the broker's log": _publish("amq.rabbitmq.log", lambda _, __: "info"),
    "to a reply queue": _publish("", lambda _, __: "amq.rabbitmq.reply-to.a"),
}
QUEUES: dict[str, Attack] = {
    "read another's": lambda _, v: (_Basic.Get(queue=v.credentials.queue),),
    "consume another's": lambda _, v: (_Basic.Consume(queue=v.credentials.queue),),
    "lock another's": lambda _, v: (_Basic.Consume(queue=v.credentials.queue, exclusive=True),),
    "purge another's": lambda _, v: (_Queue.Purge(queue=v.credentials.queue),),
    "delete another's": lambda _, v: (_Queue.Delete(queue=v.credentials.queue),),
    "take over another's": lambda _, v: (_Queue.Declare(queue=v.credentials.queue, durable=True),),
    "read a service's": lambda _, __: (_Basic.Get(queue=SERVICE_QUEUE),),
    "consume what is parked": lambda _, __: (_Basic.Consume(queue=f"{SERVICE_QUEUE}.dead"),),
    "delete a service's": lambda _, __: (_Queue.Delete(queue=SERVICE_QUEUE),),
    "delete its own": lambda b, _: (_Queue.Delete(queue=b.credentials.queue),),
    "declare its own": lambda b, _: (_Queue.Declare(queue=b.credentials.queue, durable=True),),
    "declare one": lambda _, __: (_Queue.Declare(queue="mine", durable=True),),
    "declare an exclusive one": lambda _, __: (_Queue.Declare(queue="mine", exclusive=True),),
    "declare one that goes": lambda _, __: (_Queue.Declare(queue="mine", auto_delete=True),),
    "declare one without a name": lambda _, __: (_Queue.Declare(queue="", exclusive=True),),
    "declare one that dead-letters into commands": lambda _, v: (
        _Queue.Declare(
            queue="mine",
            exclusive=True,
            arguments={
                "x-dead-letter-exchange": COMMANDS,
                "x-dead-letter-routing-key": ListGroups.routing_key(v.id),
                "x-message-ttl": 0,
            },
        ),
    ),
}
BINDINGS: dict[str, Attack] = {
    "its own to all events": _bind(_own, EVENTS, "#"),
    "its own to changes": _bind(_own, EVENTS, "contact.changed.*"),
    "its own to all terminals": _bind(_own, TERMINALS, "#"),
    "its own to all users": _bind(_own, TERMINALS, "user.*"),
    "its own to all of MQTT": _bind(_own, MQTT, "#"),
    "its own to all commands": _bind(_own, COMMANDS, "#"),
    "its own to what is dead": _bind(_own, DEAD, "#"),
    "its own to the broker's log": _bind(_own, "amq.rabbitmq.log", "#"),
    "another's to commands": _bind(_others, COMMANDS, "#"),
    "its own no more": lambda b, _: (
        _Queue.Unbind(
            queue=b.credentials.queue, exchange=TERMINALS, routing_key=terminal_key(b.id)
        ),
    ),
    "another's no more": lambda _, v: (
        _Queue.Unbind(
            queue=v.credentials.queue, exchange=TERMINALS, routing_key=terminal_key(v.id)
        ),
    ),
}
EXCHANGES: dict[str, Attack] = {
    "declare one": lambda _, __: (_Exchange.Declare(exchange="mine", exchange_type="fanout"),),
    "declare one with an alternate": lambda _, __: (
        _Exchange.Declare(
            exchange="mine", exchange_type="fanout", arguments={"alternate-exchange": EVENTS}
        ),
    ),
    "delete the commands'": lambda _, __: (_Exchange.Delete(exchange=COMMANDS),),
    "bind events to commands": lambda _, __: (
        _Exchange.Bind(destination=COMMANDS, source=EVENTS, routing_key="#"),
    ),
    "bind commands to events": lambda _, __: (
        _Exchange.Bind(destination=EVENTS, source=COMMANDS, routing_key="#"),
    ),
    "bind commands to terminals": lambda _, __: (
        _Exchange.Bind(destination=TERMINALS, source=COMMANDS, routing_key="#"),
    ),
    "unbind": lambda _, __: (
        _Exchange.Unbind(destination=COMMANDS, source=EVENTS, routing_key="#"),
    ),
}
ATTACKS = {
    f"{kind}: {name}": attack
    for kind, attacks in {
        "publish": PUBLISHING,
        "queue": QUEUES,
        "bind": BINDINGS,
        "exchange": EXCHANGES,
    }.items()
    for name, attack in attacks.items()
}


def _denials(system: System, terminal: Terminal) -> int:
    return sum(
        '"denied"' in line and terminal.id in line
        for process, line in system.log
        if process.startswith("identity_service")
    )


@pytest.mark.parametrize("what", ATTACKS)
async def test_broker_refuses_it_and_it_is_logged(system: System, what: str) -> None:
    good, bad = await _good_and_bad(system)
    before = _denials(system, bad)
    async with raw_client(bad.credentials) as client:
        attack = ATTACKS[what](bad, good)
        await client.send(1, *attack)
        if isinstance(attack[0], _Basic.Publish):
            await client.send_content(b"{}")
        assert await client.refusal() == ACCESS_REFUSED

    async def logged() -> bool:
        return _denials(system, bad) > before

    await until(logged, seconds=DEADLINE)
    await good.does(ListGroups())


async def _forge_user_id(client: RawClient, key: str) -> int:
    await client.publish(COMMANDS, key, b"{}", flags=1 << 4, properties=b"\x06victim")
    return PRECONDITION_FAILED


async def _exceed_the_message_size(client: RawClient, key: str) -> int:
    await client.send(1, _Basic.Publish(exchange=COMMANDS, routing_key=key))
    size = BROKER_MAX_MESSAGE_BYTES + 1
    await client.send_frame(constants.FRAME_HEADER, 1, struct.pack(">HHQH", 60, 0, size, 0))
    for start in range(0, size, FRAME_MAX // 2):
        part = b"x" * min(FRAME_MAX // 2, size - start)
        await client.send_frame(constants.FRAME_BODY, 1, part)
    return PRECONDITION_FAILED


async def _exceed_the_frame_size(client: RawClient, _: str) -> int:
    await client.send_frame(constants.FRAME_METHOD, 1, b"\0" * (FRAME_MAX + 1))
    return FRAME_ERROR


async def _exceed_the_frame_with_headers(client: RawClient, key: str) -> int:
    await client.publish(COMMANDS, key, b"{}", flags=1 << 13, properties=b"\0" * FRAME_MAX)
    return FRAME_ERROR


async def _leave_a_message_unfinished(client: RawClient, key: str) -> int:
    publish = _Basic.Publish(exchange=COMMANDS, routing_key=key)
    await client.send(1, publish, publish)
    return UNEXPECTED_FRAME


async def _demand_at_once(client: RawClient, key: str) -> int:
    await client.send(1, _Basic.Publish(exchange=COMMANDS, routing_key=key, immediate=True))
    await client.send_content(b"{}")
    return NOT_IMPLEMENTED


async def _write_further_keys_as_no_list(client: RawClient, key: str) -> int:
    headers = b"\x03BCCS\0\0\0\x01a"
    properties = struct.pack(">I", len(headers)) + headers
    await client.publish(COMMANDS, key, b"{}", flags=1 << 13, properties=properties)
    return PRECONDITION_FAILED


async def _open_more_channels_than_agreed(client: RawClient, _: str) -> int:
    for number in range(2, CHANNEL_MAX + 2):
        await client.send(number, commands.Channel.Open())
    return NOT_ALLOWED


@pytest.mark.parametrize(
    "attack",
    [
        _forge_user_id,
        _exceed_the_message_size,
        _exceed_the_frame_size,
        _exceed_the_frame_with_headers,
        _leave_a_message_unfinished,
        _demand_at_once,
        _write_further_keys_as_no_list,
        _open_more_channels_than_agreed,
    ],
)
async def test_broker_ends_what_breaks_its_rules(
    system: System, attack: Callable[[RawClient, str], Awaitable[int]]
) -> None:
    good, bad = await _good_and_bad(system)
    async with raw_client(bad.credentials) as client:
        # Who is shut out in the middle of a word cannot finish it.
        with contextlib.suppress(ConnectionError):
            expected = await attack(client, ListGroups.routing_key(bad.id))
            assert await client.refusal() == expected
    await good.does(ListGroups())


async def test_no_other_virtual_host_lets_it_in(system: System) -> None:
    good, bad = await _good_and_bad(system)
    root = str(URL(bad.credentials.broker_url).with_path("/"))
    elsewhere = bad.credentials.model_copy(update={"broker_url": root})
    with pytest.raises(ConnectionError):
        async with raw_client(elsewhere):
            pass
    await good.does(ListGroups())


async def test_management_lets_no_terminal_in(system: System) -> None:
    _, bad = await _good_and_bad(system)
    management = URL(system.broker.management_url).with_user(None)
    authorization = aiohttp.encode_basic_auth(bad.id, bad.credentials.secret)
    for path in ("whoami", "overview", "queues", "connections", "definitions", "users"):
        url = management / "api" / path
        async with system.http.get(url, headers={"Authorization": authorization}) as answer:
            assert answer.status in {401, 403}, path


async def _good_and_bad(system: System) -> tuple[Terminal, Terminal]:
    good, bad = await system.terminals("good", "bad")
    return good, bad
