"""What a terminal does with its user's book beside syncing: history, own card, duplicates."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_book_sync import (
    book,
    delete,
    edit,
    id_of,
    in_step,
    keep,
    names,
    part_of,
    persons,
    two,
)
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card
from tests.wire import System

from contactmesh.contacts import Note, Phone
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.records import Reason
from contactmesh.local.waiting import until
from contactmesh.terminal import (
    CommandRefused,
    ContactAdded,
    ContactUpdated,
    NoOwnEntry,
    Schedule,
    Terminal,
    UnfitUid,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

UID = "urn:example:p000"


def noted(text: str) -> dict[str, Note]:
    return {"n": Note(note=text)}


async def at_the_server(phone: Terminal) -> datetime:
    """When the server's book was last changed, by the server's clock."""
    rev = max([version.rev for uid in await book(phone) for version in await phone.history(uid)])
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=rev)


async def test_an_entry_is_again_as_one_of_its_versions_on_every_terminal(people: People) -> None:
    phone, desk = await two(people, *persons(2))
    await edit(phone, "Person 000", notes=noted("second"))
    await phone.sync()
    await edit(desk, "Person 000", notes=noted("third"))
    await desk.sync()
    newest, second, first = await phone.history(UID, cards=True)
    assert [one.reason for one in (newest, second, first)] == [
        Reason.CURRENT,
        Reason.REPLACED,
        Reason.REPLACED,
    ]
    assert (newest.terminal_id, second.terminal_id) == (desk.terminal_id, phone.terminal_id)
    assert second.changed_fields == ("notes/n",)
    updates = desk.updates()
    await phone.restore(UID, second.rev)
    assert (await part_of(phone, "Person 000")).notes == noted("second")
    await the_next(updates, ContactUpdated)
    assert (await part_of(desk, "Person 000")).notes == noted("second")
    await in_step(phone, desk)


async def test_a_deleted_entry_is_found_by_name_and_restored(people: People) -> None:
    phone, desk = await two(people, *persons(2))
    await delete(phone, "Person 000")
    await phone.sync()
    (gone,) = await desk.deleted()
    assert (gone.uid, gone.name, gone.terminal_id) == (UID, "Person 000", phone.terminal_id)
    await desk.restore(gone.uid, gone.rev)
    assert "Person 000" in await names(desk)
    await in_step(phone, desk)
    assert await desk.deleted() == ()


async def test_the_whole_book_is_as_it_was_at_a_time(people: People) -> None:
    phone, desk = await two(people, *persons(250))
    before = await book(phone)
    then = await at_the_server(phone)
    for at in range(3):
        await delete(phone, f"Person {at:03}")
    await keep(phone, card("new", "Somebody New"))
    await edit(phone, "Person 100", notes=noted("edited"))
    await edit(desk, "Person 101", notes=noted("not synced yet"))
    await phone.sync()
    steps: list[int] = []
    changed = {**await book(phone), "urn:example:p101": await part_of(desk, "Person 101")}
    restored = await desk.restore_book(then, progress=steps.append)
    assert restored.restored == steps[-1] == 6
    assert await book(desk) == before
    assert await in_step(phone, desk) == before
    await desk.restore_book(restored.before)
    assert await in_step(phone, desk) == changed


async def test_what_is_erased_is_gone_everywhere_and_cannot_be_restored(people: People) -> None:
    phone, desk = await two(people, *persons(3))
    await edit(phone, "Person 000", notes=noted("secret"))
    await in_step(phone, desk)
    erased = await phone.erase([UID, "urn:example:p001", "urn:example:p001", "urn:example:nobody"])
    assert erased == (UID, "urn:example:p001")
    assert await names(phone) == ["Person 002"]
    assert (await phone.phonebook.sync_state()).waiting == 0
    await in_step(phone, desk)
    assert await names(desk) == ["Person 002"]
    assert await desk.deleted() == ()
    history = await desk.history(UID, cards=True)
    assert all(version.deleted and version.card is None for version in history)


async def test_an_edit_made_elsewhere_does_not_bring_back_what_was_erased(people: People) -> None:
    phone, desk = await two(people, *persons(3))
    await edit(desk, "Person 000", notes=noted("not synced yet"))
    await phone.erase([UID])
    (rejected,) = (await desk.sync()).rejected
    assert (rejected.uid, rejected.display_name) == (UID, "Person 000")
    assert "erased" in rejected.problem
    assert (await desk.sync()).rejected == ()
    await in_step(phone, desk)
    assert await names(desk) == ["Person 001", "Person 002"]
    assert await phone.conflicts() == ()


async def test_what_was_deleted_can_still_be_erased(people: People) -> None:
    phone, desk = await two(people, *persons(3))
    await delete(phone, "Person 000")
    await in_step(phone, desk)
    (gone,) = await desk.deleted()
    assert await desk.erase([gone.uid]) == (gone.uid,)
    assert await phone.deleted() == await desk.deleted() == ()
    assert await in_step(phone, desk) == await book(desk)
    assert await names(phone) == ["Person 001", "Person 002"]


async def test_what_is_no_uid_of_an_entry_erases_restores_and_shows_nothing(people: People) -> None:
    phone, _ = await two(people, *persons(1))
    before = await book(phone)
    (stands,) = await phone.history(UID)
    for uid in (await id_of(phone, "Person 000"), "urn:example:nobody"):
        assert await phone.erase([uid]) == ()
        assert await phone.history(uid) == ()
    with pytest.raises(CommandRefused) as raised:
        await phone.restore(await id_of(phone, "Person 000"), stands.rev)
    assert raised.value.code is ErrorCode.NOT_FOUND
    assert await book(phone) == before


async def test_what_was_never_synced_is_erased_here(people: People) -> None:
    phone, _ = await two(people, *persons(1))
    await keep(phone, card("new", "New"))
    assert await phone.erase(["urn:example:new"]) == ("urn:example:new",)
    assert await names(phone) == ["Person 000"]


@pytest.mark.parametrize("uid", ["x" * 501, "urn:example:bell\x07"])
async def test_what_the_book_takes_no_uid_of_is_told_without_asking_it(
    people: People, uid: str
) -> None:
    phone = await people.terminal("alice")
    await keep(phone, card("odd", "Odd"))
    contact_id = await id_of(phone, "Odd")
    await phone.write_own(contact_id, card("odd", "Odd").model_copy(update={"uid": uid}))
    for asking in (phone.history(uid), phone.restore(uid, 1), phone.set_own_card(contact_id)):
        with pytest.raises(UnfitUid) as raised:
            await asking
        assert uid not in str(raised.value)
    assert (await phone.sync()).sent == 1
    assert await phone.erase([uid]) == ()
    assert await names(phone) == ["Odd"]


async def test_ones_own_card_is_published_to_the_groups_without_what_is_private(
    people: People,
) -> None:
    phone, bob = await people.terminal("alice"), await people.terminal("bob")
    desk = await people.another_terminal(phone.user_id, "desk")
    await keep(phone, card("me", "Alice", phones={"m": "+8613800138000"}, note="for me"))
    await in_step(phone, desk)
    await phone.create_group("Family", [bob.user_id])
    updates = bob.updates()
    await phone.set_own_card(await id_of(phone, "Alice"))
    (view,) = (await desk.books()).books
    assert view.own_card_uid == "urn:example:me"
    await edit(desk, "Alice", phones={"m": Phone(number="+8613900139000")})
    await desk.sync()
    await the_next(updates, ContactAdded)

    async def new_number() -> bool:
        alice = await bob.phonebook.contact_of(phone.user_id)
        assert alice is not None
        assert alice.card.notes is None
        return "+8613900139000" in str(alice.card.phones)

    await until(new_number, seconds=20)
    await phone.set_own_card(None)
    (view,) = (await desk.books()).books
    assert view.own_card_uid is None
    (brought,) = [one for one in await bob.contacts() if one.user_id == phone.user_id]
    with pytest.raises(NoOwnEntry):
        await bob.set_own_card(brought.contact_id)


async def test_an_own_card_has_to_be_in_the_book(people: People) -> None:
    phone = await people.terminal("alice")
    await keep(phone, card("me", "Alice"))
    with pytest.raises(CommandRefused) as raised:
        await phone.set_own_card(await id_of(phone, "Alice"))
    assert raised.value.code is ErrorCode.NOT_FOUND


async def test_duplicates_are_joined_on_every_terminal_and_parted_again(people: People) -> None:
    twice = card("again", "Person 000", phones={"w": "+8613900000000"}, note="茶")
    phone, desk = await two(people, *persons(1), twice)
    before = await book(phone)
    (pair,) = await phone.duplicates()
    assert {pair.first.display_name, pair.second.display_name} == {"Person 000"}
    join_id = await phone.join_duplicates(pair.first.contact_id, pair.second.contact_id)
    (one,) = (await in_step(phone, desk)).values()
    assert one.notes == noted("茶")
    assert await phone.duplicates() == []
    (joined,) = await phone.joins()
    assert (joined.join_id, joined.display_name) == (join_id, "Person 000")
    await phone.undo_join(join_id)
    assert await in_step(phone, desk) == before
    assert await phone.conflicts() == ()


@pytest.mark.claim("Y1")
async def test_a_terminal_with_a_schedule_syncs_at_its_connection(
    people: People, system: System
) -> None:
    phone = await people.enrol(system.new_user("alice"))
    folder = phone.phonebook.path.parent
    async with phone:
        await phone.set_sync_schedule(every=3600)
        await keep(phone, *persons(1))
    desk = await people.another_terminal(phone.user_id, "desk")
    updates = desk.updates()
    async with Terminal(folder):
        await the_next(updates, ContactAdded)
    assert await names(desk) == ["Person 000"]


@pytest.mark.claim("Y1")
async def test_and_when_it_is_due(people: People, system: System) -> None:
    phone = await people.enrol(system.new_user("alice"))
    async with phone.phonebook:
        await phone.phonebook.save_sync_schedule(Schedule(every=1))
    desk = await people.another_terminal(phone.user_id, "desk")
    updates = desk.updates()
    async with Terminal(phone.phonebook.path.parent) as running:
        for number in (1, 2):
            await keep(running, *persons(number))
            await the_next(updates, ContactAdded)


@pytest.mark.claim("Y1")
async def test_and_does_not_without_one(people: People, system: System) -> None:
    phone = await people.enrol(system.new_user("alice"))
    folder = phone.phonebook.path.parent
    async with phone:
        await phone.set_sync_schedule(every=3600)
        await phone.set_sync_schedule()
        await keep(phone, *persons(1))
    async with Terminal(folder) as again:
        await again.pull()
        await again.books()
        state = await again.phonebook.sync_state()
    assert (state.waiting, state.last_sync_at) == (1, None)


@pytest.mark.parametrize("schedule", [{"every": 59}, {"every": 0}])
async def test_a_schedule_that_would_burden_everybody_is_refused(
    people: People, schedule: dict[str, int]
) -> None:
    phone = await people.enrol(people.system.new_user("alice"))
    with pytest.raises(ValueError, match="60 seconds"):
        await phone.set_sync_schedule(every=schedule["every"])
