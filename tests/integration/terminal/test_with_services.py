"""Terminals with every real service behind them, with a terminal's narrow rights at the broker."""

import asyncio
import itertools
import textwrap
from typing import Any

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card

import contactmesh.terminal
from contactmesh.contacts import Card
from contactmesh.contracts.errors import ErrorCode
from contactmesh.messaging.connection import delete_terminal_queue
from contactmesh.terminal import (
    AuthenticationRefused,
    CommandRefused,
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    Departure,
    EnrolmentRefused,
    GroupGone,
    GroupJoined,
    HandedOver,
    InvitationClosed,
    InvitationReceived,
    MemberJoined,
    MemberLeft,
    OwnCardUpdated,
    RevisionConflict,
    Terminal,
)

OLD, NEW, NEWEST = "+8613800138000", "+8613900139000", "+8613700137000"


pytestmark = pytest.mark.asyncio(loop_scope="module")


def own_card(terminal: Terminal, number: str) -> Card:
    return card(terminal.user_id, terminal.user_id.title(), phones={"mobile": number})


async def number_of(terminal: Terminal, user_id: str) -> str | None:
    contact = await terminal.phonebook.contact_of(user_id)
    phones = {} if contact is None else contact.card.phones or {}
    return next((phone.number for phone in phones.values()), None)


@pytest.mark.claim("G1")
async def test_change_your_number_once_and_every_phonebook_is_right(people: People) -> None:
    alice, bob = await people.terminal("alice"), await people.terminal("bob")
    bobs_name = bob.user_id.title()
    entry = f"UID:x\nFN:{bobs_name}\nTEL:138 0013 8000\nNOTE:茶"
    await alice.import_cards(f"BEGIN:VCARD\nVERSION:3.0\n{entry}\nEND:VCARD".encode())
    group_id = await alice.create_group("家人 Family", [bob.user_id])
    updates = alice.updates()
    (first,) = await bob.publish(own_card(bob, OLD))
    await the_next(updates, ContactUpdated)
    (second,) = await bob.publish(own_card(bob, NEW), [group_id])
    update = await the_next(updates, ContactUpdated)
    assert isinstance(update, ContactUpdated)
    assert update.changed_fields == ("phones/mobile/number",)
    (contact,) = await alice.contacts()
    assert [phone.number for phone in (contact.card.phones or {}).values()] == [NEW]
    assert [note.note for note in (contact.card.notes or {}).values()] == ["茶"]
    assert first.rev is not None
    assert second.rev is not None
    assert second.rev > first.rev


async def test_the_ten_lines_of_the_documentation(
    people: People, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(people.folder))
    enrolled = await people.enrol(people.system.new_user("ada"), "phone")
    (people.folder / ".contactmesh").mkdir()
    enrolled.phonebook.path.parent.rename(people.folder / ".contactmesh" / "phone")
    bob = await people.another_terminal("bob", "phone")
    at_bob = bob.updates()
    lines = (contactmesh.terminal.__doc__ or "").partition("\n\n")[2].partition("\n\n`")[0]
    program: dict[str, Any] = {}
    exec(textwrap.dedent(lines), program)  # noqa: S102 - our own documentation
    running = asyncio.create_task(program["main"]())
    ada = await the_next(at_bob, ContactAdded)
    assert isinstance(ada, ContactAdded)
    assert ada.display_name == "Ada"
    async with asyncio.timeout(30):
        numbers = itertools.cycle((OLD, NEW))
        while not (told := capsys.readouterr().out):
            await bob.publish(own_card(bob, next(numbers)))
    assert "Bob ('phones/mobile/number',)" in told
    running.cancel()
    await asyncio.wait((running,))


@pytest.mark.claim("G1b")
async def test_a_blocked_member_learns_nothing_until_the_block_is_lifted(people: People) -> None:
    alice, bob = await people.terminal("alice"), await people.terminal("bob")
    await alice.create_group("Family", [bob.user_id])
    updates = alice.updates()
    await bob.publish(own_card(bob, OLD))
    await the_next(updates, ContactAdded)
    await bob.block(alice.user_id)
    assert (await bob.blocks()).everywhere == (alice.user_id,)
    await bob.publish(own_card(bob, NEW))
    assert await alice.pull() == ()
    assert await number_of(alice, bob.user_id) == OLD
    await bob.lift(alice.user_id)
    await the_next(updates, ContactUpdated)
    assert await number_of(alice, bob.user_id) == NEW


@pytest.mark.claim("G3")
async def test_invitations_are_accepted_declined_and_withdrawn(people: People) -> None:
    alice, bob, eve = [await people.terminal(name) for name in ("alice", "bob", "eve")]
    group_id = await alice.create_group("Club")
    at_alice, at_bob, at_eve = alice.updates(), bob.updates(), eve.updates()
    await alice.invite(group_id, bob.user_id)
    invitation = await the_next(at_bob, InvitationReceived)
    assert isinstance(invitation, InvitationReceived)
    assert await bob.accept(invitation.invitation_id) == group_id
    await the_next(at_bob, GroupJoined)
    joined = await the_next(at_alice, MemberJoined)
    assert isinstance(joined, MemberJoined)
    assert joined.user_id == bob.user_id
    with pytest.raises(CommandRefused):
        await eve.accept(invitation.invitation_id)
    for outcome in ("declined", "withdrawn"):
        sent = await alice.invite(group_id, eve.user_id)
        await the_next(at_eve, InvitationReceived)
        await (eve.decline(sent) if outcome == "declined" else alice.withdraw(sent))
        closed = await the_next(at_eve, InvitationClosed)
        assert isinstance(closed, InvitationClosed)
        assert (closed.invitation_id, closed.outcome) == (sent, outcome)
    assert await eve.phonebook.invitations() == []
    assert [member.user_id for member in (await alice.show(group_id)).members] == [
        alice.user_id,
        bob.user_id,
    ]


