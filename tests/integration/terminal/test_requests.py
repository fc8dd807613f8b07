"""A command takes effect once, over lost replies and lost connections."""

import asyncio

import aio_pika
import pytest
from tests.integration.identity_service.breakable_line import BreakableLine
from tests.integration.terminal.conftest import ALICE, MakeTerminal
from tests.integration.terminal.scripted_service import ScriptedService, refused
from tests.unit.terminal.cards import CLUB, FAMILY, card, page

from contactmesh.contracts.envelope import CONTENT_TYPE, Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    Block,
    CardPublished,
    Invite,
    Invited,
    ListGroups,
    PublishCard,
    Pull,
)
from contactmesh.contracts.reply import Done, Reply
from contactmesh.terminal import CommandRefused, NoReply, RevisionConflict, Terminal, TerminalInUse

INVITATION = "018f0000-0000-7000-8000-0000000000aa"
pytestmark = pytest.mark.usefixtures("queue")


async def test_a_command_goes_out_as_the_contract_says(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(Invite.TYPE, lambda _: Invited(invitation_id=INVITATION))
    async with make_terminal() as terminal:
        assert await terminal.invite(FAMILY, "bob") == INVITATION
    (delivery,) = service.deliveries
    (command,) = service.received
    assert delivery.routing_key == f"command.{ALICE}.group_service.invite"
    assert delivery.content_type == CONTENT_TYPE
    assert delivery.delivery_mode is aio_pika.DeliveryMode.PERSISTENT
    assert (delivery.message_id, delivery.type) == (command.id, Invite.TYPE)
    assert delivery.correlation_id == command.correlationid == command.id
    assert delivery.timestamp == command.time.replace(microsecond=0)
    assert command.traceparent is not None
    assert command.data == {"group_id": FAMILY, "user_id": "bob"}


async def test_after_a_lost_reply_the_same_message_is_sent_again(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer_in_turn(Invite.TYPE, None, None, Invited(invitation_id=INVITATION))
    async with make_terminal() as terminal:
        assert await terminal.invite(FAMILY, "bob") == INVITATION
    assert len(service.received) == 3
    assert len({command.id for command in service.received}) == 1
    assert len({delivery.body for delivery in service.deliveries}) == 1


async def test_an_unavailable_service_is_asked_again_under_the_same_id(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer_in_turn(
        Invite.TYPE, refused(ErrorCode.UNAVAILABLE), Invited(invitation_id=INVITATION)
    )
    async with make_terminal() as terminal:
        assert await terminal.invite(FAMILY, "bob") == INVITATION
    assert len({command.id for command in service.received}) == 1


async def test_each_command_has_its_own_id_and_trace(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    async with make_terminal() as terminal:
        await asyncio.gather(*(terminal.groups() for _ in range(20)))
    assert len({command.id for command in service.received}) == 20
    assert len({command.traceparent for command in service.received}) == 20


async def test_late_repeated_unknown_and_foreign_replies_are_ignored(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    async with make_terminal() as terminal:
        await terminal.groups()
        (asked,) = service.received
        foreign = asked.model_copy(update={"id": "nobody-asked", "correlationid": "nobody-asked"})
        for command in (asked, asked, foreign):
            await service.reply(command, ALICE, Reply.ok(ListGroups.TYPE, Done()))
        assert (await terminal.groups()).groups == ()


async def test_a_refusal_carries_the_services_reason(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    refusal = refused(ErrorCode.QUOTA_EXCEEDED, "You have 5 groups.", limit=5)
    service.answer(Invite.TYPE, lambda _: refusal)
    async with make_terminal() as terminal:
        with pytest.raises(CommandRefused, match="You have 5 groups") as raised:
            await terminal.invite(FAMILY, "bob")
    assert raised.value.code is ErrorCode.QUOTA_EXCEEDED
    assert raised.value.error.details == {"limit": 5}


async def test_no_reply_names_the_id_under_which_to_go_on(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(Block.TYPE, lambda _: None)
    async with make_terminal(deadline_seconds=1.0) as terminal:
        with pytest.raises(NoReply) as raised:
            await terminal.block("bob")
        service.answer(Block.TYPE, lambda _: Done())
        result = await terminal.request(Block(user_id="bob"), message_id=raised.value.message_id)
    assert result == Done()
    assert {command.id for command in service.received} == {raised.value.message_id}


async def test_a_command_outlives_a_cut_connection(
    make_terminal: MakeTerminal, service: ScriptedService, line: BreakableLine
) -> None:
    arrived = asyncio.Event()

    def silence(_: Envelope) -> None:
        arrived.set()

    service.answer(Block.TYPE, silence)
    async with make_terminal(reply_seconds=30.0) as terminal:
        blocking = asyncio.create_task(terminal.block("bob"))
        await arrived.wait()
        service.answer(Block.TYPE, lambda _: Done())
        await line.cut()
        await line.mend()
        await blocking
    assert len({command.id for command in service.received}) == 1


async def test_a_command_waits_for_the_first_connection(
    make_terminal: MakeTerminal, service: ScriptedService, line: BreakableLine
) -> None:
    await line.cut()
    async with make_terminal() as terminal:
        assert await terminal.contacts() == []
        asking = asyncio.create_task(terminal.groups())
        await line.mend()
        assert (await asking).groups == ()
    assert len(service.received) >= 1


async def test_publishing_answers_for_each_group(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    mine = card("alice", "Alice")

    def publish(command: Envelope) -> CardPublished | Exception:
        if command.data["group_id"] == CLUB:
            return refused(ErrorCode.CONFLICT, "Published elsewhere.", current_rev=9)
        return CardPublished(rev=4)

    service.answer(PublishCard.TYPE, publish)  # type: ignore[arg-type]
    service.answer_in_turn(Pull.TYPE, page(), page(group_id=CLUB, name="Club"))
    async with make_terminal() as terminal:
        await terminal.pull(FAMILY)
        await terminal.pull(CLUB)
        done, conflict = await terminal.publish(mine, [FAMILY, CLUB])
        assert (done.group_id, done.rev, done.error) == (FAMILY, 4, None)
        assert isinstance(conflict.error, RevisionConflict)
        assert conflict.error.current_rev == 9
        await terminal.publish(mine, [FAMILY])
    bases = [command.data.get("base_rev") for command in service.commands(PublishCard.TYPE)]
    assert bases == [None, None, 4]


async def test_one_process_runs_a_terminal(make_terminal: MakeTerminal) -> None:
    async with make_terminal() as terminal:
        with pytest.raises(TerminalInUse, match="Stop it first"):
            async with make_terminal():
                pass
        async with Terminal.phonebook_of(terminal.phonebook.path.parent) as beside:
            assert await beside.contacts() == []
    async with make_terminal():
        pass
