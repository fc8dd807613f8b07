"""Carriers enrol as users do, and the broker lets them send and read their own alone."""

import aio_pika
import aiormq
import pytest
from aio_pika.exceptions import AMQPError
from tests.backends import Broker

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import COMMANDS

from .conftest import Identity, connect

CN_MOBILE = {"carrier_id": "cn-mobile", "name": "中国移动"}


async def carrier_terminal(identity: Identity) -> Credentials:
    added = await identity.ask("POST", "v1/carriers", CN_MOBILE)
    assert (added.status, added.body) == (200, {**CN_MOBILE, "terminals": 0})
    minted = await identity.ask("POST", "v1/carriers/cn-mobile/enrolment-codes")
    assert minted.status == 201
    answer = await identity.try_enrol(minted.body["code"], "feed")
    assert answer.status == 201, answer.body
    return Credentials.model_validate(answer.body)


async def test_carrier_is_added_lets_a_terminal_in_and_is_listed(identity: Identity) -> None:
    terminal = await carrier_terminal(identity)
    assert terminal.terminal_id.startswith("carrier_cn-mobile_")
    assert terminal.display_name == "中国移动"
    listed = await identity.ask("GET", "v1/carriers")
    assert listed.body == {"carriers": [{**CN_MOBILE, "terminals": 1}], "next": None}
    terminals = await identity.ask("GET", "v1/carriers/cn-mobile/terminals")
    assert [row["terminal_id"] for row in terminals.body["terminals"]] == [terminal.terminal_id]
    assert (await identity.ask("GET", "v1/users")).body["users"] == [], "a carrier is no user"


async def test_carriers_are_added_by_operators_alone(identity: Identity) -> None:
    for method, path in (
        ("POST", "v1/carriers"),
        ("GET", "v1/carriers"),
        ("POST", "v1/carriers/cn-mobile/enrolment-codes"),
    ):
        refused = await identity.ask(method, path, CN_MOBILE, authorization=None)
        assert refused.status == 401


async def test_a_carrier_that_is_not_there_gets_no_code(identity: Identity) -> None:
    refused = await identity.ask("POST", "v1/carriers/nobody/enrolment-codes")
    assert refused.status == 404
    assert refused.error.message == "There is no carrier nobody. Add the carrier first."


async def test_broker_lets_a_carrier_send_its_own_commands_alone(
    identity: Identity, broker: Broker
) -> None:
    carrier = await carrier_terminal(identity)
    ada = await identity.enrolled("ada")
    async with await aio_pika.connect(broker.url) as service, await connect(carrier) as connection:
        channel = await connection.channel()
        raw = await channel.get_underlay_channel()
        queue = await (await service.channel()).get_queue("carrier_registry_service.commands")
        key = f"command.{carrier.terminal_id}.carrier_registry_service.feed"
        await raw.basic_publish(b"{}", exchange=COMMANDS, routing_key=key)
        received = await queue.get(no_ack=True, timeout=5)
        assert received.routing_key == key
        with pytest.raises(
            (AMQPError, aiormq.exceptions.ChannelInvalidStateError), match="REFUSED"
        ):
            await raw.basic_publish(
                b"{}",
                exchange=COMMANDS,
                routing_key=f"command.{ada.terminal_id}.carrier_registry_service.grant",
            )


async def test_a_revoked_carrier_is_shut_out(identity: Identity) -> None:
    carrier = await carrier_terminal(identity)
    assert (await identity.revoke(carrier.terminal_id)).status == 204
    with pytest.raises(AMQPError):
        await connect(carrier)
