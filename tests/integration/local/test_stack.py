"""Whole stacks: on the worker's broker and database, and on their own."""

from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE
from typing import Any

import aio_pika
import pytest
from aio_pika import DeliveryMode, Message
from aiohttp import ClientSession
from pymongo import MongoClient
from tests.backends import Broker
from tests.integration.local.processes import listening_elsewhere, processes_naming
from tests.integration.local.script_service import script_services
from yarl import URL

from contactmesh.local.errors import (
    BrokerManagementError,
    DidNotStartError,
    NoStackRunsError,
    StackRunsAlreadyError,
    StackSettingsError,
)
from contactmesh.local.management import BrokerManagement
from contactmesh.local.settings import SERVICE_NAMES
from contactmesh.local.stack import Stack, StackSettings, Step, find_stack
from contactmesh.local.supervisor import SupervisedProcess
from contactmesh.local.waiting import until


@pytest.fixture
def scripts(tmp_path: Path) -> dict[str, dict[str, str]]:
    return script_services(tmp_path / "script services")


@pytest.fixture
def settings(
    stack_settings: StackSettings, scripts: Mapping[str, Mapping[str, str]]
) -> StackSettings:
    """On the worker's broker and database, with scripts for services."""
    return stack_settings.model_copy(update={"environment": scripts})


@pytest.fixture
def own(tmp_path: Path, scripts: Mapping[str, Mapping[str, str]]) -> StackSettings:
    """With a broker and a database of its own, whatever the environment offers."""
    return StackSettings(
        data=tmp_path / "own data",
        amqp_url=None,
        mongodb_url=None,
        broker_management_url=None,
        identity_port=None,
        environment=scripts,
    )


async def environment_of(http_port: int) -> dict[str, str]:
    async with (
        ClientSession() as session,
        session.get(f"http://127.0.0.1:{http_port}/readyz") as answer,
    ):
        environment: dict[str, str] = await answer.json(content_type=None)
        return environment


def read_private(file: Path) -> int:
    """Give the number of bytes in a file of hex digits that only its owner may read."""
    assert S_IMODE(file.stat().st_mode) == 0o600
    return len(bytes.fromhex(file.read_text()))


async def until_started_again(process: SupervisedProcess) -> None:
    async def is_back() -> bool:
        return process.deaths > 0 and process.pid is not None

    await until(is_back, seconds=60)


async def publish(url: str, body: bytes) -> None:
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        message = Message(body, delivery_mode=DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, "group_service.events")


async def consume(url: str) -> bytes:
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue("group_service.events", passive=True)
        message = await queue.get(timeout=30)
        await message.ack()
        return message.body


