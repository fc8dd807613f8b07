"""A command that comes again has its effect once, and quotas are exact whatever comes at once."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, Terminal, card_of, number_of, running_system

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    AcceptInvitation,
    Block,
    CreateGroup,
    GroupList,
    GroupShown,
    Invite,
    ListGroups,
    PublishCard,
    ShowGroup,
)
from contactmesh.contracts.reply import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Two copies of group_service and of fanout_service, and low quotas."""
    quotas = {
        "CONTACTMESH_OWNED_GROUPS_LIMIT": "3",
        "CONTACTMESH_OPEN_INVITATIONS_LIMIT": "4",
        "CONTACTMESH_MEMBERS_LIMIT": "3",
    }
    async with running_system(
        backends,
        tmp_path_factory.mktemp("system"),
        scale={"group_service": 2, "fanout_service": 2},
        environment={"group_service": quotas},
    ) as running:
        yield running


async def _at_once(terminal: Terminal, commands: list[Command]) -> list[Reply]:
    ids = await asyncio.gather(*(terminal.send_command(command) for command in commands))
    return [await terminal.reply_to(message_id) for message_id in ids]


def _codes(replies: list[Reply]) -> list[str]:
    return sorted(reply.status if reply.error is None else reply.error.code for reply in replies)


@pytest.mark.claim("G1c")
@pytest.mark.parametrize("apart", [True, False])
async def test_g1c_a_command_five_times_has_one_effect_and_the_same_answer_each_time(
    system: System, apart: bool
) -> None:
    lin = await system.terminal("lin")
    command = CreateGroup(name="家人")
    for number in range(5):
        await lin.send_command(command, "same-id")
        if apart:
            await lin.reply_to("same-id", number=number + 1)
    if not apart:
        # copies in one batch are answered once: the next one shows that all were handled
        await lin.reply_to("same-id")
        await lin.does(ListGroups())
        await lin.send_command(command, "same-id")
        before = len(lin.replies["same-id"])
        await lin.until(lambda: len(lin.replies["same-id"]) > before)
    answers = {json.dumps(reply.data, sort_keys=True) for reply in lin.replies["same-id"]}
    assert len(answers) == 1
    listed = await lin.does(ListGroups())
    assert isinstance(listed, GroupList)
    assert len(listed.groups) == 1


