"""The broker and the database that tests run against, real ones in every case.

`AMQP_URL` and `MONGODB_URL` where they are set; else containers, where a Docker Engine has the
images; else processes on this machine. One broker and one database serve all tests of a worker:
each test gets a virtual host and a database prefix of its own.
"""

import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from yarl import URL

from contactmesh.local.database import EmbeddedDatabase
from contactmesh.local.docker import engine_has_image
from contactmesh.local.management import BrokerManagement
from contactmesh.local.ports import LOOPBACK, free_ports
from contactmesh.local.process import Process, ProcessSpec
from contactmesh.local.rabbitmq import IMAGE, BrokerPorts, RabbitMQNode, epmd_answers, find_rabbitmq
from contactmesh.local.waiting import accepts_connections, until
from contactmesh.messaging.definitions import BrokerAccount, render_definitions, service_account
from contactmesh.messaging.topology import SERVICES

MONGODB_IMAGE = "mongo:8"
START_SECONDS = 90


@dataclass(frozen=True)
class Backends:
    """One broker and one database.

    Attributes:
        amqp_url: The broker's virtual host `/`, as an administrator.
        management_url: The management API, credentials included, as an administrator.
        mongodb_url: The database server.
        identity_port: Where the broker asks about accounts that it does not know.
        mqtt_url: The broker by MQTT, without a virtual host; none if it offers no MQTT.
        accounts: The service accounts and the administrator's; none for a broker from the
            environment.
    """

    amqp_url: str
    management_url: str
    mongodb_url: str
    identity_port: int
    mqtt_url: str | None
    accounts: Mapping[str, BrokerAccount] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Broker:
    """A virtual host with the whole topology, for one test.

    Attributes:
        url: The virtual host, as an administrator.
        management_url: The management API, credentials included, as an administrator.
        vhost: The virtual host's name.
        identity_port: Where the broker asks about accounts that it does not know.
        mqtt_url: The virtual host as a terminal is told it for MQTT; none without MQTT.
    """

    url: str
    management_url: str
    vhost: str
    identity_port: int
    mqtt_url: str | None
    accounts: Mapping[str, BrokerAccount] = field(repr=False)

    @property
    def terminal_url(self) -> str:
        """What a terminal is told: the virtual host without credentials."""
        return str(URL(self.url).with_user(None))

    def service_url(self, service: str) -> str:
        """The virtual host with the account of `service` and its narrow rights.

        A broker from the environment has no such accounts: there it is the administrator's.
        """
        account = self.accounts.get(service)
        if account is None:
            return self.url
        return str(URL(self.url).with_user(account.name).with_password(account.password))


@asynccontextmanager
async def running_backends(folder: Path) -> AsyncIterator[Backends]:
    """Give a broker and a database; what had to be started lives in `folder` and ends after."""
    in_containers = all(
        engine_has_image(image)
        for image in (IMAGE, MONGODB_IMAGE, testcontainers_config.ryuk_image)
    )
    async with AsyncExitStack() as running:
        mongodb_url = os.environ.get("MONGODB_URL")
        if mongodb_url is None:
            start_database = _database_container if in_containers else _database_process
            mongodb_url = await start_database(folder, running)
        (identity_port,) = free_ports(1)
        amqp_url = os.environ.get("AMQP_URL")
        if amqp_url is not None:
            yield Backends(
                amqp_url=amqp_url,
                management_url=os.environ["CONTACTMESH_BROKER_MANAGEMENT_URL"],
                mongodb_url=mongodb_url,
                identity_port=int(os.environ.get("CONTACTMESH_IDENTITY_PORT", identity_port)),
                mqtt_url=os.environ.get("CONTACTMESH_TERMINAL_MQTT_URL"),
            )
            return
        ports = BrokerPorts(*free_ports(5, avoiding=[identity_port]))
        accounts = _accounts()
        operator = f"operator:{accounts['operator'].password}@{LOOPBACK}"
        management_url = f"http://{operator}:{ports.management}"
        node = RabbitMQNode(
            folder=folder / "broker",
            ports=ports,
            identity_port=identity_port,
            server=None if in_containers else find_rabbitmq(),
        )
        node.prepare(render_definitions(list(accounts.values())))
        if in_containers:
            _broker_container(node, running)
        else:
            await _broker_processes(node, running)
        async with BrokerManagement(management_url) as management:
            for port in (ports.amqp, ports.mqtt):
                await until(partial(management.listens, port), seconds=START_SECONDS)
        yield Backends(
            amqp_url=f"amqp://{operator}:{ports.amqp}/",
            management_url=management_url,
            mongodb_url=mongodb_url,
            identity_port=identity_port,
            mqtt_url=f"mqtt://{LOOPBACK}:{ports.mqtt}",
            accounts=accounts,
        )


