"""Every exchange, queue, binding and policy on the broker, in one place (DESIGN §4).

Services declare what they need from here at start, `definitions` renders the same for the broker's
own import. Limits, expiry and dead-lettering are policies, because a queue's arguments cannot
change without deleting it.
"""

from dataclasses import dataclass, field
from typing import Any

COMMANDS = "contactmesh.commands"
EVENTS = "contactmesh.events"
TERMINALS = "contactmesh.terminals"
DEAD = "contactmesh.dead"
MQTT = "contactmesh.mqtt"
"""Where MQTT clients publish and what their subscriptions are bound to; no AMQP client uses it."""

EXCHANGES = (COMMANDS, EVENTS, TERMINALS, DEAD)
"""The durable topic exchanges that services declare."""

MAX_BODY_BYTES = 1024 * 1024
"""The largest command that a service reads; a larger one is refused unread."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""The largest event; an audience of a hundred thousand fits."""
BROKER_MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""What the broker takes at all. Above the others, so that a service can still answer with the
reason; below what a flood of such messages would make of a service's memory."""

TERMINAL_QUEUE_MESSAGES = 10_000
TERMINAL_QUEUE_BYTES = 64 * 1024 * 1024
TERMINAL_QUEUE_EXPIRY_MS = 30 * 24 * 3600 * 1000
INTEGRATOR_QUEUE_BYTES = 1024 * 1024 * 1024
MQTT_PREFETCH = 200
"""How many messages may be under way to a terminal that speaks MQTT."""
PARKING_BYTES = 1024 * 1024 * 1024
PARKING_LOOKS = 1_000_000
"""To look at a parked message counts as a delivery, and RabbitMQ 4 drops a message after 20."""
PARKING = (
    ("parking", "events", "reject-publish"),
    ("parking-commands", "commands", "drop-head"),
)
"""Policy, kind of parking queue, and what happens when it is full.

A terminal can fill that of the commands, since the broker parks what expired unread, and any sender
may let a message expire: were it to refuse more, dead commands would stay in the service's own
queue until that is full too. Commands are never played again, so the oldest may go. Events come
from services, are played again, and must stay.
"""
SERVICE_QUEUE_BYTES = 4 * 1024 * 1024 * 1024
DELIVERY_LIMIT = 100
"""Deliveries before the broker itself parks a message. High, since a killed service redelivers
everything that it had in hand, and what is poisonous the services find by themselves."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A queue bound to an exchange by a key."""

    exchange: str
    key: str


@dataclass(frozen=True, slots=True)
class ExchangeBinding:
    """An exchange bound to another one by a key."""

    source: str
    destination: str
    key: str


EXCHANGE_BINDINGS = (
    ExchangeBinding(MQTT, COMMANDS, "command.*.*.*"),
    ExchangeBinding(TERMINALS, MQTT, "terminal.*"),
    ExchangeBinding(TERMINALS, MQTT, "user.*"),
)
"""What joins MQTT to the rest. Like the policies they come with the definitions alone: to bind them
takes rights on both ends that no service is to have."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A service's queue: a durable quorum queue, with a parking queue beside it."""

    name: str
    bindings: tuple[Binding, ...]

    @property
    def parking(self) -> str:
        """Where a message goes that a person has to look at."""
        return f"{self.name}.dead"

    @property
    def brings_events(self) -> bool:
        """Whether what it brings comes from services alone."""
        return all(binding.exchange == EVENTS for binding in self.bindings)


@dataclass(frozen=True, slots=True)
class ServiceTopology:
    """The queues that a service consumes."""

    service: str
    handles_commands: bool = False
    events: tuple[str, ...] = field(default=())

    @property
    def commands_queue(self) -> Queue:
        """Where the service's commands arrive."""
        return Queue(
            f"{self.service}.commands", (Binding(COMMANDS, f"command.*.{self.service}.*"),)
        )

    @property
    def events_queue(self) -> Queue:
        """Where the events that the service listens to arrive."""
        return Queue(f"{self.service}.events", tuple(Binding(EVENTS, key) for key in self.events))

    @property
    def queues(self) -> tuple[Queue, ...]:
        """All queues of the service."""
        commands = (self.commands_queue,) if self.handles_commands else ()
        events = (self.events_queue,) if self.events else ()
        return commands + events


