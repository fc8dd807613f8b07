"""Two entries of one person are made one, and two again."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.terminal.book import applied, exchanged, marked, synced
from tests.unit.terminal.cards import card, member, page

from contactmesh.contacts import Card, write_vcards
from contactmesh.terminal import LinkRefused, NoOwnEntry, Phonebook, UnknownJoin

OLD, NEW, LANDLINE = "+8613800138000", "+8613900139000", "+861065529988"
LI = card("li", "Li Wei", phones={"m": OLD}, note="茶")
LI_AGAIN = card("li-again", "Li Wei", phones={"m": OLD}, emails={"e": "li@example.org"})
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as opened:
        yield opened


async def have(phonebook: Phonebook, *cards: Card) -> dict[str, str]:
    """The contacts' ids by their uids."""
    await phonebook.import_cards(b"".join(write_vcards(cards)))
    return {contact.card.uid: contact.contact_id for contact in await phonebook.contacts()}


async def parts(phonebook: Phonebook) -> dict[str, Card]:
    """The owner's entries by their uids."""
    found = [await phonebook.own_part(one.contact_id) for one in await phonebook.contacts()]
    return {one.uid: one for one in found if one is not None}


async def test_entries_of_one_person_are_found_and_namesakes_with_one_landline_are_not(
    phonebook: Phonebook,
) -> None:
    son = card("son", "Wang Lei", phones={"h": LANDLINE, "m": "+8613700137000"})
    father = card("father", "Wang Lei", phones={"h": LANDLINE, "m": "+8613600136000"})
    ids = await have(phonebook, LI, LI_AGAIN, son, father)
    (found,) = await phonebook.alike()
    assert {found.first_id, found.second_id} == {ids[LI.uid], ids[LI_AGAIN.uid]}
    assert found.score > 0.5
    assert "the same mobile number" in found.reasons


async def test_a_join_keeps_all_of_both_is_an_edit_and_a_deletion_and_can_be_undone(
    phonebook: Phonebook,
) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    before = await parts(phonebook)
    await synced(phonebook)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    (joined,) = (await parts(phonebook)).values()
    assert joined.uid == LI.uid
    assert joined.notes
    assert joined.emails
    assert {one.uid: one.card is None for one in await marked(phonebook)} == {
        LI.uid: False,
        LI_AGAIN.uid: True,
    }
    assert [one.join_id for one in await phonebook.joins(NOW)] == ["j1"]
    await phonebook.undo_join("j1", NOW)
    assert await parts(phonebook) == before
    assert await marked(phonebook) == ()
    with pytest.raises(UnknownJoin):
        await phonebook.undo_join("j1", NOW)


