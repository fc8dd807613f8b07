"""Rows G1 to G8 through the broker: commands in, replies, pushes and pulls out."""

import asyncio

import pytest
from aio_pika.exceptions import AMQPError
from tests.wire import System, number_of

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    Block,
    BlockList,
    DeclineInvitation,
    DissolveGroup,
    GroupList,
    GroupShown,
    HandOver,
    Invite,
    LeaveGroup,
    Lift,
    ListBlocks,
    ListGroups,
    Pull,
    RemoveMember,
    SetPullInterval,
    ShowGroup,
    Subscribe,
    Unsubscribe,
    WithdrawInvitation,
)
from contactmesh.contracts.group.views import MemberState, Role

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.claim("G1")
async def test_g1_phonebooks_are_updated_when_someone_joins_and_when_details_change(
    system: System,
) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    ada_desktop = await system.another_terminal(ada.user_id)
    group_id = await lin.creates(bo)
    invitation_id = await lin.invites(group_id, ada)
    await ada.accepts(invitation_id)
    for member in (lin, bo):
        await member.until_told("group.member.joined", group_id)
        (joined,) = member.updates("group.member.joined", group_id)
        assert joined["user_id"] == ada.user_id
    await ada.publishes(group_id, "+8613800000001")
    for terminal in (lin, bo, ada_desktop):
        await terminal.until_pushed(ada, group_id, "+8613800000001")


@pytest.mark.claim("G1a")
async def test_g1a_creator_initial_and_invited_members_and_who_may_invite(system: System) -> None:
    lin, bo, ada, mei = await system.terminals("lin", "bo", "ada", "mei")
    group_id = await lin.creates(bo)
    await ada.accepts(await bo.invites(group_id, ada))
    shown = await lin.does(ShowGroup(group_id=group_id))
    assert isinstance(shown, GroupShown)
    assert {member.user_id: member.role for member in shown.members} == {
        lin.user_id: Role.CREATOR,
        bo.user_id: Role.INITIAL,
        ada.user_id: Role.INVITED,
    }
    error = await ada.refused(Invite(group_id=group_id, user_id=mei.user_id))
    assert error.code is ErrorCode.PERMISSION_DENIED


