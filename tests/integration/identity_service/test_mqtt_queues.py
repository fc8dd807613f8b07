"""A terminal has one queue, of the protocol that it speaks, and none once it is revoked."""

import asyncio
import contextlib
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aio_pika
import aiomqtt
import pytest
from aiohttp import ClientSession
from tests.backends import Broker
from yarl import URL

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import Credentials, QueueReady
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import (
    TERMINAL_QUEUE_EXPIRY_MS,
    TERMINAL_QUEUE_MESSAGES,
    TERMINALS,
    subscription_queue,
    terminal_queue,
)
from contactmesh.terminal import EnrolmentRefused, Terminal, TransportNotOffered

from .conftest import Identity, RunIdentity
from .mqtt import client, next_message, own_topics, subscribed, wait_until_thrown_out

PATIENCE = 20


async def queues_of(broker: Broker, terminal_id: str) -> dict[str, dict[str, Any]]:
    """What the management API says of each queue of a terminal."""
    url = URL(broker.management_url) / "api" / "queues"
    async with (
        ClientSession() as session,
        session.get(URL(f"{url}/{broker.vhost}", encoded=True)) as answer,
    ):
        listed = await answer.json()
    return {queue["name"]: queue for queue in listed if terminal_id in queue["name"]}


async def enrolled(identity: Identity, transport: str) -> Credentials:
    await identity.register("ada")
    answer = await identity.try_enrol(await identity.mint("ada"), transport=transport)
    return Credentials.model_validate(answer.body)


async def refused(credentials: Credentials) -> bool:
    try:
        async with client(credentials):
            return False
    except aiomqtt.MqttError:
        return True


async def test_subscription_is_durable_bounded_and_expires(
    identity: Identity, broker: Broker
) -> None:
    ada = await enrolled(identity, "mqtt")
    assert ada.queue == subscription_queue(ada.terminal_id)
    assert await queues_of(broker, ada.terminal_id) == {}, "the terminal makes it itself"
    async with subscribed(ada):
        pass
    queue: dict[str, Any] = {}

    async def shown_in_full() -> bool:
        queue.update((await queues_of(broker, ada.terminal_id))[ada.queue])
        return "policy" in queue  # of what is new the broker tells the rest some seconds later

    await until(shown_in_full, seconds=PATIENCE)
    assert (queue["durable"], queue["policy"]) == (True, "subscriptions")
    assert queue["arguments"]["x-expires"] == TERMINAL_QUEUE_EXPIRY_MS


async def test_oldest_goes_when_the_subscription_is_full(
    identity: Identity, broker: Broker
) -> None:
    ada = await enrolled(identity, "mqtt")
    async with subscribed(ada):
        pass
    async with await aio_pika.connect(broker.url) as service:
        raw = await (await service.channel()).get_underlay_channel()
        for first in range(0, TERMINAL_QUEUE_MESSAGES + 100, 100):
            await asyncio.gather(
                *(
                    raw.basic_publish(
                        str(first + number).encode(), exchange=TERMINALS, routing_key="user.ada"
                    )
                    for number in range(100)
                )
            )
    async with client(ada) as phone:
        assert (await next_message(phone)).payload == b"100"


async def test_terminal_that_changes_its_protocol_leaves_no_queue_behind(
    identity: Identity, broker: Broker
) -> None:
    ada = await enrolled(identity, "amqp")
    by_amqp, by_mqtt = terminal_queue(ada.terminal_id), subscription_queue(ada.terminal_id)
    assert ada.queue == by_amqp
    for transport, queue in (("mqtt", by_mqtt), ("amqp", by_amqp), ("mqtt", by_mqtt)):
        answer = await identity.make_queue(ada.terminal_id, ada.terminal_id, ada.secret, transport)
        ready = QueueReady.model_validate(answer.body)
        assert (ready.queue, ready.mqtt_url) == (queue, broker.mqtt_url)
        if transport == "mqtt":
            async with subscribed(ada):
                pass
        assert set(await queues_of(broker, ada.terminal_id)) == {queue}


