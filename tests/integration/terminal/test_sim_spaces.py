"""A user's terminals and SIMs with every real service behind them: stored, looked at, accepted."""

import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card
from tests.wire import System

from contactmesh.contacts import Card, Email, Note, write_vcards
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal import (
    AcceptOutcome,
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    LargeRemoval,
    LargeRemovalWaiting,
    Overwritten,
    PendingBook,
    PendingChange,
    RevisionConflict,
    SimContactsWaiting,
    SimElsewhere,
    StoreOutcome,
    Terminal,
    UnknownSim,
)
from contactmesh.terminal.phonebook_accepting import Waiting
from contactmesh.terminal.space_choices import AcceptingRecord

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOBILE, UNICOM = "cn-mobile", "cn-unicom"
_numbers = itertools.count(1)


async def sim_of(terminal: Terminal, carrier_id: str = MOBILE) -> str:
    """A new SIM in a terminal."""
    iccid = f"8986{next(_numbers):016d}"
    return (await terminal.register_sim(carrier_id, iccid, "SIM")).sim_id


async def keep(terminal: Terminal, *cards: Card) -> None:
    await terminal.import_cards(b"".join(write_vcards(cards)))


def people_named(*names: str) -> list[Card]:
    return [
        card(name, name.title(), phones={"m": f"+86139{at:08d}"}) for at, name in enumerate(names)
    ]


async def entry(terminal: Terminal, name: str) -> str:
    """The id of the contact with a name."""
    return next(one.contact_id for one in await terminal.contacts() if one.display_name == name)


async def edit(terminal: Terminal, name: str, **changes: object) -> None:
    contact_id = await entry(terminal, name)
    own = await terminal.phonebook.own_part(contact_id)
    assert own is not None
    await terminal.write_own(contact_id, own.model_copy(update=changes))


async def note_of(terminal: Terminal, name: str) -> str | None:
    contact = await terminal.contact(await entry(terminal, name))
    return next((note.note for note in (contact.card.notes or {}).values()), None)


async def names(terminal: Terminal) -> set[str]:
    return {one.display_name for one in await terminal.contacts()}


def changes(book: PendingBook) -> dict[str, PendingChange]:
    return {one.display_name: one.change for one in book.contacts}


async def waiting(terminal: Terminal, sim_id: str, names: Iterable[str]) -> PendingBook:
    """What waits for a SIM, once these wait."""
    wanted = set(names)
    updates = terminal.updates()
    while True:
        book = await terminal.pending(sim_id)
        if set(changes(book)) == wanted:
            return book
        await the_next(updates, SimContactsWaiting)


async def in_space(terminal: Terminal, carrier_id: str, space: SpaceKind) -> int:
    accounts = (await terminal.accounts()).accounts
    account = next(one for one in accounts if one.carrier_id == carrier_id)
    return (account.shared if space is SpaceKind.SHARED else account.private).contacts


@pytest.mark.claim("M4")
async def test_a_book_is_stored_once_and_differences_after(people: People, system: System) -> None:
    phone = await people.terminal("lin")
    sim_id = await sim_of(phone)
    await keep(phone, *people_named("an", "bo", "chen"))
    assert await phone.store(sim_id) == StoreOutcome(written=3)
    async with system.channel() as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind("contactmesh.commands", "#")
        assert await phone.store(sim_id) == StoreOutcome(same=3)
        await edit(phone, "An", notes={"n": Note(note="茶")})
        await phone.delete(await entry(phone, "Bo"))
        assert await phone.store(sim_id) == StoreOutcome(written=1, removed=1, same=1)
        bodies = []
        while message := await tap.get(no_ack=True, fail=False):
            bodies.append(message.body)
    stores = [body for body in bodies if b'"space.store"' in body]
    assert len(stores) == 2
    assert not any(b"chen" in body for body in bodies)


