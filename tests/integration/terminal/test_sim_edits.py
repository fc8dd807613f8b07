"""No edit is lost between a user's terminals, whatever order they store and accept in."""

import asyncio
import itertools
from collections.abc import Collection, Sequence

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_sim_spaces import (
    MOBILE,
    UNICOM,
    changes,
    edit,
    entry,
    in_space,
    keep,
    names,
    note_of,
    people_named,
    sim_of,
    waiting,
)
from tests.unit.terminal.cards import card

from contactmesh.contacts import Email, Note, Phone
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal import (
    AcceptingCancelled,
    AcceptOutcome,
    Overwritten,
    PendingChange,
    RevisionConflict,
    StoreOutcome,
    Terminal,
)
from contactmesh.terminal.phonebook_accepting import Waiting
from contactmesh.terminal.space_memory import Space
from contactmesh.terminal.store_pages import Sent

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def email_of(terminal: Terminal, name: str) -> str | None:
    contact = await terminal.contact(await entry(terminal, name))
    return next((one.address for one in (contact.card.emails or {}).values()), None)


@pytest.mark.claim("M4")
@pytest.mark.claim("M6")
async def test_a_first_store_of_older_contents_overwrites_no_edit(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile = await sim_of(phone)
    for terminal in (phone, tablet):
        await keep(terminal, *people_named("an", "bo"))
    await edit(phone, "An", notes={"n": Note(note="newer")})
    assert await phone.store(mobile) == StoreOutcome(written=2)
    other = await sim_of(tablet)
    assert await tablet.store(other) == StoreOutcome(same=1, waiting=1)
    # As private it would leave the shared space, and the edit with it.
    named = [await entry(tablet, "An")]
    assert await tablet.store(other, SpaceKind.PRIVATE, named) == StoreOutcome(waiting=1)
    await tablet.accept_contacts(other, ["urn:example:an"])
    assert await note_of(tablet, "An") == "newer"
    assert await tablet.store(other, contact_ids=named) == StoreOutcome(same=1)
    await edit(tablet, "An", notes={"n": Note(note="newest")})
    assert await tablet.store(other) == StoreOutcome(written=1, same=1)


@pytest.mark.claim("M6")
async def test_over_what_was_declined_a_later_edit_is_stored(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, *people_named("an"))
    await phone.store(mobile)
    await waiting(tablet, other, ("An",))
    await tablet.accept_contacts(other)
    await edit(phone, "An", notes={"n": Note(note="theirs")})
    await phone.store(mobile)
    await waiting(tablet, other, ("An",))
    assert await tablet.decline_contacts(other) == 1
    assert await tablet.store(other) == StoreOutcome(same=1)
    await edit(tablet, "An", notes={"n": Note(note="mine")})
    assert await tablet.store(other) == StoreOutcome(written=1)


@pytest.mark.claim("M4")
async def test_what_arrives_during_a_store_of_several_pages_is_not_overwritten(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    many = [f"c{number:03d}" for number in range(210)]
    for terminal in (phone, tablet):
        await keep(terminal, *people_named(*many))
    await tablet.store(other)
    assert await phone.store(mobile) == StoreOutcome(same=210)
    for name in many:
        await edit(phone, name.title(), emails={"e": Email(address=f"{name}@example.com")})
    await edit(tablet, "C209", notes={"n": Note(note="meanwhile")})
    keep_page, first = phone.phonebook.stored, itertools.count()

    async def overtaken(space: Space, page: Sequence[Sent], left_out: Collection[str]) -> int:
        if next(first) == 0:
            assert await tablet.store(other) == StoreOutcome(written=1, same=209)
        return await keep_page(space, page, left_out)

    monkeypatch.setattr(phone.phonebook, "stored", overtaken)
    assert await phone.store(mobile) == StoreOutcome(written=209, waiting=1)
    assert await phone.accept_contacts(mobile) == AcceptOutcome(changed=1)
    assert await phone.store(mobile) == StoreOutcome(written=1, same=209)
    assert (await note_of(phone, "C209"), await email_of(phone, "C209")) == (
        "meanwhile",
        "c209@example.com",
    )


@pytest.mark.claim("M4")
@pytest.mark.claim("M6")
async def test_what_is_stored_at_two_carriers_at_once_comes_together(people: People) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, unicom = await sim_of(phone), await sim_of(tablet, UNICOM)
    await phone.set_consent(UNICOM, True)
    await phone.set_consent(MOBILE, True)
    await keep(phone, *people_named("an"))
    await phone.store(mobile)
    await waiting(tablet, unicom, ("An",))
    await tablet.accept_contacts(unicom)
    await edit(phone, "An", notes={"n": Note(note="from the phone")})
    await edit(tablet, "An", emails={"e": Email(address="an@example.com")})
    await asyncio.gather(phone.store(mobile), tablet.store(unicom))
    both = ("from the phone", "an@example.com")
    sides = ((phone, mobile), (tablet, unicom))
    async with asyncio.timeout(60):
        while [(await note_of(t, "An"), await email_of(t, "An")) for t, _ in sides] != [both] * 2:
            for terminal, sim_id in sides:
                outcome = await terminal.accept_contacts(sim_id)
                assert outcome.overwritten == ()
                await terminal.store(sim_id)


@pytest.mark.claim("M6")
async def test_ones_own_older_contents_are_stored_over_without_asking(people: People) -> None:
    phone = await people.terminal("lin")
    mobile, unicom = await sim_of(phone), await sim_of(phone, UNICOM)
    await phone.set_consent(UNICOM, True)
    await keep(phone, *people_named("an"))
    await edit(phone, "An", notes={"n": Note(note="older")})
    assert await phone.store(mobile) == StoreOutcome(written=1)
    await waiting(phone, unicom, ("An",))
    await edit(phone, "An", notes={"n": Note(note="newer")})
    book = await phone.pending(unicom)
    assert changes(book) == {"An": PendingChange.SAME}
    assert await phone.store(unicom) == StoreOutcome(written=1)
    assert (await phone.pending(unicom)).contacts == ()
    assert await note_of(phone, "An") == "newer"


async def test_what_was_stored_before_a_crash_and_then_deleted_leaves_the_space(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = await people.terminal("lin")
    mobile = await sim_of(phone)
    await keep(phone, *people_named("an", "bo"))

    async def crashes(space: Space, page: Sequence[Sent], left_out: Collection[str]) -> int:
        raise ConnectionError

    with monkeypatch.context() as crashing:
        crashing.setattr(phone.phonebook, "stored", crashes)
        with pytest.raises(ConnectionError):
            await phone.store(mobile)
    assert await in_space(phone, MOBILE, SpaceKind.SHARED) == 2
    await phone.delete(await entry(phone, "An"))
    await edit(phone, "Bo", notes={"n": Note(note="later")})
    assert await phone.store(mobile) == StoreOutcome(written=1, removed=1)
    assert await in_space(phone, MOBILE, SpaceKind.SHARED) == 1


@pytest.mark.claim("M6")
@pytest.mark.parametrize("cancelled", [True, False])
async def test_what_was_overwritten_is_told_though_accepting_breaks_off(
    people: People, monkeypatch: pytest.MonkeyPatch, *, cancelled: bool
) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    await keep(phone, card("an", "An", phones={"m": "+8613800138000"}))
    await phone.store(mobile)
    await waiting(tablet, other, ("An",))
    await tablet.accept_contacts(other)
    await edit(tablet, "An", phones={"m": Phone(number="+8613600136000")})
    await edit(phone, "An", phones={"m": Phone(number="+8613700137000")})
    await phone.store(mobile)
    book = await waiting(tablet, other, ("An",))
    accepting = asyncio.ensure_future(tablet.accept_contacts(other, pending_rev=book.pending_rev))
    write = tablet.phonebook.accept

    async def breaks_off(carrier_id: str, page: Sequence[Waiting]) -> object:
        if cancelled:
            accepting.cancel()
        else:
            await edit(phone, "An", notes={"n": Note(note="later")})
            await phone.store(mobile)
        return await write(carrier_id, page)

    monkeypatch.setattr(tablet.phonebook, "accept", breaks_off)
    with pytest.raises((AcceptingCancelled, RevisionConflict)) as broken_off:
        await accepting
    error = broken_off.value
    assert isinstance(error, AcceptingCancelled if cancelled else RevisionConflict)
    lost = Overwritten("urn:example:an", "An", "phones/m/number", "+8613600136000")
    assert error.accepted == AcceptOutcome(changed=1, overwritten=(lost,))


@pytest.mark.claim("M3")
async def test_a_contact_goes_from_private_to_shared_and_is_then_somebody_elses_to_share(
    people: People,
) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    for terminal in (phone, tablet):
        await keep(terminal, *people_named("an", "bo"))
    named = [await entry(phone, "An")]
    assert await phone.store(mobile, SpaceKind.PRIVATE, named) == StoreOutcome(written=1)
    # The tablet knows of no mark: what is private in the account is shared by nobody.
    assert await tablet.store(other) == StoreOutcome(written=1, private=1)
    shared = await phone.store(mobile, SpaceKind.SHARED, named)
    assert shared == StoreOutcome(written=1, moved=1)
    assert await tablet.store(other) == StoreOutcome(same=2)
    assert await names(tablet) == {"An", "Bo"}