async def test_what_was_edited_since_stays_with_the_first(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    joined = (await parts(phonebook))[LI.uid].to_json()
    edited = Card.model_validate({**joined, "phones": {"m": {"number": NEW}}})
    await phonebook.write_own(ids[LI.uid], edited)
    await phonebook.undo_join("j1", NOW)
    after = await parts(phonebook)
    assert [phone.number for phone in (after[LI.uid].phones or {}).values()] == [NEW]
    assert after[LI.uid].emails is None
    assert after[LI_AGAIN.uid].emails


async def test_what_was_deleted_since_is_there_again(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    before = await parts(phonebook)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    await phonebook.delete_own(ids[LI.uid])
    await phonebook.undo_join("j1", NOW)
    assert await parts(phonebook) == before


async def test_the_member_behind_the_second_is_behind_the_first_until_it_is_undone(
    phonebook: Phonebook,
) -> None:
    ids = await have(phonebook, card("own", "Wei", phones={"h": LANDLINE}), LI)
    await phonebook.apply_page(page(member("li", 3, LI)), None)
    assert (await phonebook.contact(ids[LI.uid])).user_id == "li"
    await phonebook.join(ids["urn:example:own"], ids[LI.uid], NOW, "j1")
    (one,) = await phonebook.contacts()
    assert (one.contact_id, one.user_id) == (ids["urn:example:own"], "li")
    await phonebook.undo_join("j1", NOW)
    behind = {contact.card.uid: contact.user_id for contact in await phonebook.contacts()}
    assert behind == {"urn:example:own": None, LI.uid: "li"}


async def test_two_members_one_contact_and_what_a_group_alone_brought_are_not_joined(
    phonebook: Phonebook,
) -> None:
    bob, eve = card("bob", "Bob", phones={"m": OLD}), card("eve", "Eve", phones={"m": NEW})
    ids = await have(phonebook, bob, eve)
    await phonebook.apply_page(page(member("bob", 3, bob), member("eve", 3, eve)), None)
    for second in (ids[eve.uid], ids[bob.uid]):
        with pytest.raises(LinkRefused):
            await phonebook.join(ids[bob.uid], second, NOW, "j1")
    kim = card("kim", "Kim", phones={"m": "+8613700137000"})
    await phonebook.apply_page(page(member("kim", 4, kim), cursor="c2"), "c1")
    other = await phonebook.contact_of("kim")
    assert other is not None
    with pytest.raises(NoOwnEntry):
        await phonebook.join(ids[bob.uid], other.contact_id, NOW, "j1")
    assert await phonebook.joins(NOW) == []


@pytest.mark.parametrize("own", [LI.uid, LI_AGAIN.uid])
async def test_the_own_card_stays_under_its_uid_whichever_of_the_two_it_is(
    phonebook: Phonebook, own: str
) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    before = await parts(phonebook)
    await synced(phonebook)
    await phonebook.save_own_card(own)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    ((uid, joined),) = (await parts(phonebook)).items()
    assert uid == own
    assert joined.notes
    assert joined.emails
    assert (await phonebook.contact(ids[LI.uid])).card.uid == own
    deleted = {one.uid for one in await marked(phonebook) if one.card is None}
    assert deleted == {LI.uid, LI_AGAIN.uid} - {own}
    await phonebook.undo_join("j1", NOW)
    assert await parts(phonebook) == before
    assert await marked(phonebook) == ()


async def test_the_own_card_is_known_by_what_the_last_exchange_told(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    sent = await marked(phonebook)
    told = exchanged([applied(one, 100) for one in sent])
    await phonebook.exchanged(sent, told.model_copy(update={"own_card_uid": LI_AGAIN.uid}))
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    assert set(await parts(phonebook)) == {LI_AGAIN.uid}


OLD_ENOUGH = NOW + timedelta(days=31)


async def another_join(phonebook: Phonebook) -> None:
    ids = await have(phonebook, card("ann", "Ann"), card("anne", "Anne"))
    await phonebook.join(ids["urn:example:ann"], ids["urn:example:anne"], OLD_ENOUGH, "j2")


async def undoing(phonebook: Phonebook) -> None:
    with pytest.raises(UnknownJoin):
        await phonebook.undo_join("j1", OLD_ENOUGH)


async def looking(phonebook: Phonebook) -> None:
    assert await phonebook.joins(OLD_ENOUGH) == []


async def syncing(phonebook: Phonebook) -> None:
    await phonebook.sync_ended(OLD_ENOUGH)


@pytest.mark.parametrize("doing", [another_join, undoing, looking, syncing])
async def test_a_join_is_kept_for_thirty_days_also_by_who_never_syncs(
    phonebook: Phonebook, doing: Callable[[Phonebook], Awaitable[None]]
) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    await phonebook.sync_ended(NOW + timedelta(days=29))
    assert len(await phonebook.joins(NOW + timedelta(days=29))) == 1
    await doing(phonebook)
    with sqlite3.connect(phonebook.path) as beside:
        kept = beside.execute("SELECT join_id FROM joined_entries").fetchall()
    beside.close()
    assert ("j1",) not in kept


async def test_nothing_is_kept_of_the_joins_of_what_is_erased(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI, LI_AGAIN)
    await phonebook.join(ids[LI.uid], ids[LI_AGAIN.uid], NOW, "j1")
    await phonebook.erased([LI.uid])
    assert await phonebook.joins(NOW) == []
    assert await phonebook.contacts() == []
