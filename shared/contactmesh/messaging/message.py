"""Messages on their way out and in, free of any client library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from contactmesh.contracts.envelope import CONTENT_TYPE, Envelope
from contactmesh.messaging.topology import EVENTS, FAN_OUT_KEY, TERMINALS, event_key, terminal_key

MAX_RECIPIENTS = 500
MAX_RECIPIENTS_BYTES = 64 * 1024
"""A header has to fit one frame of 128 KiB, or the broker closes the whole connection."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to publish. Its AMQP properties repeat the envelope's attributes."""

    exchange: str
    routing_key: str
    body: bytes
    message_id: str
    type: str
    timestamp: datetime
    correlation_id: str | None = None
    persistent: bool = True
    bcc: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = CONTENT_TYPE

    @classmethod
    def of(
        cls, envelope: Envelope, *, exchange: str, routing_key: str, persistent: bool = True
    ) -> "Outgoing":
        """An envelope on its way to an exchange."""
        return cls(
            exchange=exchange,
            routing_key=routing_key,
            body=envelope.encode(),
            message_id=envelope.id,
            type=envelope.type,
            timestamp=envelope.time,
            correlation_id=envelope.correlationid,
            persistent=persistent,
        )

    @classmethod
    def event(cls, envelope: Envelope) -> "Outgoing":
        """An event for services and integrators."""
        scope = envelope.data.get("scope") if envelope.type == "contact.changed" else None
        key = event_key(envelope.type, scope, own_card=envelope.data.get("own_card") is True)
        return cls.of(envelope, exchange=EVENTS, routing_key=key)

    @classmethod
    def to_terminal(cls, envelope: Envelope, terminal_id: str) -> "Outgoing":
        """A reply. Transient: a terminal that gets none sends its command again."""
        return cls.of(
            envelope,
            exchange=TERMINALS,
            routing_key=terminal_key(terminal_id),
            persistent=False,
        )

    @classmethod
    def to_many(cls, envelope: Envelope, keys: Sequence[str]) -> list["Outgoing"]:
        """One message for many recipients, who do not learn of each other (DESIGN §5).

        The recipients stand in the BCC header, in chunks that fit a frame. Each chunk has an AMQP
        message id of its own, since the client tells returned messages apart by it; the envelope
        stays the same. Transient, because the truth is what a pull brings.
        """
        first = cls.of(envelope, exchange=TERMINALS, routing_key=FAN_OUT_KEY, persistent=False)
        return [
            replace(first, message_id=f"{envelope.id}.{number}", bcc=chunk)
            for number, chunk in enumerate(_chunks(keys))
        ]


def _chunks(keys: Sequence[str]) -> list[tuple[str, ...]]:
    chunks: list[list[str]] = []
    room = 0
    for key in keys:
        size = len(key.encode()) + 5
        if not chunks or len(chunks[-1]) >= MAX_RECIPIENTS or size > room:
            chunks.append([])
            room = MAX_RECIPIENTS_BYTES
        chunks[-1].append(key)
        room -= size
    return [tuple(chunk) for chunk in chunks]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that arrived.

    `key` is the routing key that the broker checked at publishing. `too_large` gives the size in
    bytes of a body that was over the consumer's limit and was let go of; `body` is empty then.
    """

    body: bytes
    key: str
    message_id: str | None
    too_large: int | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """A delivery that cannot be handled, now or later, and why; without contact details."""

    delivery: Delivery
    reason: str