@pytest.mark.claim("M3")
async def test_private_contacts_never_reach_another_account(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, unicom = await sim_of(phone), await sim_of(phone, UNICOM)
    await phone.set_consent(UNICOM, True)
    at_tablet = await sim_of(tablet, UNICOM)
    await keep(phone, *people_named("an", "bo", "chen"))
    assert await phone.store(mobile) == StoreOutcome(written=3)
    await waiting(tablet, at_tablet, ("An", "Bo", "Chen"))
    await waiting(phone, unicom, ("An", "Bo", "Chen"))
    await phone.accept_contacts(unicom)

    named = [await entry(phone, "Bo")]
    made = await phone.store(mobile, SpaceKind.PRIVATE, named)
    assert made == StoreOutcome(written=1, moved=1)
    # It left the shared spaces of both accounts, and stays in the phonebook: nothing waits here.
    assert await in_space(phone, UNICOM, SpaceKind.SHARED) == 2
    assert (await phone.pending(unicom)).contacts == ()
    assert await names(phone) == {"An", "Bo", "Chen"}

    await edit(phone, "Bo", notes={"n": Note(note="secret")})
    for sim_id in (mobile, unicom):
        assert await phone.store(sim_id) == StoreOutcome(same=2, private=1)
    assert await phone.store(mobile, SpaceKind.PRIVATE) == StoreOutcome(written=1)
    assert [await in_space(phone, one, SpaceKind.SHARED) for one in (MOBILE, UNICOM)] == [2, 2]
    assert [await in_space(phone, one, SpaceKind.PRIVATE) for one in (MOBILE, UNICOM)] == [1, 0]
    book = await waiting(tablet, at_tablet, ("An", "Chen"))
    assert all(one.card is not None and "secret" not in str(one.card) for one in book.contacts)

    shared = await phone.store(mobile, SpaceKind.SHARED, named)
    assert shared == StoreOutcome(written=1, moved=1)
    await waiting(tablet, at_tablet, ("An", "Bo", "Chen"))
    assert await in_space(phone, MOBILE, SpaceKind.PRIVATE) == 0


@pytest.mark.claim("M5")
@pytest.mark.claim("M6")
async def test_what_waits_is_looked_at_and_accepted_or_declined(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, *people_named("an", "bo", "chen"))
    await keep(tablet, *people_named("an"))
    await phone.store(mobile)
    updates = tablet.updates()
    book = await waiting(tablet, other, ("An", "Bo", "Chen"))
    assert changes(book) == {
        "An": PendingChange.SAME,
        "Bo": PendingChange.ADDED,
        "Chen": PendingChange.ADDED,
    }
    assert await tablet.decline_contacts(other, ["urn:example:chen"]) == 1
    outcome = await tablet.accept_contacts(other, pending_rev=book.pending_rev)
    assert outcome == AcceptOutcome(added=1, same=1)
    added = await the_next(updates, ContactAdded)
    assert isinstance(added, ContactAdded)
    assert added.display_name == "Bo"
    assert await names(tablet) == {"An", "Bo"}
    await phone.store(mobile)
    await tablet.request_update(other)
    assert await the_next(updates, SimContactsWaiting) == SimContactsWaiting(
        other, 0, filling=False
    )
    assert (await tablet.pending(other)).contacts == ()
    # What was accepted is not sent back, what was declined is not removed.
    assert await tablet.store(other) == StoreOutcome(same=2)
    assert await in_space(phone, MOBILE, SpaceKind.SHARED) == 3

    await edit(phone, "Bo", notes={"n": Note(note="moved")})
    await phone.delete(await entry(phone, "An"))
    await phone.store(mobile)
    book = await waiting(tablet, other, ("An", "Bo"))
    assert [(one.change, one.changed_fields) for one in book.contacts] == [
        (PendingChange.REMOVED, ()),
        (PendingChange.CHANGED, ("notes/n",)),
    ]
    assert await tablet.decline_contacts(other) == 2
    assert await names(tablet) == {"An", "Bo"}


@pytest.mark.claim("M6")
async def test_what_changed_since_it_was_looked_at_is_not_decided(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, *people_named("an"))
    await phone.store(mobile)
    book = await waiting(tablet, other, ("An",))
    await edit(phone, "An", notes={"n": Note(note="newer")})
    await phone.store(mobile)
    updates = tablet.updates()
    while (await tablet.pending(other)).pending_rev == book.pending_rev:
        await the_next(updates, SimContactsWaiting)
    with pytest.raises(RevisionConflict):
        await tablet.accept_contacts(other, pending_rev=book.pending_rev)
    with pytest.raises(RevisionConflict):
        await tablet.decline_contacts(other, ["urn:example:an"], pending_rev=book.pending_rev)
    assert await names(tablet) == set()
    assert await tablet.accept_contacts(other) == AcceptOutcome(added=1)
    assert await note_of(tablet, "An") == "newer"


@pytest.mark.claim("M6")
async def test_what_changes_while_it_is_accepted_is_accepted_as_it_is_now(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, *people_named("an", "bo"))
    await phone.store(mobile)
    await waiting(tablet, other, ("An", "Bo"))
    write, edits = tablet.phonebook.accept, iter(("first", "second"))

    async def overtaken(carrier_id: str, page: Sequence[Waiting]) -> object:
        written = await write(carrier_id, page)
        for text in itertools.islice(edits, 1):
            await edit(phone, "An", notes={"n": Note(note=text)})
            await phone.store(mobile)
        return written

    monkeypatch.setattr(tablet.phonebook, "accept", overtaken)
    assert await tablet.accept_contacts(other) == AcceptOutcome(added=2)
    assert await note_of(tablet, "An") == "second"
    assert (await tablet.pending(other)).contacts == ()


@pytest.mark.claim("M6")
async def test_edits_on_both_sides_are_merged_and_what_is_lost_is_told(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, card("an", "An", note="colleague"), *people_named("bo"))
    await phone.store(mobile)
    await waiting(tablet, other, ("An", "Bo"))
    await tablet.accept_contacts(other)
    await edit(tablet, "An", emails={"e": Email(address="an@example.com")})
    await edit(tablet, "An", notes={"n": Note(note="friend")})
    await edit(tablet, "Bo", notes={"n": Note(note="owes me 20")})
    await edit(phone, "An", notes={"n": Note(note="boss")})
    await phone.delete(await entry(phone, "Bo"))
    await phone.store(mobile)
    book = await waiting(tablet, other, ("An", "Bo"))
    assert all(one.changed_here for one in book.contacts)
    # Nothing is stored over what the phone changed and the tablet has not decided on.
    assert await tablet.store(other) == StoreOutcome(waiting=2)
    outcome = await tablet.accept_contacts(other)
    lost = Overwritten("urn:example:an", "An", "notes/n/note", "friend")
    assert outcome == AcceptOutcome(changed=1, kept=1, overwritten=(lost,))
    assert await note_of(tablet, "An") == "boss"
    assert await note_of(tablet, "Bo") == "owes me 20"
    # The merged contact and the one that was kept go back.
    assert await tablet.store(other) == StoreOutcome(written=2)
    await waiting(phone, mobile, ("An", "Bo"))
    assert await phone.accept_contacts(mobile) == AcceptOutcome(added=1, changed=1)
    assert await note_of(phone, "Bo") == "owes me 20"


@pytest.mark.claim("M6")
async def test_a_crash_before_the_decision_shows_it_again_as_the_same(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.enrol(phone.user_id, "tablet")
    mobile = await sim_of(phone)
    await keep(phone, *people_named("an", "bo"))
    async with tablet:
        other = await sim_of(tablet)
        await phone.store(mobile)
        book = await waiting(tablet, other, ("An", "Bo"))
        await tablet.phonebook.accept(MOBILE, [Waiting(one.uid, one.card) for one in book.contacts])
    async with Terminal(tablet.phonebook.path.parent) as back:
        book = await back.pending(other)
        assert set(changes(book).values()) == {PendingChange.SAME}
        assert await back.accept_contacts(other) == AcceptOutcome(same=2)
        assert (await back.pending(other)).contacts == ()


@pytest.mark.claim("M6")
async def test_a_large_removal_is_asked_about(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    many = [f"c{number}" for number in range(12)]
    await keep(phone, *people_named(*many))
    await phone.store(mobile)
    await waiting(tablet, other, {name.title() for name in many})
    await tablet.accept_contacts(other)
    for name in many:
        await phone.delete(await entry(phone, name.title()))
    await keep(phone, *people_named("new"))
    with pytest.raises(LargeRemoval) as refused:
        await phone.store(mobile)
    assert (refused.value.removals, refused.value.contacts) == (12, 12)
    assert await in_space(phone, MOBILE, SpaceKind.SHARED) == 12
    assert await phone.store(mobile, removals=True) == StoreOutcome(written=1, removed=12)

    await waiting(tablet, other, {"New", *(name.title() for name in many)})
    with pytest.raises(LargeRemoval) as refused:
        await tablet.accept_contacts(other)
    assert (refused.value.removals, refused.value.contacts) == (12, 12)
    assert refused.value.accepted == AcceptOutcome(added=1)
    assert len(await names(tablet)) == 13
    assert await tablet.accept_contacts(other, removals=True) == AcceptOutcome(removed=12)
    assert await names(tablet) == {"New"}


async def test_private_contacts_that_are_many_are_not_removed_unasked(people: People) -> None:
    phone = await people.terminal("lin")
    mobile = await sim_of(phone)
    many = people_named(*(f"c{number}" for number in range(12)))
    await keep(phone, *many, card("an", "An"))
    assert await phone.store(mobile) == StoreOutcome(written=13)
    named = [one.contact_id for one in await phone.contacts() if one.display_name != "An"]
    # What the owner moves was meant to leave.
    moved = await phone.store(mobile, SpaceKind.PRIVATE, named)
    assert moved == StoreOutcome(written=12, moved=12)
    for contact_id in named:
        await phone.delete(contact_id)
    with pytest.raises(LargeRemoval):
        await phone.store(mobile, SpaceKind.PRIVATE)
    removed = await phone.store(mobile, SpaceKind.PRIVATE, removals=True)
    assert removed == StoreOutcome(removed=12)


@pytest.mark.claim("M5")
async def test_a_terminal_accepts_by_itself_by_push_and_at_connection(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.enrol(phone.user_id, "tablet")
    mobile = await sim_of(phone)
    many = [f"c{number}" for number in range(12)]
    await keep(phone, *people_named(*many))
    async with tablet:
        other = await sim_of(tablet)
        await tablet.set_auto_accept(other, True)
        assert await tablet.auto_accepts() == {other}
        updates = tablet.updates()
        await phone.store(mobile)
        for _ in many:
            await the_next(updates, ContactAdded)
    await edit(phone, "C0", notes={"n": Note(note="while it was away")})
    await phone.store(mobile)
    async with Terminal(tablet.phonebook.path.parent) as back:
        updates = back.updates()
        while await note_of(back, "C0") is None:
            await the_next(updates, ContactUpdated)
        # Each of these is small; together they are most of the book.
        for name in many[:10]:
            await phone.delete(await entry(phone, name.title()))
            await phone.store(mobile)
            await the_next(updates, ContactRemoved)
        await phone.delete(await entry(phone, "C10"))
        await keep(phone, *people_named("new"))
        await phone.store(mobile)
        await the_next(updates, ContactAdded)
        assert await the_next(updates, LargeRemovalWaiting) == LargeRemovalWaiting(other, 1)
        await waiting(back, other, ("C10",))
        assert await names(back) == {"C10", "C11", "New"}
        # On another day it counts alone.
        two_days_ago = datetime.now(UTC) - timedelta(days=2)
        await back.phonebook.save_accepting(other, AcceptingRecord(two_days_ago, removed=10))
        await edit(phone, "New", notes={"n": Note(note="anything")})
        await phone.store(mobile)
        await the_next(updates, ContactRemoved)
        await back.set_auto_accept(other, False)
        assert await back.auto_accepts() == frozenset()
        await edit(phone, "New", notes={"n": Note(note="anything else")})
        await phone.store(mobile)
        await waiting(back, other, ("New",))
        assert await note_of(back, "New") == "anything"


@pytest.mark.claim("M5")
@pytest.mark.claim("M6")
async def test_a_book_of_several_pages_and_a_store_that_broke_off(people: People) -> None:
    phone = await people.terminal("lin")
    desk = await people.another_terminal(phone.user_id, "desk")
    mobile, unicom = await sim_of(phone), await sim_of(desk, UNICOM)
    many = [f"c{number:03d}" for number in range(450)]
    await keep(phone, *people_named(*many))

    def breaks(done: int, of: int) -> None:
        assert (done, of) == (200, 450)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await phone.store(mobile, progress=breaks)
    steps: list[tuple[int, int]] = []
    went_on = await phone.store(mobile, progress=lambda done, of: steps.append((done, of)))
    assert went_on == StoreOutcome(written=250, same=200)
    assert steps == [(200, 250), (250, 250)]

    await desk.set_consent(UNICOM, True)
    updates = desk.updates()
    await desk.request_update(unicom, MOBILE)
    while (told := await the_next(updates, SimContactsWaiting)) != SimContactsWaiting(
        unicom, 450, filling=False
    ):
        assert isinstance(told, SimContactsWaiting)
    assert len((await desk.pending(unicom)).contacts) == 450
    steps.clear()
    outcome = await desk.accept_contacts(unicom, progress=lambda done, of: steps.append((done, of)))
    assert outcome == AcceptOutcome(added=450)
    assert steps == [(200, 450), (400, 450), (450, 450)]
    assert await desk.store(unicom) == StoreOutcome(same=450)


async def test_what_a_space_has_already_is_not_sent_when_its_memory_is_lost(
    people: People, system: System
) -> None:
    phone = await people.terminal("lin")
    await keep(phone, *people_named("an", "bo"))
    await phone.store(await sim_of(phone))
    tablet = await people.another_terminal(phone.user_id, "tablet")
    other = await sim_of(tablet)
    await keep(tablet, *people_named("an", "bo", "chen"))
    async with system.channel() as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind("contactmesh.commands", "#")
        assert await tablet.store(other) == StoreOutcome(written=1, same=2)
        bodies = []
        while message := await tap.get(no_ack=True, fail=False):
            bodies.append(message.body)
    assert not any(b"urn:example:an" in body for body in bodies)


async def test_a_sim_has_to_be_there_and_here(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    sim_id = await sim_of(phone)
    await keep(tablet, *people_named("an"))
    with pytest.raises(SimElsewhere):
        await tablet.store(sim_id)
    with pytest.raises(SimElsewhere):
        await tablet.accept_contacts(sim_id)
    assert (await tablet.pending(sim_id)).contacts == ()
    await tablet.move_sim(sim_id)
    assert await tablet.store(sim_id) == StoreOutcome(written=1)
    await tablet.remove_sim(sim_id)
    with pytest.raises(UnknownSim):
        await tablet.store(sim_id)


async def test_groups_contacts_and_too_large_ones_are_left_out(people: People) -> None:
    phone, bob = await people.terminal("lin"), await people.terminal("bob")
    sim_id = await sim_of(phone)
    updates = phone.updates()
    await phone.create_group("Family", [bob.user_id])
    await bob.publish(card(bob.user_id, "Bob"))
    await the_next(updates, ContactAdded)
    await keep(phone, card("an", "An"), card("large", "Large", note="n" * 300_000))
    stored = await phone.store(sim_id)
    assert stored == StoreOutcome(written=1, left_out=1, too_large=("Large",))
    ids = [await entry(phone, "Bob"), await entry(phone, "An")]
    assert await phone.store(sim_id, contact_ids=ids) == StoreOutcome(same=1, left_out=1)


@pytest.mark.claim("M4")
async def test_large_cards_go_in_pages_that_a_message_has_room_for(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, *(card(f"c{at}", f"C{at}", note="茶" * 60_000) for at in range(12)))
    steps: list[int] = []
    stored = await phone.store(mobile, progress=lambda done, _: steps.append(done))
    assert stored == StoreOutcome(written=12)
    assert steps == [4, 8, 12]
    await waiting(tablet, other, {f"C{at}" for at in range(12)})
    assert await tablet.accept_contacts(other) == AcceptOutcome(added=12)
    assert await note_of(tablet, "C11") == "茶" * 60_000
