"""What the real broker lets a terminal do by MQTT, with this service answering its questions."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import aio_pika
import aiomqtt
import aiormq
import pytest
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import AMQPError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from pamqp.common import FieldArray
from tests.backends import Broker

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import (
    BROKER_MAX_MESSAGE_BYTES,
    COMMANDS,
    FAN_OUT_KEY,
    MQTT,
    TERMINALS,
    subscription_queue,
    terminal_key,
)

from .conftest import Identity, connect, publish
from .mqtt import client, is_quiet, next_message, subscribed, wait_until_thrown_out

Attempt = Callable[[aiomqtt.Client, Credentials, Credentials], Coroutine[Any, Any, None]]


async def commands(broker: Broker) -> list[str]:
    """The keys of the commands that reached group_service."""
    keys = []
    async with await aio_pika.connect(broker.url) as connection:
        queue = await (await connection.channel()).get_queue("group_service.commands")
        while message := await queue.get(no_ack=True, fail=False):
            keys.append(message.routing_key or "")
    return keys


def own_command(credentials: Credentials) -> str:
    return f"command/{credentials.terminal_id}/group_service/create"


async def test_terminal_sends_its_own_commands(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    async with client(ada) as phone:
        await phone.publish(own_command(ada), b"{}", qos=1)
    assert await commands(broker) == [f"command.{ada.terminal_id}.group_service.create"]


async def test_terminal_receives_what_is_its_and_its_users(
    identity: Identity, broker: Broker
) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    async with subscribed(ada) as phone, subscribed(bea) as other:
        await publish(broker, TERMINALS, terminal_key(ada.terminal_id))
        await publish(broker, TERMINALS, FAN_OUT_KEY, "user.ada", "user.carl")
        topics = [(await next_message(phone)).topic.value for _ in range(2)]
        assert topics == [f"terminal/{ada.terminal_id}", "fan-out"], "nobody learns of another"
        assert await is_quiet(other)


async def test_what_comes_while_it_is_away_waits_for_it(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    async with subscribed(ada):
        pass
    await publish(broker, TERMINALS, FAN_OUT_KEY, "user.ada")
    async with client(ada) as phone:
        assert (await next_message(phone)).payload == b"{}"


async def publish_to(phone: aiomqtt.Client, topic: str, *, retain: bool = False) -> None:
    await phone.publish(topic, b"{}", qos=1, retain=retain)


async def forge_sender(phone: aiomqtt.Client, _: Credentials, other: Credentials) -> None:
    await publish_to(phone, own_command(other))


async def send_under_a_wider_topic(phone: aiomqtt.Client, me: Credentials, _: Credentials) -> None:
    await publish_to(phone, f"{own_command(me)}/more")


async def publish_an_event(phone: aiomqtt.Client, _: Credentials, __: Credentials) -> None:
    await publish_to(phone, "contact/changed/card")


async def write_to_another_terminal(
    phone: aiomqtt.Client, _: Credentials, other: Credentials
) -> None:
    await publish_to(phone, f"terminal/{other.terminal_id}")


async def write_to_another_user(phone: aiomqtt.Client, _: Credentials, __: Credentials) -> None:
    await publish_to(phone, "user/bea")


async def write_to_itself(phone: aiomqtt.Client, me: Credentials, _: Credentials) -> None:
    await publish_to(phone, f"terminal/{me.terminal_id}")


async def leave_a_message_for_another(
    phone: aiomqtt.Client, _: Credentials, other: Credentials
) -> None:
    await publish_to(phone, f"terminal/{other.terminal_id}", retain=True)


async def send_without_quality_of_service(
    phone: aiomqtt.Client, _: Credentials, other: Credentials
) -> None:
    await phone.publish(f"terminal/{other.terminal_id}", b"{}", qos=0)


async def subscribe_to_another_terminal(
    phone: aiomqtt.Client, _: Credentials, other: Credentials
) -> None:
    await subscribe(phone, f"terminal/{other.terminal_id}")


async def subscribe(phone: aiomqtt.Client, topic: str, qos: int = 1) -> None:
    granted = await phone.subscribe(topic, qos=qos)
    if granted == (128,):
        raise aiomqtt.MqttError("refused")


def subscribing_to(topic: str, qos: int = 1) -> Attempt:
    async def attempt(phone: aiomqtt.Client, _: Credentials, __: Credentials) -> None:
        await subscribe(phone, topic, qos)

    return attempt


async def subscribe_without_keeping(phone: aiomqtt.Client, me: Credentials, _: Credentials) -> None:
    await subscribe(phone, f"terminal/{me.terminal_id}", qos=0)


@pytest.mark.parametrize(
    "attempt",
    [
        forge_sender,
        send_under_a_wider_topic,
        publish_an_event,
        write_to_another_terminal,
        write_to_another_user,
        write_to_itself,
        leave_a_message_for_another,
        send_without_quality_of_service,
        subscribe_to_another_terminal,
        subscribe_without_keeping,
        *(
            pytest.param(subscribing_to(topic), id=topic)
            for topic in (
                "#",
                "+",
                "+/+",
                "terminal/+",
                "terminal/#",
                "user/bea",
                "user/+",
                "user/#",
                "command/#",
                "command/+/group_service/create",
                "fan-out",
                "contact/changed/card",
                "$SYS/#",
            )
        ),
    ],
)
async def test_broker_refuses_everything_else(
    identity: Identity, broker: Broker, attempt: Attempt
) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    async with subscribed(bea) as victim:
        async with contextlib.AsyncExitStack() as running:
            running.enter_context(contextlib.suppress(aiomqtt.MqttError))
            phone = await running.enter_async_context(client(ada))
            trying = asyncio.create_task(attempt(phone, ada, bea))
            await wait_until_thrown_out(phone)
            trying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await trying
        await publish(broker, TERMINALS, FAN_OUT_KEY, "user.bea")
        assert (await next_message(victim)).topic.value == "fan-out", "and nothing before it"
        await victim.publish(own_command(bea), b"{}", qos=1)
    assert await commands(broker) == [f"command.{bea.terminal_id}.group_service.create"]


async def refused(attempt: aiomqtt.Client) -> bool:
    """Whether the broker does not let a client in."""
    try:
        async with attempt:
            return False
    except aiomqtt.MqttError:
        return True


async def test_nobody_takes_over_anothers_session(identity: Identity, broker: Broker) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    tablet = await identity.enrolled("bea")
    async with subscribed(bea) as victim:
        for someone in (ada, tablet):
            assert await refused(client(someone, identifier=bea.terminal_id))
        await publish(broker, TERMINALS, FAN_OUT_KEY, "user.bea")
        assert (await next_message(victim)).topic.value == "fan-out"


async def test_client_id_is_the_terminals(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    assert not await refused(client(ada))
    for client_id in ("ada", "phone", f"{ada.terminal_id}2", f"{ada.terminal_id}qos1"):
        assert await refused(client(ada, identifier=client_id))
    assert await refused(client(ada, identifier="", clean_session=True))


async def test_terminal_with_a_wrong_secret_or_none_is_not_let_in(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    assert await refused(client(ada, password="guess"))
    assert await refused(client(ada, password=""))
    assert await refused(client(ada, username=None, password=None))
    assert await refused(client(ada, username="guest", password="guest"))


async def test_terminal_is_not_let_into_another_virtual_host(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    for vhost in ("/", "nowhere"):
        assert await refused(client(ada, username=f"{vhost}:{ada.terminal_id}"))
    assert await refused(client(ada, username=ada.terminal_id)), "the broker's own is another one"


@pytest.mark.parametrize("retain", [False, True])
async def test_will_gets_nowhere_else(identity: Identity, broker: Broker, *, retain: bool) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    for topic in (f"terminal/{bea.terminal_id}", "user/bea", own_command(bea)):
        will = aiomqtt.Will(topic, b"boo", qos=1, retain=retain)
        async with subscribed(bea) as victim:
            async with contextlib.AsyncExitStack() as running:
                running.enter_context(contextlib.suppress(aiomqtt.MqttError))
                phone = await running.enter_async_context(client(ada, will=will))
                # What the broker refuses it answers by closing: no good-bye, so the will is due.
                running.enter_context(contextlib.suppress(aiomqtt.MqttError))
                await phone.publish("terminal/nobody", qos=0)
                await wait_until_thrown_out(phone)
            assert await is_quiet(victim)
    assert await commands(broker) == []


async def test_what_is_retained_is_not_kept(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    async with client(ada) as phone:
        await phone.publish(own_command(ada), b"{}", qos=1, retain=True)
    administrator = ada.model_copy(update={"terminal_id": "operator", "secret": password(broker)})
    async with client(administrator, identifier="looking", clean_session=True) as looking:
        await looking.subscribe("command/#", qos=1)
        assert await is_quiet(looking)


def password(broker: Broker) -> str:
    return broker.accounts["operator"].password


async def test_what_is_too_large_is_refused_and_harms_nobody(
    identity: Identity, broker: Broker
) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    body = bytes(BROKER_MAX_MESSAGE_BYTES + 1)
    async with subscribed(bea) as other:
        # Some versions of the broker close the connection, others confirm nothing more over it.
        with pytest.raises(aiomqtt.MqttError):
            async with client(ada) as phone:
                await phone.publish(own_command(ada), body, qos=1)
        await other.publish(own_command(bea), b"{}", qos=1)
    async with client(ada) as phone:
        await phone.publish(own_command(ada), b"{}", qos=1)
    assert await commands(broker) == [
        f"command.{someone.terminal_id}.group_service.create" for someone in (bea, ada)
    ]


async def test_properties_of_mqtt_5_are_no_hidden_keys(identity: Identity, broker: Broker) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    hidden = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    hidden.UserProperty = [
        (name, key)
        for name in ("CC", "BCC", "x-cc", "x-bcc")
        for key in (terminal_key(bea.terminal_id), "user.bea")
    ]
    async with subscribed(bea) as victim:
        with contextlib.suppress(aiomqtt.MqttError):  # a broker that speaks 3.1.1 alone
            phone = client(ada, protocol=aiomqtt.ProtocolVersion.V5, clean_session=None)
            async with phone:
                await phone.publish(own_command(ada), b"{}", qos=1, properties=hidden)
        assert await is_quiet(victim)
    assert len(await commands(broker)) <= 1


AmqpAttempt = Callable[[AbstractChannel, Credentials], Awaitable[object]]


async def publish_as_mqtt_does(channel: AbstractChannel, me: Credentials) -> None:
    raw = await channel.get_underlay_channel()
    key = f"command.{me.terminal_id}.group_service.create"
    await raw.basic_publish(b"{}", exchange=MQTT, routing_key=key)


async def declare_a_subscription(channel: AbstractChannel, me: Credentials) -> None:
    await channel.declare_queue(subscription_queue(me.terminal_id), durable=True)


async def read_a_subscription(channel: AbstractChannel, me: Credentials) -> None:
    queue = await channel.get_queue(subscription_queue(me.terminal_id), ensure=False)
    await queue.get()


async def bind_its_queue_to_subscriptions(channel: AbstractChannel, me: Credentials) -> None:
    await (await channel.get_queue(me.queue, ensure=False)).bind(MQTT, "user.ada")


@pytest.mark.parametrize(
    "attempt",
    [
        publish_as_mqtt_does,
        declare_a_subscription,
        read_a_subscription,
        bind_its_queue_to_subscriptions,
    ],
)
async def test_by_amqp_there_is_no_right_on_what_is_for_mqtt(
    identity: Identity, attempt: AmqpAttempt
) -> None:
    ada = await identity.enrolled("ada")
    async with await connect(ada) as connection:
        with pytest.raises(AMQPError, match="REFUSED"):
            await attempt(await connection.channel(), ada)


@pytest.mark.parametrize("header", ["CC", "BCC"])
async def test_hidden_keys_of_a_command_reach_no_subscription(
    identity: Identity, broker: Broker, header: str
) -> None:
    ada, bea = await identity.enrolled("ada"), await identity.enrolled("bea")
    keys: FieldArray = [terminal_key(bea.terminal_id), "user.bea"]
    async with subscribed(bea) as victim, await connect(ada) as connection:
        raw = await (await connection.channel()).get_underlay_channel()
        # Newer brokers ask about these keys too; older ones route by them, from this exchange.
        with contextlib.suppress(AMQPError):
            await raw.basic_publish(
                b"{}",
                exchange=COMMANDS,
                routing_key=f"command.{ada.terminal_id}.group_service.create",
                properties=aiormq.spec.Basic.Properties(headers={header: keys}),
            )
        assert await is_quiet(victim)
