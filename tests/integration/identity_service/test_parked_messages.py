"""What is parked is shown with its reason, and stays parked however often one looks."""

import asyncio
import json
from datetime import UTC, datetime

import aio_pika
import pytest
from tests.backends import Broker
from typer.testing import CliRunner

from contactmesh.cli.app import app
from contactmesh.cli.errors import CommandError, SystemUnreachable
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.parking_client import ParkingClient
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.parking import park
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import DEAD, GROUP

REASON = "invalid_argument: [{'path': '/data/rev', 'problem': 'Field required'}]"
LOOKS = 25  # more than the number of deliveries after which newer brokers drop a message by default


def delivery(body: bytes) -> Delivery:
    return Delivery(body=body, key="group.created", message_id="m-1")


async def test_parked_message_is_shown_with_its_reason_and_stays(broker: Broker) -> None:
    async with Publisher(broker.url, "test") as publisher:
        await park(publisher, GROUP.events_queue, [Parked(delivery(b'{"tel": "+49"}'), REASON)])
    async with ParkingClient(broker.management_url, broker.vhost) as client:
        assert "group_service.events" in await client.queues()
        for _ in range(LOOKS):
            (message,) = await client.parked("group_service.events", limit=10)
    assert message.queue == "group_service.events"
    assert message.reason == REASON
    assert (message.routing_key, message.message_id) == ("group.created", "m-1")
    assert message.parked_at is not None
    assert datetime.fromisoformat(message.parked_at) <= datetime.now(UTC)
    assert "+49" not in message.model_dump_json()


async def test_message_that_the_broker_parked_is_shown_too(broker: Broker) -> None:
    async with await aio_pika.connect(broker.url) as connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange(DEAD, ensure=False)
        await exchange.publish(aio_pika.Message(b"{}"), "group_service.commands")
    async with ParkingClient(broker.management_url, broker.vhost) as client:
        (message,) = await client.parked("group_service.commands", limit=10)
    assert message.reason
    assert message.routing_key == "group_service.commands"


async def test_only_as_many_as_asked_for_are_shown(broker: Broker) -> None:
    async with Publisher(broker.url, "test") as publisher:
        parked = [Parked(delivery(b"{}"), f"reason {number}") for number in range(5)]
        await park(publisher, GROUP.events_queue, parked)
    async with ParkingClient(broker.management_url, broker.vhost) as client:
        shown = await client.parked("group_service.events", limit=2)
        assert [message.reason for message in shown] == ["reason 0", "reason 1"]
        assert len(await client.parked("group_service.events", limit=10)) == 5


async def test_queue_without_parking_is_told(broker: Broker) -> None:
    async with ParkingClient(broker.management_url, broker.vhost) as client:
        with pytest.raises(CommandError, match="no such queue"):
            await client.parked("nothing", limit=1)


async def test_wrong_account_is_told_without_its_password(broker: Broker) -> None:
    url = broker.management_url.replace("//operator:", "//operator:x")
    async with ParkingClient(url, broker.vhost) as client:
        with pytest.raises(CommandError, match="refused") as refused:
            await client.queues()
    assert "operator" not in str(refused.value)


async def test_nobody_at_the_address_is_told() -> None:
    async with ParkingClient("http://operator:hidden@127.0.0.1:1", "/") as client:
        with pytest.raises(SystemUnreachable) as unreachable:
            await client.queues()
    assert "hidden" not in str(unreachable.value)


async def test_command_shows_what_is_parked(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Publisher(broker.url, "test") as publisher:
        await park(publisher, GROUP.events_queue, [Parked(delivery(b"{}"), REASON)])
    monkeypatch.setenv("CONTACTMESH_BROKER_MANAGEMENT_URL", broker.management_url)
    monkeypatch.setenv("AMQP_URL", broker.url)
    shown, as_json, elsewhere = [
        await asyncio.to_thread(CliRunner().invoke, app, ["operator", "parked", "list", *more])
        for more in ([], ["--json"], ["--queue", "group_service.commands"])
    ]
    assert REASON in shown.stdout
    (message,) = json.loads(as_json.stdout)
    assert message["reason"] == REASON
    assert (elsewhere.exit_code, elsewhere.stdout) == (ExitCode.OK, "")
    assert elsewhere.stderr == "Nothing is parked.\n"
