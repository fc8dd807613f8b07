"""The broker and the database of a stack: its own, or those that it was given."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from pydantic import SecretStr
from yarl import URL

from contactmesh.local.database import EmbeddedDatabase
from contactmesh.local.management import BrokerManagement
from contactmesh.local.ports import LOOPBACK
from contactmesh.local.process import ProcessSpec
from contactmesh.local.rabbitmq import BrokerPorts, RabbitMQNode, epmd_answers, find_rabbitmq
from contactmesh.local.secrets import StackSecrets
from contactmesh.local.settings import SERVICE_NAMES, StackSettings
from contactmesh.local.waiting import accepts_connections
from contactmesh.messaging.definitions import render_definitions

Supervise = Callable[[ProcessSpec, Callable[[], Awaitable[bool]]], Awaitable[None]]
"""Starts a process, waits until it is ready, and has it stopped when the stack stops."""

PORT_NAMES = ("amqp", "management", "distribution", "epmd", "mqtt", "database")


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as services use it.

    Attributes:
        url: The virtual host, as the stack's operator.
        service_urls: The virtual host with the account of each service that has one.
        management_url: The management API with an administrator's account, if there is one.
        mqtt_url: The virtual host as terminals reach it by MQTT, without credentials, if they can.
    """

    url: str = field(repr=False)
    service_urls: Mapping[str, str] = field(repr=False)
    management_url: str | None = field(repr=False)
    mqtt_url: str | None

    @property
    def terminal_url(self) -> str:
        """The virtual host as terminals are told it: without credentials."""
        return str(URL(self.url).with_user(None))

    def service_url(self, service: str) -> str:
        """The virtual host as ``service`` uses it."""
        return self.service_urls.get(service, self.url)


async def given_broker(settings: StackSettings, url: SecretStr) -> Broker:
    """Use the broker at ``url``; declare the topology there if its management API is known.

    Raises:
        BrokerManagementError: The management API refused.
    """
    management_url: str | None = None
    if settings.broker_management_url is not None:
        management_url = settings.broker_management_url.get_secret_value()
        vhost = unquote(URL(url.get_secret_value()).raw_path[1:]) or "/"
        async with BrokerManagement(management_url) as management:
            await management.import_definitions(render_definitions([], vhost=vhost))
    return Broker(
        url=url.get_secret_value(),
        service_urls={
            service: service_url.get_secret_value()
            for service, service_url in settings.service_amqp_urls.items()
        },
        management_url=management_url,
        mqtt_url=settings.terminal_mqtt_url,
    )


async def private_broker(
    settings: StackSettings,
    secrets: StackSecrets,
    ports: Mapping[str, int],
    identity_port: int,
    supervise: Supervise,
) -> Broker:
    """Start a node in the stack's data folder.

    Raises:
        NotInstalledError: There is no RabbitMQ.
        DidNotStartError: The node did not come up.
    """
    node = RabbitMQNode(
        folder=settings.data / "broker",
        ports=BrokerPorts(*(ports[name] for name in PORT_NAMES[:5])),
        identity_port=identity_port,
        server=find_rabbitmq(),
    )
    operator = secrets.operator_account()
    accounts = [secrets.service_account(service) for service in SERVICE_NAMES]
    node.prepare(render_definitions([operator, *accounts]))
    url = URL.build(
        scheme="amqp",
        user=operator.name,
        password=operator.password,
        host=LOOPBACK,
        port=node.ports.amqp,
        path="/",
    )
    management_url = str(url.with_scheme("http").with_port(node.ports.management)).rstrip("/")
    epmd = node.epmd()
    if epmd is not None:
        await supervise(epmd, lambda: epmd_answers(node.ports.epmd))
    async with BrokerManagement(management_url) as management:
        await supervise(node.broker(), lambda: management.listens(node.ports.amqp))
    return Broker(
        url=str(url),
        service_urls={
            account.name: str(url.with_user(account.name).with_password(account.password))
            for account in accounts
        },
        management_url=management_url,
        mqtt_url=f"mqtt://{LOOPBACK}:{node.ports.mqtt}/",
    )


async def embedded_database(
    settings: StackSettings, ports: Mapping[str, int], supervise: Supervise
) -> str:
    """Start the embedded database in the stack's data folder and give its URL.

    Raises:
        NotInstalledError: It is not installed.
        DidNotStartError: It did not come up.
    """
    database = EmbeddedDatabase(settings.data / "database", ports["database"])
    database.prepare()
    await supervise(database.server(), lambda: accepts_connections(LOOPBACK, database.port))
    return database.url