@pytest.mark.claim("G1c")
async def test_g1c_the_same_id_of_another_terminal_is_another_command(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    for one in (lin, bo):
        await one.does(CreateGroup(name="one"), "same-id")
        listed = await one.does(ListGroups())
        assert isinstance(listed, GroupList)
        assert listed.groups[0].owner_id == one.user_id


@pytest.mark.claim("G1c")
async def test_g1c_a_refusal_is_the_same_each_time_even_if_it_would_be_granted_by_now(
    system: System,
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates()
    early = Invite(group_id=group_id, user_id=lin.user_id)
    refused = await bo.ask(early, "same-id")
    await bo.accepts(await lin.invites(group_id, bo))
    await bo.send_command(early, "same-id")
    assert await bo.reply_to("same-id", number=2) == refused


@pytest.mark.claim("G2")
async def test_g2_of_many_groups_at_once_as_many_are_created_as_allowed(system: System) -> None:
    lin = await system.terminal("lin")
    replies = await _at_once(lin, [CreateGroup(name=f"group {n}") for n in range(12)])
    assert _codes(replies) == ["ok"] * 3 + [ErrorCode.QUOTA_EXCEEDED] * 9
    listed = await lin.does(ListGroups())
    assert isinstance(listed, GroupList)
    assert len(listed.groups) == 3
    refused = next(reply.error for reply in replies if reply.error is not None)
    assert refused.details == {"limit": 3}


@pytest.mark.claim("G3")
async def test_g3_of_many_invitations_at_once_as_many_are_sent_as_allowed(system: System) -> None:
    lin = await system.terminal("lin")
    group_id = await lin.creates()
    commands = [Invite(group_id=group_id, user_id=f"guest-{n}") for n in range(10)]
    assert _codes(await _at_once(lin, [*commands])).count("ok") == 4
    shown = await lin.does(ShowGroup(group_id=group_id))
    assert isinstance(shown, GroupShown)
    assert len(shown.invitations) == 4


@pytest.mark.claim("G3")
async def test_g3_of_many_who_accept_at_once_as_many_come_in_as_allowed(system: System) -> None:
    lin, *guests = await system.terminals("lin", "bo", "ada", "mei", "kit")
    group_id = await lin.creates()
    ids = [await lin.invites(group_id, guest) for guest in guests]
    replies = await asyncio.gather(
        *(
            guest.ask(AcceptInvitation(invitation_id=invitation_id))
            for guest, invitation_id in zip(guests, ids, strict=True)
        )
    )
    assert _codes(list(replies)).count("ok") == 2
    assert len(await lin.pulls(group_id)) == 3


@pytest.mark.claim("G1c")
async def test_g1c_of_cards_that_are_published_at_once_one_is_taken(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    tablet = await system.another_terminal(lin.user_id)
    group_id = await lin.creates(bo)
    rev = await lin.publishes(group_id, "+8613700000000")
    replies = await asyncio.gather(
        *(
            terminal.ask(
                PublishCard(
                    group_id=group_id,
                    card=card_of(lin.user_id, f"+861370000000{number}"),
                    base_rev=rev,
                )
            )
            for number, terminal in enumerate((lin, tablet, lin, tablet), start=1)
        )
    )
    (taken,) = [number for number, reply in enumerate(replies, start=1) if reply.error is None]
    card = (await bo.pulls(group_id))[lin.user_id].card
    assert number_of(card) == f"+861370000000{taken}"
    assert {reply.error.code for reply in replies if reply.error} == {ErrorCode.CONFLICT}


@pytest.mark.claim("G1b")
async def test_g1b_a_block_everywhere_and_a_join_at_once_hide_what_comes_after(
    system: System,
) -> None:
    for _ in range(5):
        lin, bo = await system.terminals("lin", "bo")
        group_id = await lin.creates()
        invitation_id = await lin.invites(group_id, bo)
        await asyncio.gather(lin.does(Block(user_id=bo.user_id)), bo.accepts(invitation_id))
        await lin.publishes(group_id, "+8613700000009")
        assert (await bo.pulls(group_id))[lin.user_id].card is None
    assert not bo.ever_saw("+8613700000009")


async def test_logs_carry_the_correlation_id_and_no_number_name_or_secret(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo, name="欧阳家的登山队")
    await lin.publishes(group_id, "+8613712345678", name="欧阳晓雨")
    await bo.until_pushed(lin, group_id, "+8613712345678")
    card = card_of(lin.user_id, "+8613787654321", "欧阳晓雨")
    refused = await lin.send_command(PublishCard(group_id=group_id, card=card, base_rev=1))
    await lin.reply_to(refused)
    broken = lin.envelope(PublishCard(group_id=group_id, card=card)).encode()
    broken = broken.replace(b'"@type":"Card"', b'"@type":"+8613712345678"')
    unreadable = await lin.send(broken, PublishCard.routing_key(lin.id))
    assert (await lin.reply_to(unreadable)).error is not None
    await system.publish_events([("contact.changed.card", b'{"card": "+8613712345678"')])
    await system.parked("fanout_service.events")
    lines = [line for _, line in system.log]
    for correlation_id in (refused, unreadable):
        assert any(correlation_id in line for line in lines)
    secrets = [lin.credentials.secret, bo.credentials.secret]
    secrets.append(system.stack.operator_token_file.read_text().strip())
    for text in ("13712345678", "13787654321", "欧阳", "登山队", *secrets):
        assert not [line for line in lines if text in line]
    for process, line in system.log:
        assert json.loads(line)["event"], f"{process} writes JSON"
