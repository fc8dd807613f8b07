"""A revoked terminal is out: at once, for good, and also when the broker was away meanwhile."""

import contextlib
from datetime import timedelta
from http import HTTPStatus

import aio_pika
import pytest
from aio_pika.abc import AbstractConnection, AbstractQueue
from aio_pika.exceptions import AMQPError
from tests.backends import Broker

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import Credentials, TerminalEnrolled, TerminalRevoked
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import EVENTS

from .breakable_line import breakable_line
from .conftest import Identity, RunIdentity, connect

PATIENCE = 20


async def queue_exists(broker: Broker, name: str) -> bool:
    async with await aio_pika.connect(broker.url) as connection:
        channel = await connection.channel()
        try:
            await channel.declare_queue(name, passive=True)
        except AMQPError:
            return False
        return True


async def gone(broker: Broker, name: str) -> bool:
    return not await queue_exists(broker, name)


async def wait_until_closed(connection: AbstractConnection) -> None:
    async def closed() -> bool:
        return not connection.connected.is_set()

    await until(closed, seconds=PATIENCE)


async def events(broker: AbstractConnection) -> AbstractQueue:
    queue = await (await broker.channel()).declare_queue(exclusive=True)
    await queue.bind(EVENTS, "terminal.*")
    await queue.bind(EVENTS, "user.*")
    return queue


async def next_event(queue: AbstractQueue) -> Envelope:
    received: list[bytes] = []

    async def arrived() -> bool:
        message = await queue.get(no_ack=True, fail=False)
        if message is not None:
            received.append(message.body)
        return bool(received)

    await until(arrived, seconds=PATIENCE)
    return Envelope.decode(received[0])


async def test_secret_queue_and_connection_are_gone(identity: Identity, broker: Broker) -> None:
    ada = await identity.enrolled("ada")
    connection = await connect(ada)
    assert (await identity.revoke(ada.terminal_id)).status == HTTPStatus.NO_CONTENT
    await wait_until_closed(connection)
    assert await gone(broker, ada.queue)
    answer = await identity.make_queue(ada.terminal_id, ada.terminal_id, ada.secret)
    assert answer.error.code is ErrorCode.UNAUTHENTICATED
    assert (
        await identity.broker_asks("user", username=ada.terminal_id, password=ada.secret) == "deny"
    )
    vhost = await identity.broker_asks("vhost", username=ada.terminal_id, vhost=broker.vhost)
    assert vhost == "deny"


async def test_other_terminals_of_the_user_stay(identity: Identity) -> None:
    phone, tablet = await identity.enrolled("ada"), await identity.enrolled("ada")
    await identity.revoke(phone.terminal_id)
    async with await connect(tablet):
        pass


async def test_revoking_again_changes_nothing(identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    for _ in range(2):
        assert (await identity.revoke(ada.terminal_id)).status == HTTPStatus.NO_CONTENT
    listed = await identity.ask("GET", "v1/users/ada/terminals")
    (row,) = listed.body["terminals"]
    assert row["revoked_at"] is not None
    users = await identity.ask("GET", "v1/users")
    assert users.body["users"] == [{"user_id": "ada", "display_name": "Ada", "terminals": 0}]


async def test_unknown_terminal_cannot_be_revoked(identity: Identity) -> None:
    answer = await identity.revoke("ada_aaaaaaaa")
    assert (answer.status, answer.error.code) == (HTTPStatus.NOT_FOUND, ErrorCode.NOT_FOUND)


async def test_each_step_is_told_to_the_other_services(identity: Identity, broker: Broker) -> None:
    async with await aio_pika.connect(broker.url) as connection:
        queue = await events(connection)
        ada = await identity.enrolled("ada")
        await identity.revoke(ada.terminal_id)
        told = [await next_event(queue) for _ in range(3)]
    assert [event.type for event in told] == [
        "user.registered",
        "terminal.enrolled",
        "terminal.revoked",
    ]
    assert told[0].data == {"user_id": "ada"}
    assert TerminalEnrolled.model_validate(told[1].data).terminal_id == ada.terminal_id
    assert TerminalRevoked.model_validate(told[2].data).user_id == "ada"


async def test_terminal_that_slipped_back_in_is_thrown_out_once_more(
    run_identity: RunIdentity, broker: Broker
) -> None:
    # Connecting before it is revoked makes the broker remember the answer; a broker that remembers
    # none does not let it in again, which is as good.
    async with run_identity(broker_cache_lifetime=timedelta(seconds=3)) as identity:
        ada = await identity.enrolled("ada")
        async with await connect(ada):
            await identity.revoke(ada.terminal_id)
        with contextlib.suppress(AMQPError):
            await wait_until_closed(await connect(ada))


@pytest.mark.parametrize("restarted", [False, True], ids=["running on", "restarted"])
async def test_broker_that_was_away_is_told_when_it_is_back(
    run_identity: RunIdentity, broker: Broker, *, restarted: bool
) -> None:
    async with (
        breakable_line(broker.service_url("identity_service")) as line,
        breakable_line(broker.management_url) as management,
        await aio_pika.connect(broker.url) as observer,
    ):
        usual = {"AMQP_URL": line.url, "broker_management_url": management.url}
        queue = await events(observer)
        async with run_identity(**usual) as identity:
            ada = await identity.enrolled("ada")
            connection = await connect(ada)
            assert [(await next_event(queue)).type for _ in range(2)][1] == "terminal.enrolled"
            await line.cut()
            await management.cut()
            assert (await identity.revoke(ada.terminal_id)).status == HTTPStatus.NO_CONTENT
            answer = await identity.make_queue(ada.terminal_id, ada.terminal_id, ada.secret)
            assert answer.status == HTTPStatus.UNAUTHORIZED
            assert await queue_exists(broker, ada.queue)
            if not restarted:
                await line.mend()
                await management.mend()
                await until(lambda: gone(broker, ada.queue), seconds=PATIENCE)
        if restarted:
            await line.mend()
            await management.mend()
            async with run_identity(**usual):
                await until(lambda: gone(broker, ada.queue), seconds=PATIENCE)
        await wait_until_closed(connection)
        if not restarted:
            assert (await next_event(queue)).type == "terminal.revoked"


async def test_code_is_not_used_up_while_the_broker_is_away(
    run_identity: RunIdentity, broker: Broker
) -> None:
    async with (
        breakable_line(broker.service_url("identity_service")) as line,
        run_identity(AMQP_URL=line.url) as identity,
    ):
        await identity.register("ada")
        code = await identity.mint("ada")
        await line.cut()
        refused = await identity.try_enrol(code)
        assert refused.status == HTTPStatus.SERVICE_UNAVAILABLE
        assert refused.error.code is ErrorCode.UNAVAILABLE
        await line.mend()
        answer = await identity.try_enrol(code)
        assert answer.status == HTTPStatus.CREATED
        assert await queue_exists(broker, Credentials.model_validate(answer.body).queue)
