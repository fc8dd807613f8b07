"""A user's terminals and their address book, with every real service behind them."""

import asyncio
import sqlite3
from collections.abc import Sequence

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card

from contactmesh.contacts import Card, Email, Note, write_vcards
from contactmesh.contracts.sync.records import ConflictKind, Policy
from contactmesh.runtime.waiting import happened_within
from contactmesh.terminal import (
    Arrival,
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    Terminal,
    Update,
    UpdateStream,
)
from contactmesh.terminal.book_entries import SyncOutcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

LANDLINE = "+861065529988"


def persons(number: int) -> list[Card]:
    return [
        card(f"p{at:03}", f"Person {at:03}", phones={"m": f"+86139{at:08d}"})
        for at in range(number)
    ]


async def keep(terminal: Terminal, *cards: Card) -> None:
    await terminal.import_cards(b"".join(write_vcards(cards)))


def without_uids(cards: Sequence[Card]) -> bytes:
    """Cards as a phone that keeps no uids exports them."""
    lines = b"".join(write_vcards(cards)).split(b"\r\n")
    return b"\r\n".join(one for one in lines if not one.startswith(b"UID"))


async def id_of(terminal: Terminal, name: str) -> str:
    return next(one.contact_id for one in await terminal.contacts() if one.display_name == name)


async def part_of(terminal: Terminal, name: str) -> Card:
    own = await terminal.phonebook.own_part(await id_of(terminal, name))
    assert own is not None
    return own


async def edit(terminal: Terminal, name: str, **changes: object) -> None:
    own = (await part_of(terminal, name)).model_copy(update=changes)
    await terminal.write_own(await id_of(terminal, name), own)


async def delete(terminal: Terminal, name: str) -> None:
    await terminal.delete(await id_of(terminal, name))


async def edit_before(terminal: Terminal, name: str, **changes: object) -> None:
    """An edit of long before, by the terminal's clock; it counts from when it last synced."""
    await edit(terminal, name, **changes)
    with sqlite3.connect(terminal.phonebook.path) as beside:
        beside.execute("UPDATE book_entries SET updated_at = '2020-01-01T00:00:00.000Z'")
    beside.close()


async def book(terminal: Terminal) -> dict[str, Card]:
    """The owner's entries by their uids."""
    found = [await terminal.phonebook.own_part(one.contact_id) for one in await terminal.contacts()]
    return {one.uid: one for one in found if one is not None}


async def names(terminal: Terminal) -> list[str]:
    return [contact.display_name for contact in await terminal.contacts()]


async def in_step(*terminals: Terminal) -> dict[str, Card]:
    """What the book is for each of them after they synced."""
    for terminal in (*terminals, *terminals):
        await terminal.sync()
    first, *others = [await book(terminal) for terminal in terminals]
    assert all(other == first for other in others)
    return first


async def two(people: People, *cards: Card) -> tuple[Terminal, Terminal]:
    """Two terminals of one user with a synced book, the second not pushed to while it is away."""
    phone = await people.terminal("alice")
    desk = await people.another_terminal(phone.user_id, "desk")
    await keep(phone, *cards)
    await in_step(phone, desk)
    return phone, desk


@pytest.mark.claim("Y3", "Y4", "Y5", "Y6")
async def test_what_changes_on_one_terminal_changes_on_the_other_in_both_directions(
    people: People,
) -> None:
    phone, desk = await two(people, *persons(3))
    assert await names(desk) == ["Person 000", "Person 001", "Person 002"]
    await edit(phone, "Person 000", notes={"n": Note(note="茶")})
    await delete(desk, "Person 001")
    await keep(desk, card("new", "Somebody New"))
    merged = await in_step(phone, desk)
    assert set(merged) == {"urn:example:p000", "urn:example:p002", "urn:example:new"}
    assert merged["urn:example:p000"].notes == {"n": Note(note="茶")}
    (book_view,) = (await phone.books()).books
    assert (book_view.entries, book_view.last_sync_by) == (3, desk.terminal_id)
    nothing = await phone.sync()
    assert nothing == SyncOutcome()


async def told(stream: UpdateStream, kind: type[Update], event: asyncio.Event) -> None:
    await the_next(stream, kind)
    event.set()


@pytest.mark.claim("Y4")
async def test_a_change_is_pushed_in_well_under_a_second(people: People) -> None:
    phone, desk = await two(people, *persons(1))
    updates = desk.updates()
    for change, kind in (
        (edit(phone, "Person 000", notes={"n": Note(note="茶")}), ContactUpdated),
        (keep(phone, card("new", "New")), ContactAdded),
        (delete(phone, "New"), ContactRemoved),
    ):
        await change
        pushed = asyncio.Event()
        waiting = asyncio.create_task(told(updates, kind, pushed))
        await phone.sync()
        assert await happened_within(0.5, pushed)
        await waiting
    assert await book(desk) == await book(phone)


