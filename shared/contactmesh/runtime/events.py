"""Reading events, where what cannot be read is parked with its reason, and telling them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import uuid_utils
from pydantic import ValidationError

from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field, invalid_fields
from contactmesh.deciding.decision import Told
from contactmesh.messaging.batches import together
from contactmesh.messaging.message import Delivery, Outgoing, Parked
from contactmesh.runtime.metrics import RECEIVED

EVENT_NAME: Final = re.compile(r"[a-z_.]{1,60}")


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
            parked.append(Parked(delivery, refusal.reason))
        else:
            RECEIVED.labels(queue, event.envelope.type, "ok").inc()
            events.append(event)
    return events, parked


def events_of(service: str, told: Iterable[Told], cause: Envelope, now: datetime) -> list[Outgoing]:
    """What is told to others, as messages with events of a service, each under an id of its own.

    Args:
        service: whose events they are.
        told: what is told.
        cause: the message that led to it.
        now: the time.
    """
    return together(
        Outgoing.event(
            Envelope.of(
                one.message,
                id=str(uuid_utils.uuid7()),
                source=f"/services/{service}",
                time=now,
                subject=one.subject,
                cause=cause,
                sequence=one.rev,
            )
        )
        for one in told
    )


def _read(delivery: Delivery, kinds: Mapping[str, type[Message]]) -> Event:
    if delivery.too_large is not None:
        raise Refusal(
            ErrorCode.TOO_LARGE,
            "The event is too large.",
            f"{delivery.too_large} bytes, of which nothing was kept",
        )
    envelope = Envelope.decode(delivery.body)
    kind = kinds.get(envelope.type)
    if kind is None:
        name = envelope.type if EVENT_NAME.fullmatch(envelope.type) else "of an odd name"
        raise invalid_field("/type", f"unknown event {name}")
    try:
        return Event(envelope, kind.model_validate(envelope.data))
    except ValidationError as error:
        raise invalid_fields(error, at=("data",)) from error
