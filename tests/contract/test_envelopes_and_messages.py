"""The wire contract: every message survives its envelope, fits its schema, and bears additions."""

import importlib
import json
import math
import pkgutil
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import contactmesh.contracts
from contactmesh.contracts.catalogue import EVENTS, UPDATES
from contactmesh.contracts.command import Command, CommandAddress
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import user_of
from contactmesh.contracts.reply import Reply

Json = dict[str, Any]

NOW = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)

for module in pkgutil.walk_packages(contactmesh.contracts.__path__, "contactmesh.contracts."):
    importlib.import_module(module.name)


def _kinds(kind: type[Message]) -> Iterator[type[Message]]:
    for one in kind.__subclasses__():
        if "TYPE" in vars(one) and not one.__name__.startswith("_"):
            yield one
        yield from _kinds(one)


KINDS = sorted(set(_kinds(Message)), key=lambda kind: kind.__qualname__)
COMMANDS = [kind for kind in KINDS if issubclass(kind, Command)]

CARD = {
    "@type": "Card",
    "version": "1.0",
    "uid": "urn:example:lin",
    "name": {"full": "林晓雨"},
    "phones": {"p1": {"number": "+8613800000001"}},
    "example.com:x": [1, {"𠮷": None}],
}
TEXTS = (
    "lin-xiaoyu",
    "lin_abcdefgh",
    "01234567-89ab-cdef-0123-456789abcdef",
    "2026-11-30T08:15:00Z",
    "cn-mobile",
    "1048577",
    "+8613800138000",
    "89860012345678901234",
    "K7QA-3MZD-PX2T",
    "0123456789abcdef" * 4,
)
"""One of them fits each pattern that a text may have to fit."""