async def test_services_are_told_what_they_need_and_no_more(
    settings: StackSettings, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTACTMESH_FAULT_POINT", "of somebody else")
    async with Stack(settings) as stack:
        told = {service.name: await environment_of(service.http_port) for service in stack.services}
        identity = told["identity_service"]
        assert stack.services[0].http_port == broker.identity_port
    for name, environment in told.items():
        assert environment["AMQP_URL"] == broker.service_url(name)
        assert environment["MONGODB_URL"] == stack.mongodb_url
        assert environment["CONTACTMESH_DATABASE_PREFIX"] == settings.database_prefix
        assert "CONTACTMESH_FAULT_POINT" not in environment
        assert ("CONTACTMESH_OPERATOR_TOKEN_FILE" in environment) == (name == "identity_service")
        sealing = name in ("group_service", "sync_service")
        assert ("CONTACTMESH_CURSOR_KEY_FILE" in environment) == sealing
    assert identity["CONTACTMESH_TERMINAL_AMQP_URL"] == broker.terminal_url
    assert identity.get("CONTACTMESH_TERMINAL_MQTT_URL") == broker.mqtt_url
    assert identity["CONTACTMESH_BROKER_MANAGEMENT_URL"] == broker.management_url
    token = Path(identity["CONTACTMESH_OPERATOR_TOKEN_FILE"])
    assert token == stack.operator_token_file
    assert read_private(token) == 32


async def test_copies_are_killed_stopped_and_started_one_by_one(settings: StackSettings) -> None:
    settings = settings.model_copy(update={"scale": {"group_service": 3}})
    async with Stack(settings) as stack:
        names = [(service.name, service.copy_number) for service in stack.services]
        assert names == [
            ("identity_service", 1),
            *(("group_service", copy) for copy in (1, 2, 3)),
            ("fanout_service", 1),
            ("carrier_registry_service", 1),
            ("multi_sim_replication_service", 1),
            ("sync_service", 1),
        ]

        def pids() -> list[int | None]:
            return [service.pid for service in stack.services]

        before = pids()
        stack.kill("group_service", 2)

        async def is_back() -> bool:
            return pids()[2] not in (before[2], None)

        await until(is_back, seconds=20)
        await stack.until_ready()
        assert find_stack(settings.data) == stack.info
        await stack.stop("group_service", 3)
        assert pids()[3] is None
        assert find_stack(settings.data).services[3].pid is None
        await stack.until_ready()  # does not wait for what was stopped
        await stack.start("group_service", 3, environment={"CONTACTMESH_FAULT_POINT": "here"})
        environment = await environment_of(stack.services[3].http_port)
        assert environment["CONTACTMESH_FAULT_POINT"] == "here"
        after = pids()
        assert [pid for pid in after if pid in before] == [*before[:2], *before[4:]]
        with pytest.raises(StackSettingsError, match="no group_service#4"):
            stack.kill("group_service", 4)


async def test_two_stacks_run_side_by_side_and_two_on_one_folder_do_not(
    settings: StackSettings, tmp_path: Path
) -> None:
    other = settings.model_copy(update={"data": tmp_path / "other", "identity_port": None})
    async with Stack(settings) as one, Stack(other) as two:
        ports = [service.http_port for stack in (one, two) for service in stack.services]
        assert len(set(ports)) == 2 * len(SERVICE_NAMES)
        with pytest.raises(StackRunsAlreadyError, match="already"):
            await Stack(settings).__aenter__()
        assert find_stack(settings.data) == one.info  # and the refused one took nothing away
    with pytest.raises(NoStackRunsError):
        find_stack(settings.data)


async def test_a_service_that_cannot_start_ends_the_start_with_its_last_words(
    settings: StackSettings, scripts: dict[str, dict[str, str]]
) -> None:
    dying = {**scripts, "fanout_service": {**scripts["fanout_service"], "DIE": "no reason"}}
    with pytest.raises(
        DidNotStartError,
        match=r"fanout_service#1 ended with exit status 1.*go on: no reason",
    ):
        await Stack(settings.model_copy(update={"environment": dying})).__aenter__()
    assert not processes_naming(str(settings.data.parent))


async def test_a_wrong_management_address_is_told_without_its_password(
    settings: StackSettings,
) -> None:
    wrong = StackSettings(
        **{
            **settings.model_dump(),
            "broker_management_url": "http://operator:hidden-word@127.0.0.1:1",
        }
    )
    with pytest.raises(BrokerManagementError, match=r"127\.0\.0\.1:1 cannot be reached") as caught:
        await Stack(wrong).__aenter__()
    assert "hidden-word" not in str(caught.value)


async def test_hastening_kills_who_does_not_heed(
    settings: StackSettings, scripts: dict[str, dict[str, str]]
) -> None:
    deaf = {**scripts, "group_service": {**scripts["group_service"], "DEAF": "yes"}}
    stack = Stack(
        settings.model_copy(update={"environment": deaf, "grace_seconds": 600.0}),
        watcher=lambda name, step: (
            stack.hasten() if (name, step) == ("fanout_service#1", Step.STOPPED) else None
        ),
    )
    async with stack:
        pass
    assert not processes_naming(str(settings.data.parent))


@pytest.mark.timeout(300)  # it starts a broker twice
async def test_a_stack_of_its_own_survives_the_death_of_its_servers(own: StackSettings) -> None:
    steps: list[tuple[str, Step]] = []
    async with Stack(own, watcher=lambda name, step: steps.append((name, step))) as stack:
        servers = {process.name: process for process in stack._supervised}
        passwords = [path.read_text() for path in (own.data / "secrets").iterdir()]
        running = processes_naming(str(own.data.parent))
        for command in running.values():
            assert not any(password in command for password in passwords)
        assert not listening_elsewhere(running)
        await publish(stack.amqp_url, b"kept")
        with MongoClient[dict[str, Any]](stack.mongodb_url) as client:
            client.test.kept.insert_one({"_id": 1})
            servers["database"].kill()
            servers["broker"].kill()
            for name in ("database", "broker"):
                await until_started_again(servers[name])
            assert client.test.kept.find_one() == {"_id": 1}
        assert stack.broker_management_url is not None
        amqp_port = URL(stack.amqp_url).port or 0
        async with BrokerManagement(stack.broker_management_url) as management:
            await until(lambda: management.listens(amqp_port), seconds=60)
        assert await consume(stack.amqp_url) == b"kept"
        urls = (stack.amqp_url, stack.mongodb_url, stack.identity_url)
        pids = [process.pid for process in servers.values()]
    assert None not in pids
    assert not processes_naming(str(own.data.parent))
    assert not (own.data / "stack.json").exists()
    order = [name for name, step in steps if step is Step.STOPPED]
    assert order[-3:] == ["database", "broker", "epmd"]
    # the same data folder has the same ports, passwords and data
    async with Stack(own) as stack:
        assert (stack.amqp_url, stack.mongodb_url, stack.identity_url) == urls
        with MongoClient[dict[str, Any]](stack.mongodb_url) as client:
            assert client.test.kept.find_one() == {"_id": 1}
        stack.hasten()  # enough was shown; the broker's clean stop takes seconds


async def test_the_services_themselves_come_up_and_answer(stack: Stack) -> None:
    async with ClientSession() as session:
        for service in stack.services:
            for path in ("livez", "readyz", "metrics", "version"):
                url = f"http://127.0.0.1:{service.http_port}/{path}"
                async with session.get(url) as answer:
                    assert answer.status == 200, (service.name, path)
