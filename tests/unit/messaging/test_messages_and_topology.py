"""What goes to the broker: chunks of recipients, parking limits, queues with their parking."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.updates import RefreshUpdate
from contactmesh.messaging.definitions import render_definitions, service_account
from contactmesh.messaging.message import MAX_RECIPIENTS, MAX_RECIPIENTS_BYTES, Outgoing
from contactmesh.messaging.parking import ParkingLimit, TooManyParked
from contactmesh.messaging.topology import (
    COMMANDS,
    DEAD,
    EXCHANGES,
    MQTT,
    SERVICES,
    TERMINALS,
    policies,
    subscription_queue,
    terminal_queue,
)

GROUP_ID = "00000000-0000-0000-0000-000000000000"
UPDATE = Envelope.of(
    RefreshUpdate(group_id=GROUP_ID),
    id="e1",
    source="/tests",
    time=datetime(2026, 1, 1, tzinfo=UTC),
)
QUEUES = [queue for service in SERVICES for queue in service.queues]


@given(st.lists(st.tuples(st.integers(1, 700), st.sampled_from("a林"), st.integers(1, 240))))
def test_recipients_come_in_chunks_that_fit_a_frame(runs: list[tuple[int, str, int]]) -> None:
    keys = [letter * length for count, letter, length in runs for _ in range(count)]
    chunks = Outgoing.to_many(UPDATE, keys)
    assert [key for chunk in chunks for key in chunk.bcc] == keys
    for chunk in chunks:
        assert 1 <= len(chunk.bcc) <= MAX_RECIPIENTS == 500
        assert sum(len(key.encode()) + 5 for key in chunk.bcc) <= MAX_RECIPIENTS_BYTES == 64 * 1024


@pytest.mark.parametrize(("recipients", "chunks"), [(0, 0), (1, 1), (500, 1), (501, 2), (1001, 3)])
def test_there_are_no_more_chunks_than_needed(recipients: int, chunks: int) -> None:
    assert len(Outgoing.to_many(UPDATE, [f"user.u{n}" for n in range(recipients)])) == chunks


def test_chunks_are_one_event_under_message_ids_of_their_own() -> None:
    chunks = Outgoing.to_many(UPDATE, [f"user.u{n}" for n in range(1_200)])
    assert len({chunk.message_id for chunk in chunks}) == 3
    assert {chunk.body for chunk in chunks} == {UPDATE.encode()}
    assert {chunk.routing_key for chunk in chunks} == {"fan-out"}, "no recipient's key"
    assert not any(chunk.persistent for chunk in chunks), "a pull is the truth"


def test_parking_is_limited_to_a_small_share_once_there_is_enough_to_tell() -> None:
    limit = ParkingLimit(window=50, minimum=10, ratio=0.5)
    limit.count(handled=0, parked=[None] * 9)
    with pytest.raises(TooManyParked, match="10 of the last 10"):
        limit.count(handled=0, parked=[None])


def test_parking_is_not_limited_while_most_messages_are_good() -> None:
    limit = ParkingLimit(window=50, minimum=10, ratio=0.5)
    for _ in range(100):
        limit.count(handled=3, parked=[None] * 2)


def test_only_the_last_messages_count() -> None:
    limit = ParkingLimit(window=50, minimum=10, ratio=0.5)
    limit.count(handled=1_000, parked=[])
    limit.count(handled=0, parked=[None] * 24)
    with pytest.raises(TooManyParked, match="25 of the last 50"):
        limit.count(handled=0, parked=[None])


def test_a_row_of_parked_messages_is_enough_however_healthy_it_was_before() -> None:
    limit = ParkingLimit(in_a_row=50)
    limit.count(handled=500, parked=[])
    limit.count(handled=0, parked=[None] * 49)
    limit.count(handled=1, parked=[None] * 49)
    limit.count(handled=0, parked=[None] * 49)
    with pytest.raises(TooManyParked, match="148 of the last 500"):
        limit.count(handled=0, parked=[None])


@pytest.mark.parametrize("handled", [0, 1])
def test_what_few_users_send_stops_nobody_however_much_it_is(handled: int) -> None:
    limit = ParkingLimit()
    for _ in range(1_000):
        limit.count(handled=handled, parked=["lin", "mo", "wang", "zhao"] * 50)


def test_what_many_users_send_and_nobody_can_handle_is_the_releases_fault() -> None:
    limit = ParkingLimit()
    limit.count(handled=0, parked=["lin"] * 500)
    limit.count(handled=0, parked=[f"user-{number}" for number in range(39)])
    with pytest.raises(TooManyParked, match="50 of the last 50"):
        limit.count(handled=0, parked=["mo"])


DEFINITIONS = render_definitions([service_account("group_service", "secret")])


def _named(kind: str) -> dict[str, dict[str, object]]:
    found = DEFINITIONS[kind]
    assert isinstance(found, list)
    return {one["name"]: one for one in found}  # type: ignore[index, call-overload, misc]


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
def test_every_service_queue_has_a_parking_queue_and_a_policy_that_leads_there(
    queue: object,
) -> None:
    name = queue.name  # type: ignore[attr-defined]
    queues = _named("queues")
    for one in (name, f"{name}.dead"):
        assert queues[one]["arguments"] == {"x-queue-type": "quorum"}
        assert queues[one]["durable"] is True
    bindings = DEFINITIONS["bindings"]
    assert isinstance(bindings, list)
    assert any(
        isinstance(one, dict)
        and (one["source"], one["destination"], one["routing_key"]) == (DEAD, f"{name}.dead", name)
        for one in bindings
    )
    (policy,) = [one for one in policies() if re.search(one.pattern, name)]
    assert policy.definition["dead-letter-exchange"] == DEAD
    assert policy.definition["dead-letter-routing-key"] == name, "or it goes to all BCC keys again"
    assert policy.definition["dead-letter-strategy"] == "at-least-once"
    assert policy.definition["overflow"] == "reject-publish"
    assert policy.definition["delivery-limit"] >= 20
    (parking,) = [one for one in policies() if re.search(one.pattern, f"{name}.dead")]
    assert "dead-letter-exchange" not in parking.definition
    assert parking.definition["max-length-bytes"] > 0


@pytest.mark.parametrize("queue_of", [terminal_queue, subscription_queue])
def test_a_terminals_queue_is_bounded_and_expires(queue_of: Callable[[str], str]) -> None:
    name = queue_of("lin_aaaaaaaa")
    (policy,) = [one for one in policies() if re.search(one.pattern, name)]
    assert policy.definition["max-length"] > 0
    assert policy.definition["max-length-bytes"] > 0
    assert policy.definition["overflow"] == "drop-head", "the oldest goes"
    assert policy.definition["expires"] > 0


def test_all_exchanges_are_durable_topic_exchanges() -> None:
    exchanges = _named("exchanges")
    assert set(exchanges) == {*EXCHANGES, MQTT}
    assert {(one["type"], one["durable"]) for one in exchanges.values()} == {("topic", True)}


def test_from_mqtt_only_commands_go_on_and_to_it_only_what_is_for_terminals() -> None:
    bindings = DEFINITIONS["bindings"]
    assert isinstance(bindings, list)
    joined = {
        (one["source"], one["destination"], one["routing_key"])
        for one in bindings
        if isinstance(one, dict) and one["destination_type"] == "exchange"
    }
    assert joined == {
        (MQTT, COMMANDS, "command.*.*.*"),
        (TERMINALS, MQTT, "terminal.*"),
        (TERMINALS, MQTT, "user.*"),
    }


@pytest.mark.parametrize("service", [service.service for service in SERVICES])
def test_no_service_may_touch_another_ones_queue(service: str) -> None:
    account = service_account(service, "secret")
    for queue in QUEUES:
        own = queue.name.startswith(f"{service}.")
        for right in (account.configure, account.read):
            assert bool(re.search(right, queue.name)) == own
        assert own or not re.search(account.write, queue.name)
