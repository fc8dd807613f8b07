"""The topology as RabbitMQ definitions, for the broker's own import."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from contactmesh.messaging.topology import (
    DEAD,
    EXCHANGE_BINDINGS,
    EXCHANGES,
    MQTT,
    SERVICES,
    policies,
)


@dataclass(frozen=True, slots=True)
class BrokerAccount:
    """A user of the broker's own, with its rights in the virtual host as regular expressions."""

    name: str
    password: str
    tags: tuple[str, ...] = ()
    configure: str = "^$"
    write: str = "^$"
    read: str = "^$"


def service_account(service: str, password: str) -> BrokerAccount:
    """The account of a service, with what that service needs and no more.

    Raises:
        KeyError: there is no such service.
    """
    own = rf"{service}\..*"
    exchanges = r"contactmesh\.(commands|events|terminals|dead)"
    grants = {
        "identity_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|(terminal|integrator)\..*|mqtt-subscription-.*)$",
            write=r"^(contactmesh\.events|(terminal|integrator)\..*)$",
            read=r"^contactmesh\.(events|terminals)$",
        ),
        "group_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|{own})$",
            write=rf"^(contactmesh\.(events|terminals|dead)|{own})$",
            read=rf"^(contactmesh\.(commands|events|dead)|{own})$",
        ),
        "fanout_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|{own})$",
            write=rf"^(contactmesh\.(events|terminals|dead)|{own})$",
            read=rf"^(contactmesh\.(events|dead)|{own})$",
        ),
        "carrier_registry_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|{own})$",
            write=rf"^(contactmesh\.(events|terminals|dead)|{own})$",
            read=rf"^(contactmesh\.(commands|events|dead)|{own})$",
        ),
        "multi_sim_replication_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|{own})$",
            write=rf"^(contactmesh\.(events|terminals|dead)|{own})$",
            read=rf"^(contactmesh\.(commands|events|dead)|{own})$",
        ),
        "sync_service": BrokerAccount(
            service,
            password,
            configure=rf"^({exchanges}|{own})$",
            write=rf"^(contactmesh\.(events|terminals|dead)|{own})$",
            read=rf"^(contactmesh\.(commands|events|dead)|{own})$",
        ),
    }
    return grants[service]


def render_definitions(
    accounts: Sequence[BrokerAccount], *, vhost: str = "/"
) -> dict[str, JsonValue]:
    """Everything that a broker needs before the first service starts.

    The result is what the management API's `definitions` and the broker's `load_definitions`
    setting take.
    """
    queues = [queue for service in SERVICES for queue in service.queues]
    return {
        "vhosts": [{"name": vhost}],
        "users": [
            {"name": account.name, "password": account.password, "tags": list(account.tags)}
            for account in accounts
        ],
        "permissions": [
            {
                "user": account.name,
                "vhost": vhost,
                "configure": account.configure,
                "write": account.write,
                "read": account.read,
            }
            for account in accounts
        ],
        "exchanges": [
            {
                "name": name,
                "vhost": vhost,
                "type": "topic",
                "durable": True,
                "auto_delete": False,
                "internal": False,
                "arguments": {},
            }
            for name in (*EXCHANGES, MQTT)
        ],
        "queues": [
            {
                "name": name,
                "vhost": vhost,
                "durable": True,
                "auto_delete": False,
                "arguments": {"x-queue-type": "quorum"},
            }
            for queue in queues
            for name in (queue.name, queue.parking)
        ],
        "bindings": [
            {
                "source": source,
                "vhost": vhost,
                "destination": destination,
                "destination_type": kind,
                "routing_key": key,
                "arguments": {},
            }
            for source, kind, destination, key in _bindings()
        ],
        "policies": [
            {
                "name": policy.name,
                "vhost": vhost,
                "pattern": policy.pattern,
                "apply-to": "queues",
                "priority": 0,
                "definition": policy.definition,
            }
            for policy in policies()
        ],
    }


def _bindings() -> Iterator[tuple[str, str, str, str]]:
    """Source, kind of destination, destination and key of every binding."""
    for queue in (queue for service in SERVICES for queue in service.queues):
        for binding in queue.bindings:
            yield binding.exchange, "queue", queue.name, binding.key
        yield DEAD, "queue", queue.parking, queue.name
    for joined in EXCHANGE_BINDINGS:
        yield joined.source, "exchange", joined.destination, joined.key


if __name__ == "__main__":
    json.dump(render_definitions([]), sys.stdout, indent=2)