@pytest.mark.claim("Y4", "Y5")
async def test_what_was_pushed_before_a_sync_is_told_by_it(people: People) -> None:
    phone, desk = await two(people, *persons(2))
    updates = desk.updates()
    await edit(phone, "Person 000", notes={"n": Note(note="茶")})
    await keep(phone, card("new", "New"))
    await delete(phone, "Person 001")
    await phone.sync()
    async with asyncio.timeout(20):
        kinds = {type(await anext(updates)) for _ in range(3)}
    assert kinds == {ContactUpdated, ContactAdded, ContactRemoved}
    outcome = await desk.sync()
    assert (outcome.sent, outcome.received) == (0, 3)
    assert {(one.display_name, one.change) for one in outcome.arrived} == {
        ("Person 000", Arrival.CHANGED),
        ("New", Arrival.ADDED),
        ("Person 001", Arrival.DELETED),
    }
    assert await desk.sync() == SyncOutcome()


@pytest.mark.claim("Y4")
async def test_edits_of_different_fields_are_both_kept_and_of_the_same_one_the_later(
    people: People,
) -> None:
    phone, desk = await two(people, *persons(1))
    await edit(phone, "Person 000", emails={"e": Email(address="first@example.org")})
    await edit(desk, "Person 000", notes={"n": Note(note="茶")})
    await phone.sync()
    outcome = await desk.sync()
    assert (outcome.merged, outcome.conflicts) == (1, 0)
    (both,) = (await in_step(phone, desk)).values()
    assert both.emails == {"e": Email(address="first@example.org")}
    assert both.notes == {"n": Note(note="茶")}
    await edit_before(desk, "Person 000", emails={"e": Email(address="earlier@example.org")})
    await edit(phone, "Person 000", emails={"e": Email(address="later@example.org")})
    await phone.sync()
    assert (await desk.sync()).conflicts == 1
    (one,) = (await in_step(phone, desk)).values()
    assert one.emails == {"e": Email(address="later@example.org")}
    (conflict,) = await desk.conflicts()
    assert (conflict.kind, conflict.lost) == (ConflictKind.FIELD, "earlier@example.org")
    await desk.settle(conflict.conflict_id, take_lost=True)
    assert (await part_of(desk, "Person 000")).emails == {"e": Email(address="earlier@example.org")}
    assert await desk.conflicts() == ()
    await in_step(phone, desk)


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("first", ["the deletion", "the edit"])
async def test_a_deletion_does_not_remove_an_edit_that_it_had_not_seen(
    people: People, first: str
) -> None:
    phone, desk = await two(people, *persons(2))
    await delete(phone, "Person 000")
    await edit(desk, "Person 000", notes={"n": Note(note="茶")})
    order = (phone, desk) if first == "the deletion" else (desk, phone)
    await order[0].sync()
    assert (await order[1].sync()).conflicts == 1
    after = await in_step(phone, desk)
    assert after["urn:example:p000"].notes == {"n": Note(note="茶")}
    (conflict,) = await phone.conflicts()
    assert conflict.kind is ConflictKind.DELETION


@pytest.mark.claim("Y4")
async def test_by_the_other_policy_the_later_contact_wins_whole(people: People) -> None:
    phone, desk = await two(people, *persons(1))
    await phone.set_policy(Policy.LATEST_WINS)
    await edit_before(desk, "Person 000", notes={"n": Note(note="earlier")})
    await edit(phone, "Person 000", emails={"e": Email(address="later@example.org")})
    await phone.sync()
    assert (await desk.sync()).conflicts == 1
    (one,) = (await in_step(phone, desk)).values()
    assert (one.emails, one.notes) == ({"e": Email(address="later@example.org")}, None)


@pytest.mark.claim("Y6")
async def test_a_reinstalled_terminal_with_the_same_200_contacts_has_200(people: People) -> None:
    phone = await people.terminal("alice")
    await keep(phone, *persons(198))
    father = card("father", "Wang Lei", phones={"h": LANDLINE}, note="father")
    son = card("son", "Wang Lei", phones={"h": LANDLINE}, note="son")
    await keep(phone, father, son)
    assert (await phone.sync()).sent == 200
    folder = (await people.enrol(phone.user_id, "again")).phonebook.path.parent
    async with Terminal.phonebook_of(folder) as phonebook:
        await phonebook.import_cards(without_uids([*persons(198), father, son]))
        assert len(await phonebook.contacts()) == 200
    async with Terminal(folder, pull=False) as again:
        outcome = await again.sync()
        assert (outcome.full, outcome.sent, outcome.received) == (True, 0, 0)
        assert await book(again) == await book(phone)
        assert len(await book(again)) == 200
    assert await phone.sync() == SyncOutcome()


@pytest.mark.claim("Y6")
async def test_a_terminal_that_lost_its_store_deletes_nothing_and_gets_all(people: People) -> None:
    phone = await people.terminal("alice")
    await keep(phone, *persons(450))
    await phone.sync()
    empty = await people.another_terminal(phone.user_id, "empty")
    steps: list[tuple[int, int]] = []
    outcome = await empty.sync(progress=lambda done, of: steps.append((done, of)))
    assert (outcome.full, outcome.sent) == (True, 0)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == outcome.received
    assert {of for _, of in steps} == {450}, "how many there are is known from the beginning"
    assert await book(empty) == await book(phone)
