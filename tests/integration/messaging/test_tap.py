"""Tapping what is delivered to terminals."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from tests.backends import Broker

from contactmesh.contracts.envelope import Envelope
from contactmesh.messaging.connection import BrokerUnavailable
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.tap import Tap, tapped


@pytest_asyncio.fixture
async def tap(broker: Broker) -> AsyncIterator[Tap]:
    recipients = {"ann": ["user.ann", "terminal.ann_1"], "bob": ["user.bob"]}
    async with tapped(broker.url, recipients) as opened:
        yield opened


def envelope(number: int) -> Envelope:
    return Envelope(id=f"m{number}", source="/test", type="test", time=datetime.now(UTC))


async def test_each_recipient_has_its_own_copies_since_the_last_time(
    tap: Tap, broker: Broker
) -> None:
    async with Publisher(broker.url, "test") as publisher:
        await publisher.publish(Outgoing.to_many(envelope(1), ["user.ann", "user.bob"]))
        await publisher.publish([Outgoing.to_terminal(envelope(2), "ann_1")])
        first = await tap.take()
        await publisher.publish(Outgoing.to_many(envelope(3), ["user.bob", "user.lin"]))
        second = await tap.take()

    def ids(taken: dict[str, list[bytes]]) -> dict[str, list[str]]:
        return {
            recipient: [Envelope.decode(body).id for body in bodies]
            for recipient, bodies in taken.items()
        }

    assert ids(first) == {"ann": ["m1", "m2"], "bob": ["m1"]}
    assert ids(second) == {"ann": [], "bob": ["m3"]}
    assert await tap.take() == {"ann": [], "bob": []}


async def test_a_broker_that_is_not_there_is_told_as_such() -> None:
    with pytest.raises(BrokerUnavailable):
        async with tapped("amqp://guest:guest@127.0.0.1:1/", {"ann": ["user.ann"]}):
            pass
