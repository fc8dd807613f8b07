"""Several events in one message: a JSON array of envelopes (decision 22)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_core import from_json, to_json

from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE
from contactmesh.messaging.message import Delivery, Outgoing
from contactmesh.messaging.topology import event_key

BATCHED: Final = event_key("contact.changed", "book")
"""The key of the events that come by the thousand: when an address book is uploaded or restored."""
BATCH_EVENTS: Final = 100
BATCH_BYTES: Final = 1024 * 1024
"""How much one message carries of several events; a single larger one goes by itself."""


def together(events: Iterable[Outgoing]) -> list[Outgoing]:
    """The same events in the same order, in as few messages as it takes.

    Entries of an address book that follow each other share a message, under the id of the first.
    All other events go by themselves.
    """
    found: list[list[Outgoing]] = []
    room = 0
    for event in events:
        room -= len(event.body) + 1
        last = found[-1] if found else [event]
        alike = last[0].routing_key == event.routing_key == BATCHED
        if found and alike and room >= 0 and len(last) < BATCH_EVENTS:
            last.append(event)
        else:
            found.append([event])
            room = BATCH_BYTES - len(event.body) - 2
    return [_joined(each) for each in found]


def _joined(events: Sequence[Outgoing]) -> Outgoing:
    if len(events) == 1:
        return events[0]
    body = b"[" + b",".join(event.body for event in events) + b"]"
    return replace(events[0], body=body, content_type=BATCH_CONTENT_TYPE)


def apart(delivery: Delivery) -> list[Delivery]:
    """What a message of several events brings, each as if it had come by itself.

    One that cannot be taken apart stays whole: whoever reads it will see that it is none.
    """
    try:
        envelopes = from_json(delivery.body, allow_inf_nan=False)
    except ValueError:
        return [delivery]
    if not isinstance(envelopes, list) or not envelopes:
        return [delivery]
    return [replace(delivery, body=to_json(one), message_id=_id_of(one)) for one in envelopes]


def _id_of(envelope: Any) -> str | None:  # noqa: ANN401 - JSON
    found = envelope.get("id") if isinstance(envelope, dict) else None
    return found if isinstance(found, str) else None
