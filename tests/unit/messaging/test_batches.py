"""Several events in one message: what shares one, in which order, and how it comes apart."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contracts.contact import ContactChanged, Origin, Scope
from contactmesh.contracts.envelope import BATCH_CONTENT_TYPE, CONTENT_TYPE, Envelope
from contactmesh.messaging.batches import BATCH_BYTES, BATCH_EVENTS, apart, together
from contactmesh.messaging.message import Delivery, Outgoing
from contactmesh.messaging.topology import FANOUT, GROUP, MULTI_SIM, ServiceTopology

WHEN = datetime(2026, 11, 30, tzinfo=UTC)
BOOK, CARD = "contact.changed.book", "contact.changed.card"


def _event(
    number: int, scope: Scope = Scope.BOOK, size: int = 0, *, own_card: bool = False
) -> Outgoing:
    changed = ContactChanged(
        scope=scope,
        owner_id="lin",
        uid=f"urn:example:{number}",
        rev=number,
        card={"note": "x" * size},
        origin=Origin(service="sync_service"),
        own_card=own_card,
    )
    return Outgoing.event(
        Envelope.of(changed, id=f"e{number}", source="/services/sync_service", time=WHEN)
    )


def _arrives(message: Outgoing) -> list[Delivery]:
    delivery = Delivery(message.body, message.routing_key, message.message_id)
    return apart(delivery) if message.content_type == BATCH_CONTENT_TYPE else [delivery]


@given(st.lists(st.tuples(st.sampled_from([Scope.BOOK, Scope.CARD]), st.booleans())))
def test_whatever_shares_a_message_every_event_arrives_in_order_as_it_was(
    kinds: Sequence[tuple[Scope, bool]],
) -> None:
    events = [
        _event(number, scope, own_card=own and scope is Scope.BOOK)
        for number, (scope, own) in enumerate(kinds)
    ]
    arrived = [delivery for message in together(events) for delivery in _arrives(message)]
    assert [Envelope.decode(one.body) for one in arrived] == [
        Envelope.decode(one.body) for one in events
    ]
    assert [(one.key, one.message_id) for one in arrived] == [
        (one.routing_key, one.message_id) for one in events
    ]


def test_entries_of_a_book_share_messages_and_nothing_else_does() -> None:
    events = [*map(_event, range(250)), _event(250, own_card=True), _event(251), _event(252)]
    events += [_event(number, Scope.CARD) for number in (253, 254)]
    messages = together(events)
    assert [(one.routing_key, len(_arrives(one))) for one in messages] == [
        (BOOK, BATCH_EVENTS),
        (BOOK, BATCH_EVENTS),
        (BOOK, 50),
        (f"{BOOK}.own", 1),
        (BOOK, 2),
        (CARD, 1),
        (CARD, 1),
    ]
    assert [one.content_type == CONTENT_TYPE for one in messages] == [
        len(_arrives(one)) == 1 for one in messages
    ]
    assert [one.message_id for one in messages] == [
        "e0", "e100", "e200", "e250", "e251", "e253", "e254"
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1_000, 30_000, BATCH_BYTES // 2, BATCH_BYTES, 2 * BATCH_BYTES])
def test_a_message_of_several_events_stays_within_its_size(size: int) -> None:
    events = [_event(number, size=size) for number in range(120)][: 40 if size > 100_000 else 120]
    messages = together(events)
    for message in messages:
        assert len(message.body) <= BATCH_BYTES or len(_arrives(message)) == 1
    assert sum(len(_arrives(one)) for one in messages) == len(events)
    if size <= BATCH_BYTES // 40:
        assert len(messages) < len(events) / 20


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b"{}", b"[NaN]", b"\xff", b"null"])
def test_what_cannot_be_taken_apart_stays_whole(body: bytes) -> None:
    delivery = Delivery(body, BOOK, "m")
    assert apart(delivery) == [delivery]


def test_what_is_no_envelope_is_told_apart_from_those_beside_it() -> None:
    good = json.loads(_event(1).body)
    body = json.dumps([good, 7, {"id": 8}]).encode()
    first, *others = apart(Delivery(body, BOOK, "m"))
    assert Envelope.decode(first.body).id == first.message_id == "e1"
    assert [(one.body, one.message_id) for one in others] == [(b"7", None), (b'{"id":8}', None)]


def test_a_message_is_read_the_same_whether_it_brings_one_event_or_several() -> None:
    events = [_event(number) for number in range(3)]
    (batch,) = together(events)
    assert Envelope.decode_all(batch.body) == [Envelope.decode(one.body) for one in events]
    assert Envelope.decode_all(events[0].body) == [Envelope.decode(events[0].body)]


@pytest.mark.parametrize(
    ("service", "plain", "own"),
    [(FANOUT, True, True), (MULTI_SIM, True, True), (GROUP, False, True)],
)
def test_the_groups_hear_of_own_cards_alone(
    service: ServiceTopology, *, plain: bool, own: bool
) -> None:
    for own_card, heard in ((False, plain), (True, own)):
        key = _event(1, own_card=own_card).routing_key
        assert any(_matches(binding.key, key) for binding in service.events_queue.bindings) == heard


def _matches(pattern: str, key: str) -> bool:
    """Whether a topic exchange routes a key; `#`, which may be no word at all, comes last here."""
    if pattern.endswith(".#"):
        return key == pattern[:-2] or key.startswith(pattern[:-1])
    wanted, words = pattern.split("."), key.split(".")
    return len(wanted) == len(words) and all(
        a in ("*", b) for a, b in zip(wanted, words, strict=True)
    )
