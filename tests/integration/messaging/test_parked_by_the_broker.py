"""What the broker parks by itself: commands that expired unread, whoever wrote the expiry."""

import aio_pika
from pydantic import JsonValue
from tests.backends import Broker

from contactmesh.cli.parking_client import ParkingClient
from contactmesh.local.management import BrokerManagement
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import GROUP, policies

DEADLINE = 30
QUEUE = GROUP.commands_queue
VICTIM = "command.ada_aaaaaaaa.group_service.create"


async def _expire(broker: Broker, number: int, **headers: str) -> None:
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        for _ in range(number):
            message = aio_pika.Message(b"x" * 1000, expiration=0.001, headers=dict(headers))
            await channel.default_exchange.publish(message, QUEUE.name)

        async def parked() -> bool:
            left = await channel.declare_queue(QUEUE.name, passive=True)
            return left.declaration_result.message_count == 0

        await until(parked, seconds=DEADLINE)


async def _shrink(broker: Broker, name: str, size: int) -> None:
    """Give queues the policy that they have, with less room."""
    (policy,) = [one for one in policies() if one.name == name]
    shrunk: JsonValue = {
        "name": policy.name,
        "vhost": broker.vhost,
        "pattern": policy.pattern,
        "apply-to": "queues",
        "priority": 0,
        "definition": {**policy.definition, "max-length-bytes": size},
    }
    async with BrokerManagement(broker.management_url) as management:
        await management.import_definitions({"policies": [shrunk]})


async def test_expired_commands_fill_neither_the_parking_nor_the_services_queue(
    broker: Broker,
) -> None:
    await _shrink(broker, "parking-commands", 20_000)
    await _shrink(broker, QUEUE.name, 50_000)
    for _ in range(20):
        await _expire(broker, 10)  # each is confirmed, so none was refused for want of room


async def test_what_a_sender_wrote_into_an_expired_command_is_not_taken_for_our_words(
    broker: Broker,
) -> None:
    forged = {
        "x-parked-reason": "sent by ada",
        "x-original-routing-key": VICTIM,
        "x-original-message-id": "forged",
        "x-parked-at": "2026-11-30T08:00:00+00:00",
        "x-first-death-reason": "ada",
    }
    await _expire(broker, 1, **forged)
    async with ParkingClient(broker.management_url, broker.vhost) as parking:
        (shown,) = await parking.parked(QUEUE.name, 10)
    assert shown.reason == "expired"
    assert shown.routing_key is None
    assert "ada" not in shown.model_dump_json()
    assert "forged" not in shown.model_dump_json()