async def test_system_without_mqtt_says_so_before_the_code_is_used(
    run_identity: RunIdentity,
) -> None:
    async with run_identity(terminal_mqtt_url=None) as identity:
        await identity.register("ada")
        code = await identity.mint("ada")
        answer = await identity.try_enrol(code, transport="mqtt")
        assert answer.error.code is ErrorCode.INVALID_ARGUMENT
        assert "AMQP" in answer.error.message
        answer = await identity.try_enrol(code)
        ada = Credentials.model_validate(answer.body)
        assert ada.mqtt_url is None
        answer = await identity.make_queue(ada.terminal_id, ada.terminal_id, ada.secret, "mqtt")
        assert answer.error.code is ErrorCode.INVALID_ARGUMENT


async def test_terminal_of_a_system_without_mqtt_is_told_to_use_amqp(
    run_identity: RunIdentity, tmp_path: Path
) -> None:
    async with run_identity(terminal_mqtt_url=None) as identity:
        await identity.register("ada")
        told = {
            "identity_url": str(identity.url),
            "code": await identity.mint("ada"),
            "name": "phone",
        }
        with pytest.raises(EnrolmentRefused, match="AMQP"):
            await Terminal.enrol(tmp_path, **told, transport="mqtt")
        await Terminal.enrol(tmp_path, **told)
        with pytest.raises(TransportNotOffered, match="AMQP"):
            await Terminal(tmp_path, transport="mqtt").__aenter__()
        async with Terminal(tmp_path, transport="amqp", pull=False):
            pass


@pytest.mark.parametrize("transport", ["stomp", "", 1, None])
async def test_there_is_no_other_protocol(identity: Identity, transport: object) -> None:
    await identity.register("ada")
    answer = await identity.try_enrol(await identity.mint("ada"), transport=transport)
    assert (answer.status, answer.error.code) == (
        HTTPStatus.BAD_REQUEST,
        ErrorCode.INVALID_ARGUMENT,
    )


async def test_revoked_terminal_is_thrown_out_and_its_queue_is_gone(
    identity: Identity, broker: Broker
) -> None:
    ada = await enrolled(identity, "mqtt")
    async with contextlib.AsyncExitStack() as running:
        running.enter_context(contextlib.suppress(aiomqtt.MqttError))
        phone = await running.enter_async_context(subscribed(ada))
        assert (await identity.revoke(ada.terminal_id)).status == HTTPStatus.NO_CONTENT
        await wait_until_thrown_out(phone)
    assert await queues_of(broker, ada.terminal_id) == {}
    assert (
        await identity.broker_asks(
            "user", username=ada.terminal_id, password=ada.secret, client_id=ada.terminal_id
        )
        == "deny"
    )


async def test_queue_of_a_revoked_terminal_that_is_away_is_gone(
    identity: Identity, broker: Broker
) -> None:
    ada = await enrolled(identity, "mqtt")
    async with subscribed(ada):
        pass
    await identity.revoke(ada.terminal_id)
    assert await queues_of(broker, ada.terminal_id) == {}


async def test_terminal_that_slips_back_in_is_thrown_out_once_more_with_what_it_made(
    run_identity: RunIdentity, broker: Broker
) -> None:
    async with run_identity(broker_cache_lifetime=timedelta(seconds=12)) as identity:
        ada = await enrolled(identity, "mqtt")
        async with contextlib.AsyncExitStack() as running:
            running.enter_context(contextlib.suppress(aiomqtt.MqttError))
            phone = await running.enter_async_context(subscribed(ada))
            await identity.revoke(ada.terminal_id)
            await wait_until_thrown_out(phone)
        # The broker may still believe what it was told: a terminal that is quick gets in.
        async with contextlib.AsyncExitStack() as running:
            running.enter_context(contextlib.suppress(aiomqtt.MqttError))
            phone = await running.enter_async_context(client(ada))
            await phone.subscribe(own_topics(ada))
            await wait_until_thrown_out(phone)

        async def gone() -> bool:
            return await queues_of(broker, ada.terminal_id) == {}

        await until(gone, seconds=PATIENCE)
        assert await refused(ada)


async def test_others_of_the_user_go_on(identity: Identity, broker: Broker) -> None:
    phone, tablet = await enrolled(identity, "mqtt"), await enrolled(identity, "mqtt")
    async with subscribed(tablet) as other:
        await identity.revoke(phone.terminal_id)
        async with await aio_pika.connect(broker.url) as service:
            raw = await (await service.channel()).get_underlay_channel()
            await raw.basic_publish(b"{}", exchange=TERMINALS, routing_key="user.ada")
        assert (await next_message(other)).payload == b"{}"