def _sample(schema: dict[str, Any], root: dict[str, Any], *, full: bool) -> Any:  # noqa: ANN401
    """A value for a schema: with all fields, or with those alone that are required."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return CARD if name == "Card" else _sample(root["$defs"][name], root, full=full)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _sample(schema[several][0 if full else -1], root, full=full)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "properties" in schema:
        return {
            name: _sample(one, root, full=full)
            for name, one in schema["properties"].items()
            if full or "const" in one or name in schema.get("required", ())
        }
    if "prefixItems" in schema:
        return [_sample(one, root, full=full) for one in schema["prefixItems"]]
    if "type" not in schema:
        return CARD  # whatever JSON can say
    plain: dict[str, Any] = {
        "object": {},
        "array": [_sample(schema["items"], root, full=full)]
        if "items" in schema and (full or schema.get("minItems"))
        else [],
        "string": next(text for text in TEXTS if re.search(schema.get("pattern", ""), text)),
        "integer": schema.get("minimum", 1),
        "boolean": True,
        "null": None,
    }
    value = plain[schema["type"]]
    return TEXTS[3] if schema.get("format") == "date-time" else value


def _samples(kind: type[Message]) -> list[dict[str, Any]]:
    schema = kind.model_json_schema(by_alias=True)
    samples = [_sample(schema, schema, full=full) for full in (True, False)]
    for sample in samples:
        jsonschema.validate(sample, schema)
    return samples


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__qualname__)
def test_every_message_survives_its_envelope_and_fits_its_schema(kind: type[Message]) -> None:
    schema = kind.model_json_schema(by_alias=True)
    for sample in _samples(kind):
        message = kind.model_validate(sample)
        envelope = Envelope.of(
            message, id="m1", source="/tests", time=NOW, subject="林", sequence=7
        )
        arrived = Envelope.decode(envelope.encode())
        assert arrived == envelope
        assert kind.model_validate(arrived.data) == message
        jsonschema.validate(arrived.data, schema)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__qualname__)
def test_a_schema_refuses_what_lacks_a_field_that_is_required(kind: type[Message]) -> None:
    schema = kind.model_json_schema(by_alias=True)
    for name in schema.get("required", ()):
        sample = {key: value for key, value in _samples(kind)[0].items() if key != name}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(sample, schema)
        with pytest.raises(ValidationError):
            kind.model_validate(sample)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__qualname__)
def test_consumers_ignore_fields_that_they_do_not_know(kind: type[Message]) -> None:
    for sample in _samples(kind):
        more = sample | {"a_field_of_next_year": {"x": [1]}}
        message = kind.model_validate(more)
        assert message == kind.model_validate(sample)
        envelope = Envelope.of(message, id="m1", source="/tests", time=NOW)
        body = json.loads(envelope.encode()) | {"ournewattribute": "x"}
        assert Envelope.decode(json.dumps(body).encode()) == envelope


def test_the_types_of_commands_and_of_events_are_each_unique() -> None:
    routing_keys = [command.routing_key("lin_aaaaaaaa") for command in COMMANDS]
    assert len(COMMANDS) >= 19
    assert len(set(routing_keys)) == len(routing_keys)
    for command in COMMANDS:
        assert command.RESULT.TYPE in (command.TYPE, "done")


def _numbers(schema: Json, root: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Where a message has whole numbers outside cards, each with its schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = {} if name == "Card" else root["$defs"][name]
    if schema.get("type") == "integer":
        yield path, schema
    for several in ("anyOf", "oneOf", "prefixItems"):
        for one in schema.get(several, ()):
            yield from _numbers(one, root, path)
    for name, one in schema.get("properties", {}).items():
        yield from _numbers(one, root, f"{path}/{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _numbers(schema[inner], root, f"{path}/*")


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS, *UPDATES], ids=lambda kind: kind.__qualname__)
def test_every_number_that_comes_in_is_one_that_a_database_can_hold(kind: type[Message]) -> None:
    """Cards are kept as text: what they say of numbers is theirs."""
    schema = kind.model_json_schema(by_alias=True)
    for path, number in _numbers(schema, schema):
        assert number.get("minimum", -math.inf) >= -(2**63), f"{path} has no lower bound"
        assert number.get("maximum", math.inf) < 2**63, f"{path} has no upper bound"


def test_an_envelope_names_cause_and_beginning_of_its_chain() -> None:
    def wrap(message_id: str, cause: Envelope | None = None) -> Envelope:
        reply = Reply(status="ok", command="group.list")
        return Envelope.of(reply, id=message_id, source="/tests", time=NOW, cause=cause)

    first = wrap("a").model_copy(update={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    second = wrap("b", first)
    third = wrap("c", second)
    assert (third.causationid, third.correlationid) == ("b", "a")
    assert third.traceparent == first.traceparent
    assert (
        Envelope.of(
            Reply(status="ok", command="x"), id="d", source="/t", time=NOW, sequence=12
        ).sequence
        == "0" * 18 + "12"
    )


def test_the_list_of_errors_is_closed() -> None:
    assert {code.value for code in ErrorCode} == {
        "invalid_argument",
        "unauthenticated",
        "permission_denied",
        "not_found",
        "conflict",
        "full_sync_required",
        "too_large",
        "quota_exceeded",
        "rate_limited",
        "unavailable",
        "internal",
    }


def test_what_is_wrong_is_named_without_the_value_that_is_wrong() -> None:
    secret = "+8613800000001"
    body = {
        "specversion": "1.0",
        "id": f"{secret}\n",
        "source": "",
        "type": "t",
        "time": f"at {secret}",
    }
    with pytest.raises(Refusal) as caught:
        Envelope.decode(json.dumps(body).encode())
    told = caught.value.body
    assert {field["path"] for field in told.details["fields"]} == {"/id", "/source", "/time"}
    assert secret not in told.model_dump_json()


@given(
    st.from_regex(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]_[a-z2-7]{8}", fullmatch=True),
    st.sampled_from(COMMANDS),
)
def test_who_sent_a_command_stands_in_its_routing_key(
    terminal_id: str, command: type[Command]
) -> None:
    address = CommandAddress.parse(command.routing_key(terminal_id))
    assert address.sender.terminal_id == terminal_id
    assert address.sender.user_id == user_of(terminal_id) == terminal_id[:-9]
    assert (address.service, address.action) == (command.SERVICE, command.action())


@pytest.mark.parametrize(
    "key",
    [
        "",
        "command",
        "command.lin_aaaaaaaa.group_service",
        "command.lin_aaaaaaaa.group_service.create.now",
        "event.lin_aaaaaaaa.group_service.create",
        "command.lin.group_service.create",
        "command..group_service.create",
    ],
)
def test_a_key_that_no_terminal_can_have_sent_is_nobodys(key: str) -> None:
    with pytest.raises(Refusal) as caught:
        CommandAddress.parse(key)
    assert caught.value.body.code is ErrorCode.UNAUTHENTICATED