@pytest.mark.claim("G4")
async def test_a_terminal_that_was_away_catches_up(people: People) -> None:
    alice = await people.enrol(people.system.new_user("alice"))
    bob = await people.terminal("bob")
    group_id = await bob.create_group("Family", [alice.user_id])
    async with alice:
        updates = alice.updates()
        await bob.publish(own_card(bob, OLD))
        await the_next(updates, ContactAdded)
    await delete_terminal_queue(people.system.broker.url, alice.terminal_id)
    await bob.publish(own_card(bob, NEW))
    async with Terminal(alice.phonebook.path.parent) as back:
        updates = back.updates()
        if await number_of(back, bob.user_id) != NEW:
            await the_next(updates, ContactUpdated)
        assert await number_of(back, bob.user_id) == NEW
        await bob.publish(own_card(bob, NEWEST))
        while await number_of(back, bob.user_id) != NEWEST:
            await the_next(updates, ContactUpdated)
        assert [group.group_id for group in await back.phonebook.groups()] == [group_id]


async def test_a_terminal_without_pushes_still_pulls(people: People) -> None:
    alice, bob = await people.terminal("alice"), await people.terminal("bob")
    group_id = await alice.create_group("Family", [bob.user_id])
    await alice.unsubscribe(group_id)
    assert not (await alice.show(group_id)).push
    await alice.set_pull_interval(10)
    await bob.publish(own_card(bob, OLD))
    await alice.pull(group_id)
    assert await number_of(alice, bob.user_id) == OLD
    assert await alice.phonebook.pull_interval() == 10
    await alice.subscribe(group_id)
    assert (await alice.show(group_id)).push


async def test_two_terminals_of_one_user_build_on_each_others_card(people: People) -> None:
    phone = await people.terminal("alice")
    await phone.create_group("Family")
    desk = await people.another_terminal(phone.user_id, "desk")
    at_phone = phone.updates()
    (done,) = await desk.publish(own_card(desk, OLD))
    assert done.error is None
    await the_next(at_phone, OwnCardUpdated)
    (done,) = await phone.publish(own_card(phone, NEW))
    assert done.error is None
    late = await people.another_terminal(phone.user_id, "tablet")
    await late.pull()
    (own,) = await late.phonebook.own_cards()
    assert own.rev == done.rev
    await late.phonebook.published(own.group_id, own.rev, own.card)
    blind = Terminal((await people.enrol(phone.user_id, "blind")).phonebook.path.parent, pull=False)
    async with blind:
        (conflict,) = await blind.publish(own_card(blind, NEWEST))
        assert isinstance(conflict.error, RevisionConflict)
        assert conflict.error.current_rev == done.rev
        await blind.pull()
        (again,) = await blind.publish(own_card(blind, NEWEST))
        assert again.error is None


async def test_members_leave_are_removed_and_groups_end(people: People) -> None:
    alice, bob, eve = [await people.terminal(name) for name in ("alice", "bob", "eve")]
    group_id = await alice.create_group("Club", [bob.user_id, eve.user_id])
    at_bob, at_eve = bob.updates(), eve.updates()
    await alice.publish(own_card(alice, OLD))
    await the_next(at_eve, ContactAdded)
    await the_next(at_bob, ContactAdded)
    with pytest.raises(CommandRefused):
        await alice.leave(group_id)
    await alice.hand_over(group_id, bob.user_id)
    assert await the_next(at_bob, HandedOver) == HandedOver(group_id, bob.user_id)
    await bob.remove(group_id, eve.user_id)
    await the_next(at_eve, ContactRemoved)
    gone = await the_next(at_eve, GroupGone)
    assert gone == GroupGone(group_id, "Club", Departure.REMOVED)
    await alice.leave(group_id)
    left = await the_next(at_bob, MemberLeft)
    assert isinstance(left, MemberLeft)
    await bob.dissolve(group_id)
    assert await bob.phonebook.groups() == []
    with pytest.raises(CommandRefused) as raised:
        await bob.show(group_id)
    assert raised.value.code is ErrorCode.NOT_FOUND


async def test_a_code_works_once_and_a_revoked_terminal_stops(people: People) -> None:
    alice = await people.terminal("alice")
    with pytest.raises(EnrolmentRefused):
        await Terminal.enrol(
            people.folder / "twice",
            identity_url=people.system.stack.identity_url,
            code="not-a-code-at-all",
            name="phone",
        )
    updates = alice.updates()
    await people.system.revoke(alice.terminal_id)
    async with asyncio.timeout(60):
        with pytest.raises(AuthenticationRefused):
            await anext(updates)