@pytest.mark.claim("G1a")
async def test_g1a_being_a_member_shares_nothing_until_one_publishes(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    pulled = await lin.pulls(group_id)
    assert pulled[bo.user_id].card is None
    await bo.publishes(group_id, "+8613800000002")
    pulled = await lin.pulls(group_id)
    assert number_of(pulled[bo.user_id].card) == "+8613800000002"


@pytest.mark.claim("G1b")
async def test_g1b_a_blocked_member_learns_nothing_on_any_path_until_the_block_is_lifted(
    system: System,
) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    group_id = await lin.creates(bo, ada)
    first = await lin.publishes(group_id, "+8613800000010")
    await bo.until_pushed(lin, group_id, "+8613800000010")
    cursor = (await bo.pull(group_id)).cursor
    summary = await bo.does(ShowGroup(group_id=group_id))
    groups = await bo.does(ListGroups())
    pushed_before = len(bo.received)

    await lin.does(Block(user_id=bo.user_id, group_id=group_id))
    second = await lin.publishes(group_id, "+8613800000011", first)
    third = await lin.publishes(group_id, "+8613800000012", second)
    await ada.until_pushed(lin, group_id, "+8613800000012")
    # what ada publishes after it passes through the same queues, so nothing else is under way
    await ada.publishes(group_id, "+8613800000019", name="Ada Byrne")
    await bo.until_pushed(ada, group_id, "+8613800000019")
    assert len(bo.received) == pushed_before + 1

    since = await bo.pull(group_id, cursor)
    assert [member.user_id for member in since.members] == [ada.user_id]
    whole = await bo.pulls(group_id)
    assert number_of(whole[lin.user_id].card) == "+8613800000010"
    assert whole[lin.user_id].rev == first
    assert await bo.does(ShowGroup(group_id=group_id)) == summary
    assert await bo.does(ListGroups()) == groups
    # and a cursor of before and one of after the hidden changes are the same
    assert (await bo.pull(group_id, since.cursor)).cursor == since.cursor
    assert not bo.ever_saw("+8613800000011")
    assert not bo.ever_saw("+8613800000012")

    await lin.does(Lift(user_id=bo.user_id, group_id=group_id))
    await bo.until_told("group.refresh", group_id)
    after = await bo.pull(group_id, since.cursor)
    (changed,) = after.members
    assert changed.user_id == lin.user_id
    assert number_of(changed.card) == "+8613800000012"
    assert changed.rev > third, "the revision tells when it was lifted, not when it was changed"
    assert not bo.ever_saw("+8613800000011"), "the current card, not the missed history"


@pytest.mark.claim("G1b")
async def test_g1b_who_left_and_lifted_their_block_is_pushed_again_after_coming_back(
    system: System,
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    rev = await bo.publishes(group_id, "+8613800000001")
    await lin.until_pushed(bo, group_id, "+8613800000001")
    await bo.does(Block(user_id=lin.user_id, group_id=group_id))
    await bo.publishes(group_id, "+8613800000002", rev)
    await bo.does(LeaveGroup(group_id=group_id))
    await bo.accepts(await lin.invites(group_id, bo))
    await bo.publishes(group_id, "+8613800000003")
    assert (await lin.pulls(group_id))[bo.user_id].card is None, "deny wins until it is lifted"
    await bo.does(LeaveGroup(group_id=group_id))
    await bo.does(Lift(user_id=lin.user_id, group_id=group_id))
    await bo.accepts(await lin.invites(group_id, bo))
    rev = await bo.publishes(group_id, "+8613800000004")
    await lin.until_pushed(bo, group_id, "+8613800000004")
    shown = (await lin.pulls(group_id))[bo.user_id]
    assert (number_of(shown.card), shown.rev) == ("+8613800000004", rev)
    assert lin.pushed_numbers(bo, group_id) == ["+8613800000001", "+8613800000004"]
    assert not any(lin.ever_saw(f"+861380000000{hidden}") for hidden in (2, 3))


@pytest.mark.claim("G1b")
async def test_g1b_a_block_everywhere_holds_in_groups_that_they_come_to_share(
    system: System,
) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    await lin.does(Block(user_id=bo.user_id))
    created = await ada.creates(lin, bo)
    joined = await ada.creates(lin)
    await bo.accepts(await ada.invites(joined, bo))
    for number, group_id in enumerate((created, joined)):
        await lin.publishes(group_id, f"+861380000010{number}")
        await ada.until_pushed(lin, group_id, f"+861380000010{number}")
        assert (await bo.pulls(group_id))[lin.user_id].card is None
        await ada.publishes(group_id, "+8613800000109", name="Ada Byrne")
        await bo.until_pushed(ada, group_id, "+8613800000109")
    assert not bo.ever_saw("+861380000010" + "0")
    blocks = await lin.does(ListBlocks())
    assert isinstance(blocks, BlockList)
    assert blocks.everywhere == (bo.user_id,)
    assert set(blocks.in_groups) == {created, joined}
    await lin.does(Lift(user_id=bo.user_id))
    for number, group_id in enumerate((created, joined)):
        card = (await bo.pulls(group_id))[lin.user_id].card
        assert number_of(card) == f"+861380000010{number}"
    assert await lin.does(ListBlocks()) == BlockList()


@pytest.mark.claim("G1c")
async def test_g1c_only_a_change_is_pushed_and_its_sender_learns_the_revision(
    system: System,
) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    first = await lin.publishes(group_id, "+8613800000020")
    assert await lin.publishes(group_id, "+8613800000020", first) == first, "nothing changed"
    second = await lin.publishes(group_id, "+8613800000021", first)
    assert second > first
    await bo.until_pushed(lin, group_id, "+8613800000021")
    pushed = bo.updates("contact.changed", group_id)
    assert [update["rev"] for update in pushed] == [first, second]
    assert "origin" not in pushed[0]
    assert pushed[1]["changed_fields"] == ["phones/mobile/number"]


@pytest.mark.claim("G1c")
async def test_g1c_the_recipients_of_a_push_do_not_learn_of_each_other(system: System) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    group_id = await lin.creates(bo, ada)
    await lin.publishes(group_id, "+8613800000022")
    await bo.until_pushed(lin, group_id, "+8613800000022")
    (push,) = [message for message in bo.raw if b"+8613800000022" in message.body]
    assert ada.user_id not in (push.routing_key or "")
    assert ada.user_id.encode() not in push.body
    assert not {"CC", "BCC"} & set(push.headers)


@pytest.mark.claim("G2")
async def test_g2_only_an_authenticated_terminal_creates_and_not_above_its_quota(
    system: System,
) -> None:
    lin = await system.terminal("lin")
    await system.revoke(lin.id)
    with pytest.raises((AMQPError, OSError)):  # the broker or the absence of its queue says no
        await lin.connect()
    bo = await system.terminal("bo")
    group_id = await bo.creates()
    listed = await bo.does(ListGroups())
    assert isinstance(listed, GroupList)
    assert [group.group_id for group in listed.groups] == [group_id]
    assert listed.groups[0].owner_id == bo.user_id


@pytest.mark.claim("G3")
async def test_g3_an_invitation_is_received_accepted_once_declined_or_withdrawn(
    system: System,
) -> None:
    lin, bo, ada, mei = await system.terminals("lin", "bo", "ada", "mei")
    group_id = await lin.creates(name="登山队")
    ids = {one.user_id: await lin.invites(group_id, one) for one in (bo, ada, mei)}
    for one in (bo, ada, mei):
        await one.until_told("group.invitation.received", group_id)
        listed = await one.does(ListGroups())
        assert isinstance(listed, GroupList)
        (view,) = listed.invitations
        assert (view.invitation_id, view.group_name) == (ids[one.user_id], "登山队")
    await bo.accepts(ids[bo.user_id])
    await ada.does(DeclineInvitation(invitation_id=ids[ada.user_id]))
    await lin.does(WithdrawInvitation(invitation_id=ids[mei.user_id]))
    await lin.until_told("group.invitation.closed", group_id, number=3)
    outcomes = {
        update["invitee_id"]: update["outcome"]
        for update in lin.updates("group.invitation.closed", group_id)
    }
    assert outcomes == {
        bo.user_id: "accepted",
        ada.user_id: "declined",
        mei.user_id: "withdrawn",
    }
    for one in (bo, ada, mei):
        error = await one.refused(DeclineInvitation(invitation_id=ids[one.user_id]))
        assert error.code is ErrorCode.NOT_FOUND, "it is used up"
    assert set(await lin.pulls(group_id)) == {lin.user_id, bo.user_id}


@pytest.mark.claim("G3")
async def test_g3_nobody_answers_another_ones_invitation(system: System) -> None:
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    group_id = await lin.creates()
    invitation_id = await lin.invites(group_id, bo)
    error = await ada.refused(DeclineInvitation(invitation_id=invitation_id))
    assert error.code is ErrorCode.NOT_FOUND
    error = await ada.refused(WithdrawInvitation(invitation_id=invitation_id))
    assert error.code is ErrorCode.NOT_FOUND
    await bo.accepts(invitation_id)


@pytest.mark.claim("G4")
async def test_g4_a_pull_brings_what_changed_since_the_last_one_in_pages(system: System) -> None:
    lin, *others = await system.terminals("lin", "bo", "ada", "mei", "kit")
    group_id = await lin.creates(*others)
    revs = {one.id: await one.publishes(group_id, "+8613800000040") for one in others}
    page = await lin.pull(group_id, limit=2)
    seen = [member.user_id for member in page.members]
    while page.has_more:
        page = await lin.pull(group_id, page.cursor, limit=2)
        seen += [member.user_id for member in page.members]
    assert sorted(seen) == sorted(one.user_id for one in (lin, *others))
    empty = await lin.pull(group_id, page.cursor)
    assert (empty.members, empty.has_more, empty.cursor) == ((), False, page.cursor)
    await others[2].publishes(group_id, "+8613800000041", revs[others[2].id])
    await others[0].does(LeaveGroup(group_id=group_id))
    changed = await lin.pull(group_id, page.cursor)
    assert [(member.user_id, member.state) for member in changed.members] == [
        (others[2].user_id, MemberState.ACTIVE),
        (others[0].user_id, MemberState.LEFT),
    ]


@pytest.mark.claim("G4")
async def test_g4_a_terminal_chooses_its_own_interval(system: System) -> None:
    lin = await system.terminal("lin")
    tablet = await system.another_terminal(lin.user_id)
    group_id = await lin.creates()
    await tablet.does(SetPullInterval(seconds=60))
    assert (await tablet.pull(group_id)).interval_seconds == 60
    assert (await lin.pull(group_id)).interval_seconds == 900


@pytest.mark.claim("G4")
async def test_g4_a_cursor_is_of_use_to_its_user_in_its_group_only(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    group_id, other_group = await lin.creates(bo), await lin.creates(bo)
    cursor = (await lin.pull(group_id)).cursor
    for terminal, group, text in (
        (bo, group_id, cursor),
        (lin, other_group, cursor),
        (lin, group_id, "A" * 32),
        (lin, group_id, "A"),
    ):
        error = await terminal.refused(Pull(group_id=group, since=text))
        assert error.code is ErrorCode.FULL_SYNC_REQUIRED


@pytest.mark.claim("G4")
async def test_g4_a_terminal_without_pushes_still_pulls(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    bo_tablet = await system.another_terminal(bo.user_id)
    group_id = await lin.creates(bo)
    await bo.does(Unsubscribe(group_id=group_id))
    first = await lin.publishes(group_id, "+8613800000050")
    await bo_tablet.until_pushed(lin, group_id, "+8613800000050")
    await bo.does(Subscribe(group_id=group_id))
    await lin.publishes(group_id, "+8613800000051", first)
    await bo.until_pushed(lin, group_id, "+8613800000051")
    assert bo.pushed_numbers(lin, group_id) == ["+8613800000051"]
    assert number_of((await bo.pulls(group_id))[lin.user_id].card) == "+8613800000051"


@pytest.mark.claim("G5")
async def test_g5_to_g8_leaving_removing_handing_over_and_dissolving(system: System) -> None:
    lin, bo, ada, mei = await system.terminals("lin", "bo", "ada", "mei")
    group_id = await lin.creates(bo, ada, mei)
    await mei.publishes(group_id, "+8613800000060")
    error = await lin.refused(LeaveGroup(group_id=group_id))
    assert error.code is ErrorCode.PERMISSION_DENIED, "an owner hands over first"
    error = await bo.refused(RemoveMember(group_id=group_id, user_id=ada.user_id))
    assert error.code is ErrorCode.PERMISSION_DENIED
    await lin.does(HandOver(group_id=group_id, user_id=bo.user_id))
    await ada.until_told("group.handed_over", group_id)
    await lin.does(LeaveGroup(group_id=group_id))
    await bo.does(RemoveMember(group_id=group_id, user_id=mei.user_id))
    await ada.until_told("group.member.left", group_id, number=2)
    told = {one["user_id"]: one["state"] for one in ada.updates("group.member.left", group_id)}
    assert told == {lin.user_id: MemberState.LEFT, mei.user_id: MemberState.REMOVED}
    for gone, number in ((lin, 1), (mei, 2)):  # each is told of their own going, too
        told_last = await gone.until_told("group.member.left", group_id, number=number)
        assert gone.user_id in {one["user_id"] for one in told_last}
    assert set(await ada.pulls(group_id)) == {bo.user_id, ada.user_id}
    for gone in (lin, mei):
        error = await gone.refused(Pull(group_id=group_id))
        assert error.code is ErrorCode.NOT_FOUND
    await bo.does(DissolveGroup(group_id=group_id))
    await ada.until_told("group.dissolved", group_id)
    error = await ada.refused(Pull(group_id=group_id))
    assert error.code is ErrorCode.NOT_FOUND


@pytest.mark.claim("G6")
@pytest.mark.claim("G7")
@pytest.mark.claim("G8")
async def test_g5_to_g8_the_modules_of_server_and_terminal_work_together(system: System) -> None:
    """Request, authentication, creation, the settings, upload, detection, update."""
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    await bo.until_told("group.joined", group_id)
    await asyncio.gather(
        lin.does(SetPullInterval(seconds=3600)),
        lin.does(Block(user_id=bo.user_id, group_id=group_id)),
        bo.publishes(group_id, "+8613800000070"),
    )
    await lin.until_pushed(bo, group_id, "+8613800000070")
    shown = await lin.does(ShowGroup(group_id=group_id))
    assert isinstance(shown, GroupShown)
    assert shown.blocked == (bo.user_id,)
    assert shown.push
    seen_by_bo = await bo.does(ShowGroup(group_id=group_id))
    assert isinstance(seen_by_bo, GroupShown)
    assert seen_by_bo.blocked == (), "whom others block is nobody's business"
