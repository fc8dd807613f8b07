"""Reading events: what cannot be read is parked with its reason (DESIGN §5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field, invalid_fields
from contactmesh.messaging.message import Delivery, Parked
from contactmesh.messaging.topology import MAX_EVENT_BYTES
from contactmesh.runtime.metrics import RECEIVED


@dataclass(frozen=True, slots=True)
class Event:
    """A well-formed event with its envelope."""

    envelope: Envelope
    message: Message


def read_events(
    queue: str, batch: Sequence[Delivery], kinds: Mapping[str, type[Message]]
) -> tuple[list[Event], list[Parked]]:
    """Read a batch of events whose types are in `kinds`.

    The second list holds what is too large, malformed, or of a type that the service does not know.
    """
    events: list[Event] = []
    parked: list[Parked] = []
    for delivery in batch:
        try:
            event = _read(delivery, kinds)
        except Refusal as refusal:
            RECEIVED.labels(queue, "unreadable", refusal.body.code.value).inc()
            problems = refusal.body.details.get("fields", refusal.body.message)
            parked.append(Parked(delivery, f"{refusal.body.code.value}: {problems}"))
        else:
            RECEIVED.labels(queue, event.envelope.type, "ok").inc()
            events.append(event)
    return events, parked


def _read(delivery: Delivery, kinds: Mapping[str, type[Message]]) -> Event:
    if len(delivery.body) > MAX_EVENT_BYTES:
        raise Refusal(ErrorCode.TOO_LARGE, "The event is too large.", limit_bytes=MAX_EVENT_BYTES)
    envelope = Envelope.decode(delivery.body)
    kind = kinds.get(envelope.type)
    if kind is None:
        raise invalid_field("/type", f"unknown event {envelope.type}")
    try:
        return Event(envelope, kind.model_validate(envelope.data))
    except ValidationError as error:
        raise invalid_fields(error, at=("data",)) from error
