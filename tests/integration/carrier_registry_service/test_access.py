"""Who may look, on the wire (row C7): grants, groups, blocks, and what the owner sees of it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.carrier_registry_service.carrying import (
    allowed,
    ask,
    began,
    carrier_of,
    check,
    day,
    denied,
    feeds,
    new_number,
    new_seq,
    ref,
    until,
)
from tests.wire import System, Terminal

from contactmesh.contracts.carrier.access import (
    Grant,
    Granted,
    GrantList,
    ListGrants,
    ListLooks,
    Look,
    LookLog,
    RevokeGrant,
)
from contactmesh.contracts.carrier.check import Check, Checked
from contactmesh.contracts.carrier.feed import StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import DataVolume, NetworkState, ShownState
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    Block,
    BlockList,
    DissolveGroup,
    LeaveGroup,
    Lift,
    ListBlocks,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("C7")]


async def with_a_number(system: System, *names: str) -> tuple[str, list[Terminal]]:
    """Users, the first of whom has a number: its sequence number, and their terminals."""
    mobile = await carrier_of(system, "cn-mobile")
    terminals = await system.terminals(*names)
    seq = new_seq()
    await feeds(
        mobile,
        began(seq, terminals[0].user_id, new_number()),
        StateSeen(registration_seq=seq, state=NetworkState.NO_SERVICE, at=day(3)),
        UsageSeen(registration_seq=seq, remaining=DataVolume.BELOW_5_GIB, at=day(4)),
    )
    return seq, terminals


async def test_a_block_in_one_group_takes_away_what_another_group_implies(system: System) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    assert denied(await ask(bo, lin))
    first, second = await lin.creates(bo), await lin.creates(bo)
    await until(bo, lin, allowed)
    await lin.does(Block(user_id=bo.user_id, group_id=first))
    await until(bo, lin, denied)
    await lin.does(Lift(user_id=bo.user_id, group_id=first))
    await until(bo, lin, allowed)
    await lin.does(Block(user_id=bo.user_id))
    await until(bo, lin, denied)
    await lin.does(Lift(user_id=bo.user_id))
    await until(bo, lin, allowed)
    await bo.does(Block(user_id=lin.user_id))
    assert allowed(await ask(bo, lin)), "whom the viewer blocks has no bearing on it"
    await bo.does(LeaveGroup(group_id=first))
    await lin.does(DissolveGroup(group_id=second))
    await until(bo, lin, denied)


async def test_nobody_lifts_a_block_on_themselves_by_leaving_the_group(system: System) -> None:
    _, (lin, bo, mei) = await with_a_number(system, "lin", "bo", "mei")
    first, _ = await lin.creates(bo, mei), await lin.creates(bo)
    await until(bo, lin, allowed)
    await until(mei, bo, allowed)
    await lin.does(Block(user_id=bo.user_id, group_id=first))
    await until(bo, lin, denied)
    await bo.does(LeaveGroup(group_id=first))
    await until(mei, bo, denied)  # the registry knows by now that bo has left
    assert denied(await ask(bo, lin)), "they still share the other group"
    await lin.does(Lift(user_id=bo.user_id, group_id=first))
    await until(bo, lin, allowed)


async def test_nobody_lifts_a_block_on_themselves_by_dissolving_the_group(system: System) -> None:
    _, (lin, bo, mei) = await with_a_number(system, "lin", "bo", "mei")
    first, second = await bo.creates(lin, mei), await bo.creates(lin)
    await until(bo, lin, allowed)
    await until(mei, lin, allowed)
    await lin.does(Block(user_id=bo.user_id, group_id=first))
    await until(bo, lin, denied)
    await bo.does(DissolveGroup(group_id=first))
    await until(mei, lin, denied)  # the registry knows by now that the group is gone
    assert denied(await ask(bo, lin)), "they still share the other group"
    standing = await lin.does(ListBlocks())
    assert isinstance(standing, BlockList)
    assert standing.in_groups == {first: (bo.user_id,)}
    await lin.does(Lift(user_id=bo.user_id, group_id=first))
    assert await lin.does(ListBlocks()) == BlockList()
    await until(bo, lin, allowed)
    await bo.does(DissolveGroup(group_id=second))
    await until(bo, lin, denied)


async def test_a_setter_who_has_left_lifts_the_block_that_they_set_there(system: System) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    first, _ = await bo.creates(lin), await bo.creates(lin)
    await until(bo, lin, allowed)
    await lin.does(Block(user_id=bo.user_id, group_id=first))
    await until(bo, lin, denied)
    await lin.does(LeaveGroup(group_id=first))
    await lin.does(Lift(user_id=bo.user_id, group_id=first))
    await until(bo, lin, allowed)


async def test_a_block_holds_for_a_grant_and_in_a_group_that_is_joined_later(
    system: System,
) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    await lin.does(Grant(viewer_id=bo.user_id, state=True))
    assert allowed(await ask(bo, lin))
    await lin.does(Block(user_id=bo.user_id))
    await lin.creates(bo)
    await until(bo, lin, denied)


async def test_a_block_everywhere_holds_for_a_grant_without_any_group(system: System) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    await lin.does(Grant(viewer_id=bo.user_id))
    assert allowed(await ask(bo, lin))
    for _ in range(3):
        await lin.does(Block(user_id=bo.user_id))
        await until(bo, lin, denied)
        await lin.does(Lift(user_id=bo.user_id))
        await until(bo, lin, allowed)


async def test_a_grant_is_in_force_with_its_reply_and_a_revocation_too(system: System) -> None:
    seq, (lin, bo) = await with_a_number(system, "lin", "bo")
    known = ref("cn-mobile", seq)
    for state in (True, False):
        for usage in (True, False):
            await lin.does(Grant(viewer_id=bo.user_id, state=state, usage=usage))
            checked = await check(bo, lin, known)
            seen = checked.status[0] if checked.status else None
            assert bool(seen and seen.state) is state
            assert bool(seen and seen.usage) is usage
            if seen and seen.state:
                assert seen.state.state is ShownState.UNREACHABLE
                assert seen.state.last_status_time == day(3)
    await lin.creates(bo)
    await lin.does(RevokeGrant(viewer_id=bo.user_id))
    assert denied(await ask(bo, lin, known))
    listed = await lin.does(ListGrants())
    assert isinstance(listed, GrantList)
    assert [(one.viewer_id, one.details) for one in listed.grants] == [(bo.user_id, False)]


async def test_whoever_may_not_look_cannot_tell_why(system: System) -> None:
    seq, (lin, bo, mei, ada) = await with_a_number(system, "lin", "bo", "mei", "ada")
    known = ref("cn-mobile", seq)
    group_id = await lin.creates(bo)
    await until(bo, lin, allowed)
    await lin.does(Block(user_id=bo.user_id, group_id=group_id))
    await until(bo, lin, denied)
    await lin.does(RevokeGrant(viewer_id=mei.user_id))
    replies = [
        await ask(bo, lin, known),
        await ask(mei, lin, known),
        await ask(ada, lin, known),
        await ask(ada, system.new_user("nobody"), known),
        await ask(ada, lin),
    ]
    assert {reply.model_dump_json() for reply in replies} == {replies[0].model_dump_json()}
    assert replies[0].error is not None
    assert replies[0].error.code is ErrorCode.NOT_FOUND
    assert not any(terminal.ever_saw("+86139") for terminal in (mei, ada))


async def all_looks(owner: Terminal, limit: int = 200) -> list[Look]:
    """The owner's whole log, read page by page."""
    seen: list[Look] = []
    before = None
    while True:
        page = await owner.does(ListLooks(before=before, limit=limit))
        assert isinstance(page, LookLog)
        seen += page.looks
        if not page.has_more:
            return seen
        before = page.looks[-1].at


