"""An integrator reads its own queue, gets the scopes that it was granted, and does nothing else."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

import aio_pika
import aiomqtt
import aiormq
import pytest
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import AMQPError
from aiohttp import encode_basic_auth
from tests.backends import Broker
from typer.testing import CliRunner
from yarl import URL

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import IntegratorCredentials
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import COMMANDS, EVENTS, TERMINALS

from .conftest import Answer, Identity
from .mqtt import client

PATIENCE = 20
SCOPES = ("card", "line", "book", "space")

Attempt = Callable[[AbstractChannel, str], Awaitable[object]]


async def _try_add(identity: Identity, name: str, *scopes: str) -> Answer:
    return await identity.ask("POST", "v1/integrators", {"name": name, "scopes": list(scopes)})


async def _added(identity: Identity, name: str, *scopes: str) -> IntegratorCredentials:
    answer = await _try_add(identity, name, *scopes)
    assert answer.status == HTTPStatus.CREATED, answer.body
    return IntegratorCredentials.model_validate_json(json.dumps(answer.body))


def _url(crm: IntegratorCredentials) -> str:
    return str(URL(crm.broker_url).with_user(crm.account).with_password(crm.secret))


async def _publish(broker: Broker, *keys: str) -> None:
    async with await aio_pika.connect(broker.url) as connection:
        exchange = await (await connection.channel()).get_exchange(EVENTS)
        for key in keys:
            await exchange.publish(aio_pika.Message(key.encode()), key, mandatory=False)


async def test_it_gets_the_scopes_that_it_was_granted_and_no_others(
    identity: Identity, broker: Broker
) -> None:
    crm = await _added(identity, "crm", "line", "card")
    await _publish(
        broker,
        *(f"contact.changed.{scope}" for scope in SCOPES),
        "group.created",
        "terminal.enrolled",
        "contact.changed.line",
    )
    async with await aio_pika.connect(_url(crm)) as connection:
        queue = await (await connection.channel()).get_queue(crm.queue, ensure=False)
        got = []
        async with queue.iterator(timeout=PATIENCE) as messages:
            async for message in messages:
                got.append(message.body.decode())
                await message.ack()
                if len(got) == 3:
                    break
        assert got == ["contact.changed.card", "contact.changed.line", "contact.changed.line"]
        assert await queue.get(fail=False) is None


async def _consume_a_terminals(channel: AbstractChannel, queue: str) -> None:
    await (await channel.get_queue(queue, ensure=False)).get()


async def _bind_its_own(channel: AbstractChannel, _: str) -> None:
    await (await channel.get_queue("integrator.crm", ensure=False)).bind(EVENTS, "#")


async def _declare(channel: AbstractChannel, _: str) -> None:
    await channel.declare_queue("integrator.crm2", durable=True)


async def _read_anothers(channel: AbstractChannel, _: str) -> None:
    await (await channel.get_queue("integrator.erp", ensure=False)).get()


async def _write(exchange: str, key: str, channel: AbstractChannel, _: str) -> None:
    raw = await channel.get_underlay_channel()
    await raw.basic_publish(b"{}", exchange=exchange, routing_key=key)


def _writing(exchange: str, key: str) -> Attempt:
    return lambda channel, queue: _write(exchange, key, channel, queue)


@pytest.mark.parametrize(
    "attempt",
    [
        _consume_a_terminals,
        _bind_its_own,
        _declare,
        _read_anothers,
        _writing(EVENTS, "contact.changed.card"),
        _writing(COMMANDS, "command.ada_aaaaaaaa.group_service.create"),
        _writing(COMMANDS, "command.integrator.group_service.create"),
        _writing(TERMINALS, "user.ada"),
        _writing("", "integrator.crm"),
    ],
)
async def test_broker_refuses_everything_else(identity: Identity, attempt: Attempt) -> None:
    ada = await identity.enrolled("ada")
    crm, _ = await _added(identity, "crm", "card"), await _added(identity, "erp", "book")
    async with await aio_pika.connect(_url(crm)) as connection:
        channel = await connection.channel()
        with pytest.raises(
            (AMQPError, aiormq.exceptions.ChannelInvalidStateError), match="REFUSED"
        ):
            await attempt(channel, ada.queue)


async def test_it_is_not_let_in_by_mqtt(identity: Identity) -> None:
    ada, crm = await identity.enrolled("ada"), await _added(identity, "crm", "card")
    async with client(ada):
        pass
    posing = ada.model_copy(update={"terminal_id": crm.account, "secret": crm.secret})
    for client_id in (crm.account, ada.terminal_id):
        with pytest.raises(aiomqtt.MqttError):
            await client(posing, identifier=client_id).__aenter__()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("user", {}),
        ("vhost", {}),
        ("resource", {"resource": "queue", "name": "integrator.crm", "permission": "read"}),
    ],
)
async def test_what_it_may_by_amqp_it_may_not_by_mqtt(
    identity: Identity, broker: Broker, question: str, asked: dict[str, str]
) -> None:
    crm = await _added(identity, "crm", "card")
    known = {"username": crm.account, "password": crm.secret, "vhost": broker.vhost}
    assert await identity.broker_asks(question, **known, **asked) == "allow"
    by_mqtt = {"client_id": crm.account}
    assert await identity.broker_asks(question, **known, **asked, **by_mqtt) == "deny"


async def test_removed_integrator_is_out_at_once(identity: Identity, broker: Broker) -> None:
    crm = await _added(identity, "crm", "card")
    connection = await aio_pika.connect(_url(crm))
    removed = await identity.ask("DELETE", "v1/integrators/crm")
    assert removed.status == HTTPStatus.NO_CONTENT

    async def closed() -> bool:
        return not connection.connected.is_set()

    await until(closed, seconds=PATIENCE)
    denied = await identity.broker_asks("user", username=crm.account, password=crm.secret)
    assert denied == "deny"
    async with await aio_pika.connect(broker.url) as service:
        with pytest.raises(aiormq.exceptions.ChannelNotFoundEntity):
            await (await service.channel()).get_queue(crm.queue)
    again = await identity.ask("DELETE", "v1/integrators/crm")
    assert again.error.code is ErrorCode.NOT_FOUND
    # Of the same name, with other rights: nothing of the old ones is left.
    await _added(identity, "crm", "space")
    await _publish(broker, "contact.changed.card")
    async with await aio_pika.connect(broker.url) as service:
        queue = await (await service.channel()).get_queue(crm.queue)
        assert await queue.get(fail=False) is None


async def test_an_integrator_is_granted_nothing_more_in_passing(identity: Identity) -> None:
    await _added(identity, "crm", "card")
    again = await _try_add(identity, "crm", "card", "book")
    assert again.error.code is ErrorCode.CONFLICT
    listed = (await identity.ask("GET", "v1/integrators")).body["integrators"]
    assert [(row["name"], row["scopes"]) for row in listed] == [("crm", ["card"])]


async def test_integrators_are_added_by_operators_alone(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    for authorization in (None, encode_basic_auth(ada.terminal_id, ada.secret)):
        for method, path in (
            ("POST", "v1/integrators"),
            ("GET", "v1/integrators"),
            ("DELETE", "v1/integrators/crm"),
        ):
            answer = await identity.ask(method, path, authorization=authorization)
            assert answer.status == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize(
    ("name", "scopes"), [("crm", []), ("crm", ["all"]), ("Crm", ["card"]), ("c.r.m", ["card"])]
)
async def test_what_cannot_be_granted_is_told(
    identity: Identity, name: str, scopes: list[str]
) -> None:
    refused = await _try_add(identity, name, *scopes)
    assert refused.error.code is ErrorCode.INVALID_ARGUMENT


async def test_operator_adds_lists_and_removes(
    identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTACTMESH_IDENTITY_URL", str(identity.url))
    monkeypatch.setenv("CONTACTMESH_OPERATOR_TOKEN_FILE", str(tmp_path / "operator-token"))

    async def run(*arguments: str) -> tuple[int, str]:
        command = ["operator", "integrator", *arguments]
        result = await asyncio.to_thread(CliRunner().invoke, app, command)
        return result.exit_code, result.stdout

    _, shown = await run("add", "crm", "--scope", "card", "--scope", "line", "--json")
    granted = json.loads(shown.splitlines()[-1])
    async with await aio_pika.connect(granted["amqp_url"]) as connection:
        queue = await (await connection.channel()).get_queue(granted["queue"], ensure=False)
        assert await queue.get(fail=False) is None
    assert "crm" in (await run("list"))[1]
    assert (await run("remove", "crm"))[0] == ExitCode.OK
    assert (await run("remove", "crm"))[0] == ExitCode.FAILED
    assert (await run("add", "Crm", "--scope", "card"))[0] == ExitCode.USAGE