@asynccontextmanager
async def fresh_vhost(backends: Backends) -> AsyncIterator[Broker]:
    """Give a virtual host with the whole topology; it is deleted after."""
    vhost = f"test-{secrets.token_hex(6)}"
    operator = URL(backends.amqp_url).user or "operator"
    accounts = backends.accounts or {operator: _administrator(operator, "")}
    definitions = render_definitions(list(accounts.values()), vhost=vhost)
    del definitions["users"]  # they are there; only the rights in this virtual host are new
    async with BrokerManagement(backends.management_url) as management:
        await management.import_definitions(definitions)
        try:
            yield Broker(
                url=str(URL(backends.amqp_url).with_path(vhost)),
                management_url=backends.management_url,
                vhost=vhost,
                identity_port=backends.identity_port,
                mqtt_url=None if backends.mqtt_url is None else f"{backends.mqtt_url}/{vhost}",
                accounts=backends.accounts,
            )
        finally:
            await management.delete_vhost(vhost)


def drop_databases(mongodb_url: str, prefix: str) -> None:
    """Drop every database whose name begins with `prefix`."""
    with MongoClient[dict[str, Any]](mongodb_url) as client:
        for name in client.list_database_names():
            if name.startswith(prefix):
                client.drop_database(name)


def _accounts() -> dict[str, BrokerAccount]:
    services = {
        topology.service: service_account(topology.service, secrets.token_hex(8))
        for topology in SERVICES
    }
    return services | {"operator": _administrator("operator", secrets.token_hex(8))}


def _administrator(name: str, password: str) -> BrokerAccount:
    return BrokerAccount(
        name, password, tags=("administrator",), configure=".*", write=".*", read=".*"
    )


async def _start(spec: ProcessSpec, running: AsyncExitStack) -> None:
    process = await Process.start(spec, log=spec.folder / f"{spec.name}.log")
    running.push_async_callback(process.wait)
    running.callback(process.kill)  # its data is thrown away: nothing to stop cleanly for


async def _broker_processes(node: RabbitMQNode, running: AsyncExitStack) -> None:
    epmd = node.epmd()
    assert epmd is not None, "a node outside a container has an epmd"
    await _start(epmd, running)
    await until(lambda: epmd_answers(node.ports.epmd), seconds=START_SECONDS)
    await _start(node.broker(), running)


async def _database_process(folder: Path, running: AsyncExitStack) -> str:
    (port,) = free_ports(1)
    database = EmbeddedDatabase(folder / "database", port)
    database.prepare()
    await _start(database.server(), running)
    await until(lambda: accepts_connections(LOOPBACK, port), seconds=START_SECONDS)
    # Without what its address asks for: services have to ask for majority writes by themselves.
    return f"mongodb://{LOOPBACK}:{port}/?directConnection=true"


def _broker_container(node: RabbitMQNode, running: AsyncExitStack) -> None:
    # On the host's network, and with the same folder, the node's files hold as they are.
    environment = node.environment()
    container = (
        DockerContainer(IMAGE)
        .with_envs(**environment)
        .with_volume_mapping(str(node.folder), str(node.folder), "rw")
        .with_command("rabbitmq-server")
        .with_kwargs(
            network_mode="host",
            user=f"{os.getuid()}:{os.getgid()}",
            working_dir=str(node.folder),
        )
    )
    running.enter_context(container)


async def _database_container(folder: Path, running: AsyncExitStack) -> str:
    (port,) = free_ports(1)
    running.enter_context(
        DockerContainer(MONGODB_IMAGE)
        .with_command(["--replSet", "tests", "--bind_ip", LOOPBACK, "--port", str(port)])
        .with_kwargs(network_mode="host")
    )
    url = f"mongodb://{LOOPBACK}:{port}/?directConnection=true"
    member = {"_id": 0, "host": f"{LOOPBACK}:{port}"}
    await until(lambda: accepts_connections(LOOPBACK, port), seconds=START_SECONDS)
    with MongoClient[dict[str, Any]](url) as client:
        client.admin.command("replSetInitiate", {"_id": "tests", "members": [member]})

        async def is_primary() -> bool:
            try:
                return bool(client.admin.command("hello")["isWritablePrimary"])
            except PyMongoError:
                return False

        await until(is_primary, seconds=START_SECONDS)
    return url