async def test_the_owner_sees_who_looked_at_what_however_often(system: System) -> None:
    seq, (lin, bo, ada) = await with_a_number(system, "lin", "bo", "ada")
    desktop = await system.another_terminal(bo.user_id)
    await lin.does(Grant(viewer_id=bo.user_id, state=True))
    began_at = datetime.now(UTC)
    await ask(ada, lin)
    await ask(lin, lin)
    times = 230
    replies = await asyncio.gather(
        *(ask((bo, desktop)[number % 2], lin, ref("cn-mobile", seq)) for number in range(times))
    )
    assert all(map(allowed, replies))
    again = Check(identity_id=lin.user_id)
    for number in (1, 2, 3):
        await bo.send_command(again, "sent-again")
        assert allowed(await bo.reply_to("sent-again", number=number))
    seen = await all_looks(lin)
    assert [one.at for one in seen] == sorted((one.at for one in seen), reverse=True)
    bos = [one for one in seen if one.viewer_id == bo.user_id]
    assert len(bos) <= 2, "one for each hour"
    assert sum(one.count for one in bos) == times + 1, "what is sent again is one look"
    assert {(one.allowed, one.fields) for one in bos} == {(True, ("details", "state"))}
    (adas,) = [one for one in seen if one.viewer_id == ada.user_id]
    assert (adas.allowed, adas.fields, adas.count) == (False, (), 1)
    assert len(seen) == len(bos) + 1, "looking at oneself is none"
    second = timedelta(seconds=1)  # moments are kept in milliseconds
    assert all(
        began_at - second <= one.at <= one.last_at <= datetime.now(UTC) + second for one in seen
    )
    assert await bo.does(ListLooks()) == LookLog(looks=(), has_more=False)


