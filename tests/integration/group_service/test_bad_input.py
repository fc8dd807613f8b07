"""Bad input: an error from the closed list with the field's path, and the consumer goes on."""

import json
from collections.abc import Callable
from typing import Any

import aio_pika
import pytest
from tests.wire import System, Terminal, card_of

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    Block,
    CreateGroup,
    DissolveGroup,
    HandOver,
    Invite,
    LeaveGroup,
    Lift,
    ListGroups,
    PublishCard,
    Pull,
    RemoveMember,
    ShowGroup,
    Subscribe,
    Unsubscribe,
)
from contactmesh.messaging.topology import TERMINALS, terminal_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_GROUP = "00000000-0000-0000-0000-000000000000"


def _changed(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:  # noqa: ANN401
    def change(envelope: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in (envelope | changes).items() if value != "absent"}

    return change


def _data(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:  # noqa: ANN401
    def change(envelope: dict[str, Any]) -> dict[str, Any]:
        return envelope | {"data": _changed(**changes)(envelope["data"])}

    return change


DEEP: dict[str, Any] = {}
for _ in range(150):
    DEEP = {"d": DEEP}

WRONG_CREATES = {
    "a missing field": (_data(name="absent"), "/data/name"),
    "a number for a text": (_data(name=7), "/data/name"),
    "an empty name": (_data(name="  "), "/data/name"),
    "a line break in a name": (_data(name="two\nlines"), "/data/name"),
    "a text for a list": (_data(members="bo"), "/data/members"),
    "no user's id": (_data(members=["bo", "Bo!"]), "/data/members/1"),
    "no id at all": (_data(members=[None]), "/data/members/0"),
    "too many members": (_data(members=[f"u{n}" for n in range(10_001)]), "/data/members"),
    "data that is a list": (_changed(data=[]), "/data"),
    "another version of the envelope": (_changed(specversion="0.3"), "/specversion"),
    "no id": (_changed(id="absent"), "/id"),
    "an id with a line break": (_changed(id="a\nb"), "/id"),
    "a time without a zone": (_changed(time="2026-11-30T08:00:00"), "/time"),
    "no time": (_changed(time="soon"), "/time"),
    "another command's type": (_changed(type="group.dissolve"), "/type"),
    "a broken trace": (_changed(traceparent="00-1-2-3"), "/traceparent"),
}


@pytest.mark.claim("G2")
@pytest.mark.parametrize("what", WRONG_CREATES)
async def test_g2_what_is_wrong_is_named_by_its_path(system: System, what: str) -> None:
    change, path = WRONG_CREATES[what]
    lin = await _terminal(system)
    command = CreateGroup(name="one")
    envelope = change(json.loads(lin.envelope(command).encode()))
    message_id = await lin.send(json.dumps(envelope).encode(), command.routing_key(lin.id))
    await _is_refused(lin, message_id, ErrorCode.INVALID_ARGUMENT, path)


BODIES = {
    "nothing": (b"", ErrorCode.INVALID_ARGUMENT, ""),
    "no JSON": (b"{", ErrorCode.INVALID_ARGUMENT, ""),
    "JSON that is no object": (b"[]", ErrorCode.INVALID_ARGUMENT, ""),
    "invalid UTF-8": (b'{"id": "\xff"}', ErrorCode.INVALID_ARGUMENT, ""),
    "half a surrogate pair": (b'{"id": "\\ud800"}', ErrorCode.INVALID_ARGUMENT, ""),
    "a number that JSON does not have": (b'{"data": NaN}', ErrorCode.INVALID_ARGUMENT, ""),
    "nesting without end": (b"[" * 100_000, ErrorCode.INVALID_ARGUMENT, ""),
}


@pytest.mark.parametrize("what", BODIES)
async def test_a_body_that_is_no_envelope_is_refused(system: System, what: str) -> None:
    body, code, path = BODIES[what]
    lin = await _terminal(system)
    message_id = await lin.send(body, ListGroups.routing_key(lin.id))
    await _is_refused(lin, message_id, code, path)


async def test_two_megabytes_are_refused_unread(system: System) -> None:
    lin = await _terminal(system)
    message_id = await lin.send(b"x" * 2_000_000, ListGroups.routing_key(lin.id))
    error = await _is_refused(lin, message_id, ErrorCode.TOO_LARGE)
    assert error["details"]["limit_bytes"] == 1024 * 1024


@pytest.mark.parametrize("action", ["nonsense", "Create", "creat", "create_"])
async def test_an_unknown_command_is_refused(system: System, action: str) -> None:
    lin = await _terminal(system)
    body = lin.envelope(CreateGroup(name="one")).encode()
    try:
        message_id = await lin.send(body, f"command.{lin.id}.group_service.{action}")
    except aio_pika.exceptions.AMQPError:
        # no command's name: the broker itself refuses, and closes the channel
        assert action == "Create"
        return
    await _is_refused(lin, message_id, ErrorCode.INVALID_ARGUMENT, "/type")


@pytest.mark.claim("G5")
async def test_g5_a_strangers_group_looks_like_one_that_is_not_there(system: System) -> None:
    lin, ada = await system.terminals("lin", "ada")
    group_id = await lin.creates()
    card = card_of(ada.user_id, "+8613800000001")
    errors = []
    for target in (group_id, NO_GROUP):
        commands = (
            ShowGroup(group_id=target),
            Pull(group_id=target),
            Invite(group_id=target, user_id=ada.user_id),
            LeaveGroup(group_id=target),
            RemoveMember(group_id=target, user_id=lin.user_id),
            HandOver(group_id=target, user_id=ada.user_id),
            DissolveGroup(group_id=target),
            PublishCard(group_id=target, card=card),
            Block(group_id=target, user_id=lin.user_id),
            Lift(group_id=target, user_id=lin.user_id),
            Subscribe(group_id=target),
            Unsubscribe(group_id=target),
        )
        errors.append([await ada.refused(command) for command in commands])
    assert errors[0] == errors[1]
    assert {error.code for error in errors[0]} == {ErrorCode.NOT_FOUND}


@pytest.mark.claim("G1c")
async def test_g1c_a_wrong_base_revision_is_a_conflict_that_names_the_right_one(
    system: System,
) -> None:
    lin = await system.terminal("lin")
    group_id = await lin.creates()
    rev = await lin.publishes(group_id, "+8613800000001")
    for base in (None, 0, rev - 1, rev + 1, 2**63 - 1):
        card = card_of(lin.user_id, "+8613800000002")
        error = await lin.refused(PublishCard(group_id=group_id, card=card, base_rev=base))
        assert error.code is ErrorCode.CONFLICT
        assert error.details == {"current_rev": rev}


STRANGE_CARDS: dict[str, dict[str, Any]] = {
    "a NUL in a name": {"example.com:a\0b": 1},
    "a number beyond 64 bits": {"example.com:n": 2**70},
    "an operator of the database": {"example.com:n": {"$set": {"a.b": 1}}},
    "an empty name": {"example.com:n": {"": {"": 0}}},
    "a point in a name": {"example.com:n": {"a.b.c": {"..": 1}}},
    "deep nesting": {"example.com:n": DEEP},
    "a fraction": {"example.com:n": 0.1},
    "text beyond the basic plane": {"example.com:n": "𠮷野家 \u200f\u0000"},
}


@pytest.mark.claim("G1c")
@pytest.mark.parametrize("what", STRANGE_CARDS)
async def test_g1c_what_json_can_say_in_a_card_arrives_as_it_was_said(
    system: System, what: str
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    more = STRANGE_CARDS[what]
    first = await lin.publishes(group_id, "+8613800000001", **more)
    await bo.until_pushed(lin, group_id, "+8613800000001")
    pulled = (await bo.pulls(group_id))[lin.user_id].card
    (pushed,) = bo.updates("contact.changed", group_id)
    assert pulled is not None
    assert {name: pulled[name] for name in more} == more
    assert pushed["card"] == pulled
    # and it can be kept for a block
    await lin.does(Block(group_id=group_id, user_id=bo.user_id))
    await lin.publishes(group_id, "+8613800000002", first)
    assert (await bo.pulls(group_id))[lin.user_id].card == pulled


async def test_the_sender_is_who_the_broker_vouches_for_and_nobody_else(system: System) -> None:
    """Neither a body nor further keys make a command another user's."""
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    forged = Envelope.of(
        DissolveGroup(group_id=group_id),
        id="forged",
        source=f"/terminals/{lin.id}",
        time=bo.envelope(ListGroups()).time,
        subject=lin.user_id,
    )
    own_key = DissolveGroup.routing_key(bo.id)
    others_key = DissolveGroup.routing_key(lin.id)
    await bo.send(forged.encode(), own_key, message_id="forged", headers={"BCC": [others_key]})
    reply = await bo.reply_to("forged")
    assert reply.error is not None
    assert reply.error.code is ErrorCode.PERMISSION_DENIED
    assert set(await lin.pulls(group_id)) == {lin.user_id, bo.user_id}
    assert not lin.replies.get("forged")


async def test_a_command_of_another_service_that_came_by_a_further_key_is_refused(
    system: System,
) -> None:
    lin = await _terminal(system)
    body = lin.envelope(CreateGroup(name="one")).encode()
    message_id = await lin.send(
        body,
        f"command.{lin.id}.sync_service.create",
        headers={"BCC": [CreateGroup.routing_key(lin.id)]},
    )
    await _is_refused(lin, message_id, ErrorCode.INVALID_ARGUMENT, "/type")


@pytest.mark.claim("G2")
async def test_g2_a_command_of_a_revoked_terminal_is_refused(system: System) -> None:
    """It may have been under way while the terminal was revoked."""
    lin = await system.terminal("lin")
    body = lin.envelope(CreateGroup(name="one"), "late").encode()
    async with system.channel() as channel:
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(TERMINALS, terminal_key(lin.id))
        await system.revoke(lin.id)
        commands = await channel.get_exchange("contactmesh.commands")
        async with queue.iterator(timeout=30) as replies:
            for number in range(100):
                message = aio_pika.Message(
                    body.replace(b'"late"', f'"late{number}"'.encode()), message_id=f"late{number}"
                )
                await commands.publish(message, CreateGroup.routing_key(lin.id))
                reply = json.loads((await anext(replies)).body)["data"]
                if reply["status"] == "error":
                    break
    assert reply["error"]["code"] == ErrorCode.UNAUTHENTICATED


async def _terminal(system: System) -> Terminal:
    return await system.terminal("lin")


async def _is_refused(
    terminal: Terminal, message_id: str, code: ErrorCode, path: str | None = None
) -> dict[str, Any]:
    await terminal.until(lambda: any(terminal.replies.values()))
    ((answered, (envelope,)),) = terminal.replies.items()
    error: dict[str, Any] = envelope.data["error"]
    assert error["code"] == code, error
    assert answered == message_id
    if path is not None:
        assert path in [field["path"] for field in error["details"]["fields"]]
    # and the consumer goes on
    await terminal.does(ListGroups())
    return error