IDENTITY = ServiceTopology("identity_service")
GROUP = ServiceTopology(
    "group_service",
    handles_commands=True,
    events=(
        "contact.changed.book.own",
        "contact.changed.line",
        "group.audience.requested",
        "group.dissolved",
        "terminal.revoked",
    ),
)
FANOUT = ServiceTopology(
    "fanout_service",
    events=(
        "contact.changed.book.#",
        "contact.changed.card",
        "contact.changed.space",
        "group.created",
        "group.member.*",
        "group.block.*",
        "group.subscription.changed",
        "group.handed_over",
        "group.dissolved",
        "group.invitation.*",
        "group.audience.snapshot",
        "terminal.*",
    ),
)
REGISTRY = ServiceTopology(
    "carrier_registry_service",
    handles_commands=True,
    events=(
        "group.created",
        "group.member.*",
        "group.block.*",
        "group.subscription.changed",
        "group.dissolved",
        "group.audience.snapshot",
        "user.block.changed",
        "terminal.revoked",
        "registration.recycled",
    ),
)
MULTI_SIM = ServiceTopology(
    "multi_sim_replication_service",
    handles_commands=True,
    events=(
        "book.page",
        "contact.changed.book.#",
        "registration.recycled",
        "sim.removed",
        "space.catch_up",
        "space.changed",
        "terminal.revoked",
    ),
)
SYNC = ServiceTopology(
    "sync_service", handles_commands=True, events=("book.wanted", "terminal.revoked")
)
SERVICES = (IDENTITY, GROUP, FANOUT, REGISTRY, MULTI_SIM, SYNC)


@dataclass(frozen=True, slots=True)
class Policy:
    """A broker policy for the queues whose names match `pattern`."""

    name: str
    pattern: str
    definition: dict[str, Any]


def policies() -> tuple[Policy, ...]:
    """Every policy.

    Each service queue has one of its own, because its parking queue is found by the dead-letter
    key, without which a dead message would go to all of its BCC keys once more.
    """
    service_queues = [queue for service in SERVICES for queue in service.queues]
    of_a_terminal = {
        "queue-version": 2,
        "max-length": TERMINAL_QUEUE_MESSAGES,
        "max-length-bytes": TERMINAL_QUEUE_BYTES,
        "overflow": "drop-head",
        "expires": TERMINAL_QUEUE_EXPIRY_MS,
    }
    return (
        Policy("terminals", r"^terminal\.", of_a_terminal),
        Policy("subscriptions", "^mqtt-subscription-", of_a_terminal),
        Policy(
            "integrators",
            r"^integrator\.",
            {
                "max-length-bytes": INTEGRATOR_QUEUE_BYTES,
                "overflow": "drop-head",
                "delivery-limit": PARKING_LOOKS,
            },
        ),
        *(
            Policy(
                name,
                rf"^[a-z_]+_service\.{kind}\.dead$",
                {
                    "max-length-bytes": PARKING_BYTES,
                    "overflow": overflow,
                    "delivery-limit": PARKING_LOOKS,
                },
            )
            for name, kind, overflow in PARKING
        ),
        *(
            Policy(
                queue.name,
                f"^{queue.name.replace('.', '[.]')}$",
                {
                    "dead-letter-exchange": DEAD,
                    "dead-letter-routing-key": queue.name,
                    "dead-letter-strategy": "at-least-once",
                    "delivery-limit": DELIVERY_LIMIT,
                    "max-length-bytes": SERVICE_QUEUE_BYTES,
                    "overflow": "reject-publish",
                },
            )
            for queue in service_queues
        ),
    )


def event_key(event_type: str, scope: str | None = None, *, own_card: bool = False) -> str:
    """The routing key of an event: its type, and for `contact.changed` its scope.

    An owner's own card in an address book has a key of its own: few entries are one, and the groups
    need to hear of no others.
    """
    key = event_type if scope is None else f"{event_type}.{scope}"
    return f"{key}.own" if own_card else key


def terminal_queue(terminal_id: str) -> str:
    """The queue of a terminal that speaks AMQP."""
    return f"terminal.{terminal_id}"


def subscription_queue(terminal_id: str) -> str:
    """The queue of a terminal that speaks MQTT, as the broker makes and names it."""
    return f"mqtt-subscription-{terminal_id}qos1"


def topic(key: str) -> str:
    """The MQTT topic that stands for a routing key."""
    return key.replace(".", "/")


def terminal_key(terminal_id: str) -> str:
    """The key that reaches one terminal."""
    return f"terminal.{terminal_id}"


def user_key(user_id: str) -> str:
    """The key that reaches all terminals of a user."""
    return f"user.{user_id}"


FAN_OUT_KEY = "fan-out"
"""The main routing key of a message to many: bound to nothing, since every recipient sees it."""