async def test_the_log_of_looks_and_the_grants_are_read_page_by_page(system: System) -> None:
    _, (lin, *viewers) = await with_a_number(system, "lin", *(f"v{n}" for n in range(7)))
    for number, viewer in enumerate(viewers):
        await lin.does(Grant(viewer_id=viewer.user_id, usage=number % 2 == 0))
        await ask(viewer, lin)
    everybody = sorted(viewer.user_id for viewer in viewers)
    for limit in (1, 3, 7, 100):
        seen = await all_looks(lin, limit)
        assert sorted(one.viewer_id for one in seen) == everybody
        granted: list[Granted] = []
        after, pages = None, 0
        while True:
            page = await lin.does(ListGrants(after=after, limit=limit))
            assert isinstance(page, GrantList)
            assert len(page.grants) <= limit
            granted += page.grants
            pages += 1
            if not page.has_more:
                break
            after = page.grants[-1].viewer_id
        assert [one.viewer_id for one in granted] == everybody
        assert pages == -(-len(viewers) // limit)
    assert await viewers[0].does(ListGrants()) == GrantList(grants=())
    assert (await lin.refused(ListGrants.model_construct(limit=0))).code is (
        ErrorCode.INVALID_ARGUMENT
    )


async def test_a_check_with_too_many_wrong_references_is_a_refused_look(system: System) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    await lin.does(Grant(viewer_id=bo.user_id))
    wrong = [ref("cn-mobile", str(10**9 + number)) for number in range(30)]
    reply = await ask(bo, lin, *wrong)
    assert reply.error is not None
    assert reply.error.code is ErrorCode.RATE_LIMITED
    (look,) = await all_looks(lin)
    assert (look.viewer_id, look.allowed, look.fields) == (bo.user_id, False, ())


async def test_a_revoked_terminal_checks_no_more(system: System) -> None:
    _, (lin, bo) = await with_a_number(system, "lin", "bo")
    await lin.does(Grant(viewer_id=bo.user_id))
    other = await system.another_terminal(bo.user_id)
    assert isinstance(await check(other, lin), Checked)
    await system.revoke(other.id)
    assert allowed(await ask(bo, lin))
