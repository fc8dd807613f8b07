"""Pull brings everything that push may have missed (row G4)."""

import asyncio
from datetime import UTC, datetime

import pytest
from tests.integration.terminal.conftest import ALICE, MakeTerminal
from tests.integration.terminal.scripted_service import ScriptedService, refused
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import CLUB, FAMILY, card, changed, member, page

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import (
    Accepted,
    AcceptInvitation,
    Created,
    CreateGroup,
    GroupList,
    LeaveGroup,
    ListGroups,
    Pull,
    SetPullInterval,
)
from contactmesh.contracts.group.updates import GroupJoined as GroupJoinedUpdate
from contactmesh.contracts.group.updates import RefreshUpdate
from contactmesh.contracts.group.views import InvitationView
from contactmesh.contracts.reply import Done
from contactmesh.local.waiting import until
from contactmesh.terminal import (
    CommandRefused,
    ContactAdded,
    Departure,
    GroupGone,
    GroupJoined,
    InvitationReceived,
    MemberLeft,
)
from contactmesh.terminal.rules.scheduling import jittered

BOB = card("bob", "Bob Li", phones={"m": "+8613800138000"})
EVE = card("eve", "Eve", phones={"m": "+447400123456"})
pytestmark = [pytest.mark.usefixtures("queue"), pytest.mark.claim("G4")]


def pulls(service: ScriptedService) -> list[tuple[str, str | None]]:
    return [
        (command.data["group_id"], command.data.get("since"))
        for command in service.commands(Pull.TYPE)
    ]


