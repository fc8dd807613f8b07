"""What the phonebook remembers of spaces, keeps private, and loses when its owner deletes."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.terminal.cards import FAMILY, card, changed, enveloped, member, page

from contactmesh.contacts import Card, digest, write_vcards
from contactmesh.contracts.contact import ContactUpdate, Scope
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal import (
    AcceptOutcome,
    ContactRemoved,
    ContactUpdated,
    NoOwnEntry,
    Overwritten,
    PendingChange,
    Phonebook,
    SimContactsWaiting,
    UnknownContact,
    UnreadableUpdate,
)
from contactmesh.terminal.database import open_database
from contactmesh.terminal.decisions import Tally
from contactmesh.terminal.phonebook_accepting import Waiting
from contactmesh.terminal.rules.spaces import settled
from contactmesh.terminal.space_memory import Space
from contactmesh.terminal.store_pages import Sent

SHARED = Space("cn-mobile", SpaceKind.SHARED)
PRIVATE = Space("cn-mobile", SpaceKind.PRIVATE)
OTHER_SHARED = Space("cn-unicom", SpaceKind.SHARED)

CARRIERS = ("cn-mobile", "cn-unicom")

AN = card("an", "An Li", phones={"m": "+8613800138000"})
AN_MOVED = card("an", "An Li", phones={"m": "+8613900139000"})
BOB = card("bob", "Bob Li", phones={"m": "+8613700137000"})


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as opened:
        yield opened


async def keep(phonebook: Phonebook, *cards: Card) -> None:
    await phonebook.import_cards(b"".join(write_vcards(cards)))


async def the_one(phonebook: Phonebook) -> str:
    (contact,) = await phonebook.contacts()
    return contact.contact_id


async def to_store(phonebook: Phonebook, space: Space = SHARED) -> list[str]:
    """The uids of the next entries to store."""
    found = await phonebook.next_to_store(space, None, "", limit=200, room=1_000_000)
    return [one.uid for one in found.entries]


async def store(phonebook: Phonebook, space: Space = SHARED) -> None:
    found = await phonebook.next_to_store(space, None, "", limit=200, room=1_000_000)
    await phonebook.stored(space, found.entries, ())


# Deleting


async def test_an_owners_entry_is_deleted(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    contact_id = await the_one(phonebook)
    applied = await phonebook.delete_own(contact_id)
    assert applied.updates == (ContactRemoved(contact_id, "An Li"),)
    assert await phonebook.contacts() == []
    with pytest.raises(UnknownContact):
        await phonebook.delete_own(contact_id)


async def test_what_groups_show_stays_when_the_owners_part_goes(phonebook: Phonebook) -> None:
    await keep(phonebook, card("mine", "Bob Li", phones={"m": "+8613700137000"}, note="owes me"))
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    contact_id = await the_one(phonebook)
    applied = await phonebook.delete_own(contact_id)
    (update,) = applied.updates
    assert isinstance(update, ContactUpdated)
    assert (update.contact_id, update.user_id) == (contact_id, "bob")
    (contact,) = await phonebook.contacts()
    assert (contact.own, contact.card, contact.groups) == (False, BOB, (FAMILY,))
    moved = card("bob", "Bob Li", phones={"m": "+8613600136000"})
    await phonebook.apply([enveloped(changed("bob", 4, moved))])
    assert [one.card for one in await phonebook.contacts()] == [moved]
    with pytest.raises(NoOwnEntry, match="no entry of yours"):
        await phonebook.delete_own(contact_id)


# Storing


async def test_what_was_stored_is_sent_again_only_when_it_differs(phonebook: Phonebook) -> None:
    await keep(phonebook, AN, BOB)
    assert await to_store(phonebook) == ["urn:example:an", "urn:example:bob"]
    await store(phonebook)
    assert await to_store(phonebook) == []
    assert await to_store(phonebook, OTHER_SHARED) == ["urn:example:an", "urn:example:bob"]
    await keep(phonebook, AN_MOVED)
    assert await to_store(phonebook) == ["urn:example:an"]
    # Another order of the same, and another time of writing, are no difference.
    await keep(phonebook, AN.model_copy(update={"prod_id": "somebody else's"}))
    assert await to_store(phonebook) == []


async def test_a_page_has_room_for_a_card_at_least(phonebook: Phonebook) -> None:
    await keep(phonebook, AN, card("large", "Large", note="n" * 1000), BOB)
    first = await phonebook.next_to_store(SHARED, None, "", limit=200, room=700)
    assert ([one.uid for one in first.entries], first.too_large) == (
        ["urn:example:an", "urn:example:bob"],
        (),
    )
    assert first.after == "urn:example:bob"
    then = await phonebook.next_to_store(SHARED, None, first.after, limit=200, room=700)
    assert (then.entries, then.too_large, then.after) == ((), ("Large",), None)
    one = await phonebook.next_to_store(SHARED, None, "", limit=1, room=700)
    assert (one.looked_at, one.after) == (1, "urn:example:an")


@pytest.mark.claim("M3")
async def test_what_is_private_for_one_carrier_is_in_no_shared_space(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    contact_id = await the_one(phonebook)
    for space in (SHARED, OTHER_SHARED):
        await store(phonebook, space)
    await phonebook.name_entries(PRIVATE, [contact_id], CARRIERS)
    assert await to_store(phonebook, PRIVATE) == ["urn:example:an"]
    for space in (SHARED, OTHER_SHARED):
        assert await to_store(phonebook, space) == []
        (gone,) = await phonebook.gone_from(space)
        assert (gone.uid, gone.private) == ("urn:example:an", True)
        assert (await phonebook.to_store(space, None)).private == 1
    # At another carrier it was never made private: sharing it there does not end that.
    await phonebook.name_entries(OTHER_SHARED, [contact_id], CARRIERS)
    assert (await phonebook.to_store(OTHER_SHARED, None)).held == 0
    await phonebook.name_entries(SHARED, [contact_id], CARRIERS)
    assert await phonebook.gone_from(OTHER_SHARED) == ()


@pytest.mark.claim("M3")
async def test_a_private_contact_stays_private_under_another_uid(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    contact_id = await the_one(phonebook)
    await phonebook.name_entries(PRIVATE, [contact_id], CARRIERS)
    await phonebook.write_own(contact_id, AN.model_copy(update={"uid": "urn:example:renamed"}))
    assert await to_store(phonebook) == []
    assert await to_store(phonebook, PRIVATE) == ["urn:example:renamed"]


@pytest.mark.claim("M3")
async def test_a_private_contact_that_comes_back_is_private_still(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    await phonebook.name_entries(PRIVATE, [await the_one(phonebook)], CARRIERS)
    await phonebook.delete_own(await the_one(phonebook))
    await keep(phonebook, AN_MOVED)
    assert await to_store(phonebook) == []


async def test_naming_an_unknown_contact_makes_none_private(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    with pytest.raises(UnknownContact):
        await phonebook.name_entries(PRIVATE, [await the_one(phonebook), "nobody"], CARRIERS)
    assert await to_store(phonebook) == ["urn:example:an"]


# Accepting


@pytest.mark.claim("M6")
async def test_a_lost_value_is_told_with_the_update(phonebook: Phonebook) -> None:
    await phonebook.accept("cn-mobile", [Waiting("urn:example:an", AN)])
    contact_id = await the_one(phonebook)
    mine = card("an", "An Li", phones={"m": "+8613600136000"})
    await phonebook.write_own(contact_id, mine)
    _, applied = await phonebook.accept("cn-mobile", [Waiting("urn:example:an", AN_MOVED)])
    (update,) = applied.updates
    assert isinstance(update, ContactUpdated)
    lost = Overwritten("urn:example:an", "An Li", "phones/m/number", "+8613600136000")
    assert update.overwritten == (lost,)


async def test_what_was_accepted_is_not_sent_back(phonebook: Phonebook) -> None:
    await phonebook.accept(
        "cn-mobile", [Waiting("urn:example:an", AN), Waiting("urn:example:bob", BOB)]
    )
    assert await to_store(phonebook) == []
    await phonebook.accept("cn-mobile", [Waiting("urn:example:bob", None)])
    assert [one.display_name for one in await phonebook.contacts()] == ["An Li"]
    assert await phonebook.gone_from(SHARED) == ()


@pytest.mark.claim("M6")
async def test_an_entry_that_was_kept_goes_back_with_the_next_store(phonebook: Phonebook) -> None:
    await phonebook.accept("cn-mobile", [Waiting("urn:example:an", AN)])
    await phonebook.write_own(await the_one(phonebook), AN_MOVED)
    await phonebook.accept("cn-mobile", [Waiting("urn:example:an", None)])
    assert await to_store(phonebook) == ["urn:example:an"]


def test_a_contact_that_is_shown_again_meanwhile_counts_once() -> None:
    tally = Tally()
    tally.add([settled(AN.uid, AN, None, None), settled(BOB.uid, None, BOB, BOB)])
    tally.add([settled(AN.uid, AN_MOVED, AN, AN), settled(BOB.uid, None, None, None)])
    assert tally.outcome() == AcceptOutcome(added=1, removed=1)


# What a space is known to hold, and what of it is one's own


async def next_one(phonebook: Phonebook, space: Space = SHARED) -> Sent:
    found = await phonebook.next_to_store(space, None, "", limit=200, room=1_000_000)
    (one,) = found.entries
    return one


async def own(phonebook: Phonebook) -> Card | None:
    contacts = await phonebook.contacts()
    return contacts[0].card if contacts else None


async def took(phonebook: Phonebook, carrier_id: str, waiting: Waiting) -> PendingChange:
    ((result, *_), _) = await phonebook.accept(carrier_id, [waiting])
    return result.contact.change


@pytest.mark.claim("M6")
async def test_what_is_stored_names_what_the_shared_space_is_known_to_hold(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    assert (await next_one(phonebook)).known == ""
    await store(phonebook)
    await keep(phonebook, AN_MOVED)
    assert (await next_one(phonebook)).known == digest(AN)
    assert (await next_one(phonebook, OTHER_SHARED)).known == ""
    # Storing as private takes it out of the shared space, so that one counts there too.
    await phonebook.name_entries(PRIVATE, [await the_one(phonebook)], CARRIERS)
    assert (await next_one(phonebook, PRIVATE)).known == digest(AN)
    (gone,) = await phonebook.gone_from(SHARED)
    assert gone.known == digest(AN)
    found = await phonebook.next_to_store(PRIVATE, None, "", limit=200, room=1_000_000)
    assert await phonebook.stored(PRIVATE, found.entries, ()) == 1
    assert await phonebook.gone_from(SHARED) == ()


@pytest.mark.claim("M6")
async def test_over_what_was_declined_only_a_later_edit_is_stored(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    await store(phonebook)
    theirs = card("an", "An Li", phones={"m": "+8613600136000"})
    others = Waiting("urn:example:zoe", card("zoe", "Zoe"))
    await phonebook.declined("cn-mobile", [Waiting(AN.uid, theirs), others])
    assert await to_store(phonebook) == []
    assert await phonebook.gone_from(SHARED) == ()
    await keep(phonebook, AN_MOVED)
    assert (await next_one(phonebook)).known == digest(theirs)
    await phonebook.declined("cn-mobile", [Waiting(AN.uid, None)])
    assert (await next_one(phonebook)).known == ""


async def test_what_was_being_stored_when_no_reply_came_is_not_forgotten(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    await phonebook.send(SHARED, [await next_one(phonebook)])
    # It may be there, or not: it is stored again, and removed if it is deleted.
    assert await to_store(phonebook) == [AN.uid]
    await phonebook.delete_own(await the_one(phonebook))
    (gone,) = await phonebook.gone_from(SHARED)
    assert (gone.uid, gone.known) == (AN.uid, digest(AN))
    await phonebook.left_space(SHARED, [AN.uid])
    assert await phonebook.gone_from(SHARED) == ()


async def test_an_edit_that_was_taken_back_after_a_store_broke_off_is_stored_again(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    await store(phonebook)
    await keep(phonebook, AN_MOVED)
    await phonebook.send(SHARED, [await next_one(phonebook)])
    await keep(phonebook, AN)
    assert await to_store(phonebook) == [AN.uid]


async def test_whatever_a_store_that_broke_off_may_have_brought_is_known_as_ones_own(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    await store(phonebook)
    for number in ("+8613900139000", "+8613600136000"):
        await keep(phonebook, card("an", "An Li", phones={"m": number}))
        await phonebook.send(SHARED, [await next_one(phonebook)])
    first = Waiting(AN.uid, AN_MOVED, digest(AN))
    assert await took(phonebook, "cn-mobile", first) is PendingChange.SAME


async def test_what_the_reply_leaves_out_is_not_remembered(phonebook: Phonebook) -> None:
    await keep(phonebook, AN)
    entries = [await next_one(phonebook)]
    await phonebook.send(SHARED, entries)
    await phonebook.stored(SHARED, entries, {AN.uid})
    await phonebook.delete_own(await the_one(phonebook))
    assert await phonebook.gone_from(SHARED) == ()


@pytest.mark.claim("M6")
async def test_ones_own_older_contents_undo_nothing_at_another_carrier(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    await store(phonebook)
    await keep(phonebook, AN_MOVED)
    assert await took(phonebook, "cn-unicom", Waiting(AN.uid, AN, "")) is PendingChange.SAME
    assert await own(phonebook) == AN_MOVED
    # Older still, after the newer ones were stored.
    await store(phonebook)
    await keep(phonebook, card("an", "An Li", phones={"m": "+8613600136000"}))
    assert await took(phonebook, "cn-unicom", Waiting(AN.uid, AN, "")) is PendingChange.SAME
    await phonebook.delete_own(await the_one(phonebook))
    assert await took(phonebook, "cn-unicom", Waiting(AN.uid, AN, "")) is PendingChange.SAME
    assert await own(phonebook) is None


@pytest.mark.claim("M6")
async def test_who_goes_back_to_older_contents_is_followed(phonebook: Phonebook) -> None:
    await phonebook.accept("cn-mobile", [Waiting(AN.uid, AN, "")])
    await phonebook.accept("cn-mobile", [Waiting(AN.uid, AN_MOVED, digest(AN))])
    back = Waiting(AN.uid, AN, digest(AN_MOVED))
    assert await took(phonebook, "cn-mobile", back) is PendingChange.CHANGED
    assert await own(phonebook) == AN


@pytest.mark.claim("M4")
@pytest.mark.claim("M6")
async def test_what_two_stored_at_once_is_merged_and_goes_back(phonebook: Phonebook) -> None:
    await phonebook.accept("cn-mobile", [Waiting(AN.uid, AN, "")])
    mine = card("an", "An Li", phones={"m": "+8613800138000"}, note="owes me 20")
    await keep(phonebook, mine)
    await store(phonebook)
    theirs = Waiting(AN.uid, AN_MOVED, digest(AN))
    (shown,) = await phonebook.preview("cn-mobile", [theirs])
    assert (shown.change, shown.changed_here) == (PendingChange.CHANGED, True)
    await phonebook.accept("cn-mobile", [theirs])
    both = card("an", "An Li", phones={"m": "+8613900139000"}, note="owes me 20")
    assert await own(phonebook) == both
    sent = await next_one(phonebook)
    assert (sent.digest, sent.known) == (digest(both), digest(AN_MOVED))


@pytest.mark.claim("M3")
async def test_what_is_private_where_no_sim_is_left_can_be_shared_again(
    phonebook: Phonebook,
) -> None:
    await keep(phonebook, AN)
    contact_id = await the_one(phonebook)
    await phonebook.name_entries(Space("cn-unicom", SpaceKind.PRIVATE), [contact_id], CARRIERS)
    await phonebook.name_entries(SHARED, [contact_id], CARRIERS)
    assert await to_store(phonebook) == []
    await phonebook.name_entries(SHARED, [contact_id], ("cn-mobile",))
    assert await to_store(phonebook) == [AN.uid]


@pytest.mark.parametrize("uid", ["u" * 501, "urn:example:tab\there"])
async def test_what_has_an_odd_uid_is_named_and_the_rest_is_stored(
    phonebook: Phonebook, uid: str
) -> None:
    await keep(phonebook, card("odd", "Odd"))
    odd = card("odd", "Odd").model_copy(update={"uid": uid})
    await phonebook.write_own(await the_one(phonebook), odd)
    await keep(phonebook, BOB)
    found = await phonebook.next_to_store(SHARED, None, "", limit=200, room=1_000_000)
    assert ([one.uid for one in found.entries], found.unfit_uid) == ([BOB.uid], ("Odd",))


# What is told


def space_changed(**properties: object) -> ContactUpdate:
    return ContactUpdate.model_validate(
        {"scope": Scope.SPACE, "owner_id": "alice", "uid": "sim", "rev": 3, **properties}
    )


@pytest.mark.claim("M5")
async def test_that_contacts_wait_is_told(phonebook: Phonebook) -> None:
    told = [space_changed(waiting=2, filling=True), space_changed(waiting=0)]
    applied = await phonebook.apply([enveloped(one) for one in told])
    assert applied.updates == (
        SimContactsWaiting("sim", 2, filling=True),
        SimContactsWaiting("sim", 0, filling=False),
    )
    applied = await phonebook.apply([enveloped(space_changed())])
    assert [type(update) for update in applied.updates] == [UnreadableUpdate]


# The file


def test_a_phonebook_of_an_earlier_version_gets_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "phonebook.sqlite3"
    open_database(path).close()
    database = sqlite3.connect(path)
    (newest,) = database.execute("PRAGMA user_version").fetchone()
    later = ("space_contacts", "private_contacts", "accepting_sims", "book_entries")
    for table in (*later, "joined_entries"):
        database.execute(f"DROP TABLE {table}")
    database.execute("DROP INDEX contacts_uid")
    database.execute("PRAGMA user_version = 3")
    database.close()
    database = open_database(path)
    assert database.execute("SELECT count(*) FROM private_contacts").fetchone()[0] == 0
    assert database.execute("PRAGMA user_version").fetchone()[0] == newest
    database.close()