async def test_page_by_page_each_with_its_cursor(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(
        page(member("bob", 3, BOB), cursor="c1", has_more=True),
        page(member("eve", 4, EVE), cursor="c2"),
    )
    async with make_terminal() as terminal:
        await terminal.pull()
        assert [one.display_name for one in await terminal.contacts()] == ["Bob Li", "Eve"]
        assert await terminal.phonebook.pull_interval() == 600
    assert pulls(service) == [(FAMILY, None), (FAMILY, "c1")]
    async with make_terminal() as terminal:
        assert await terminal.pull(FAMILY) == ()
    assert pulls(service)[2:] == [(FAMILY, "c2")]


async def test_a_cursor_that_is_too_old_leads_to_a_full_pull(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(page(member("bob", 3, BOB), member("eve", 4, EVE), cursor="c1"))
    async with make_terminal() as terminal:
        await terminal.pull()
        service.answer_in_turn(
            Pull.TYPE,
            refused(ErrorCode.FULL_SYNC_REQUIRED),
            page(member("bob", 3, BOB), cursor="c9"),
        )
        updates = await terminal.pull(FAMILY)
        assert [one.display_name for one in await terminal.contacts()] == ["Bob Li"]
    assert [update for update in updates if isinstance(update, MemberLeft)]
    assert pulls(service)[1:] == [(FAMILY, "c1"), (FAMILY, None)]


async def test_a_group_that_the_service_does_not_know_is_dropped(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal() as terminal:
        await terminal.pull()
        service.answer(Pull.TYPE, lambda _: refused(ErrorCode.NOT_FOUND))
        updates = await terminal.pull(FAMILY)
        assert GroupGone(FAMILY, "Family", Departure.UNKNOWN) in updates
        assert await terminal.contacts() == []


async def test_other_refusals_are_raised(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(Pull.TYPE, lambda _: refused(ErrorCode.INTERNAL, "A fault of ours."))
    async with make_terminal() as terminal:
        with pytest.raises(CommandRefused, match="A fault of ours"):
            await terminal.pull(FAMILY)


async def test_a_push_that_says_so_leads_to_a_pull_of_that_group(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    async with make_terminal(pull=True) as terminal:
        stream = terminal.updates()
        service.answer(Pull.TYPE, lambda _: page(member("bob", 3, BOB)))
        await service.push(ALICE, GroupJoinedUpdate(group_id=FAMILY, name="F", owner_id="bob"))
        await the_next(stream, GroupJoined)
        await the_next(stream, ContactAdded)
        service.answer(Pull.TYPE, lambda _: page(member("eve", 4, EVE), cursor="c2"))
        await service.push(ALICE, RefreshUpdate(group_id=FAMILY))
        await the_next(stream, ContactAdded)
        other = page(member("zoe", 5, card("zoe", "Zoe")), group_id=CLUB, name="Club")
        service.answer(Pull.TYPE, lambda _: other)
        await service.push(ALICE, changed("zoe", 5, card("zoe", "Zoe"), group_id=CLUB))
        await the_next(stream, ContactAdded)
    assert [group_id for group_id, _ in pulls(service)] == [FAMILY, FAMILY, CLUB]


async def test_an_unanswered_pull_is_made_up_for(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(ListGroups.TYPE, lambda _: None)
    async with make_terminal(pull=True, deadline_seconds=0.5) as terminal:
        stream = terminal.updates()

        async def gave_up_once() -> bool:
            return len({command.id for command in service.commands(ListGroups.TYPE)}) > 1

        await until(gave_up_once, seconds=20)
        service.have_group(page(member("bob", 3, BOB)))
        await the_next(stream, ContactAdded)


async def test_a_refused_pull_is_tried_again_when_the_service_says(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(
        ListGroups.TYPE, lambda _: refused(ErrorCode.RATE_LIMITED, retry_after_seconds=1)
    )
    async with make_terminal(pull=True) as terminal:
        stream = terminal.updates()

        async def asked() -> bool:
            return bool(service.commands(ListGroups.TYPE))

        await until(asked, seconds=20)
        service.have_group(page(member("bob", 3, BOB)))
        await the_next(stream, ContactAdded)


@pytest.mark.claim("G8")
async def test_the_interval_is_chosen_at_the_service_and_here(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer(SetPullInterval.TYPE, lambda _: Done())
    async with make_terminal() as terminal:
        await terminal.set_pull_interval(30)
        assert await terminal.phonebook.pull_interval() == 30
    (command,) = service.commands(SetPullInterval.TYPE)
    assert command.data == {"seconds": 30}


async def test_the_terminal_pulls_when_its_interval_is_over(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    async with make_terminal(pull=True) as terminal:
        await terminal.phonebook.save_pull_interval(0)

        async def pulled_again() -> bool:
            return len(service.commands(ListGroups.TYPE)) > 3

        terminal._puller.rearm()
        await until(pulled_again, seconds=20)


def test_intervals_vary_by_a_tenth() -> None:
    assert [round(jittered(600, random)) for random in (0, 0.5, 1)] == [540, 600, 660]


async def test_creating_accepting_and_leaving_show_in_the_phonebook_at_once(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    invitation = InvitationView(
        invitation_id="018f0000-0000-7000-8000-0000000000aa",
        group_id=CLUB,
        group_name="Club",
        inviter_id="bob",
        invitee_id="alice",
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )

    def pulled(command: Envelope) -> object:
        name = "Family" if command.data["group_id"] == FAMILY else "Club"
        return page(member("bob", 3, BOB), group_id=command.data["group_id"], name=name)

    service.answer(ListGroups.TYPE, lambda _: GroupList(groups=(), invitations=(invitation,)))
    service.answer(Pull.TYPE, pulled)  # type: ignore[arg-type]
    service.answer(CreateGroup.TYPE, lambda _: Created(group_id=FAMILY))
    service.answer(AcceptInvitation.TYPE, lambda _: Accepted(group_id=CLUB))
    service.answer(LeaveGroup.TYPE, lambda _: Done())
    async with make_terminal() as terminal:
        stream = terminal.updates()
        await terminal.pull()
        await the_next(stream, InvitationReceived)
        assert await terminal.create_group("Family", ["bob"]) == FAMILY
        assert await terminal.accept(invitation.invitation_id) == CLUB
        assert await terminal.phonebook.invitations() == []
        groups = await terminal.phonebook.groups()
        assert [group.name for group in groups] == ["Club", "Family"]
        await terminal.leave(CLUB)
        await terminal.leave(FAMILY)
        assert await terminal.phonebook.groups() == []
        assert await terminal.contacts() == []


async def test_pulls_of_one_terminal_do_not_run_into_each_other(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal(pull=True) as terminal:
        await asyncio.gather(*(terminal.pull() for _ in range(5)))
    first, *others = pulls(service)
    assert first == (FAMILY, None)
    assert set(others) == {(FAMILY, "c1")}
