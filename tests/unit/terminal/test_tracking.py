"""Every change of the owner's entries is marked for the sync, whoever makes it (rows Y1, Y2)."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.terminal.book import (
    ROOM,
    applied,
    entry,
    exchanged,
    gone,
    marked,
    pushed,
    synced,
)
from tests.unit.terminal.cards import FAMILY, card, changed, enveloped, member, page

from contactmesh.contacts import Card, Note, derived_uid, digest, write_vcards
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.views import MemberState
from contactmesh.contracts.sync.records import ChangeResult, Outcome
from contactmesh.terminal import (
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    Departure,
    Phonebook,
    PhonebookUnusable,
    UnreadableUpdate,
)
from contactmesh.terminal.database import _MIGRATIONS, json_text
from contactmesh.terminal.rules.full_sync import Listed

OLD, NEW = "+8613800138000", "+8613900139000"
LI = card("li", "Li Wei", phones={"m": OLD})
LI_MOVED = card("li", "Li Wei", phones={"m": NEW})
BOB = card("bob", "Bob Li", phones={"m": OLD})


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as opened:
        yield opened


async def have(phonebook: Phonebook, *cards: Card) -> dict[str, str]:
    """The contacts' ids by their uids."""
    await phonebook.import_cards(b"".join(write_vcards(cards)))
    return {contact.card.uid: contact.contact_id for contact in await phonebook.contacts()}


async def marks(phonebook: Phonebook) -> dict[str, bool]:
    """The uids of what is marked, and whether it was deleted."""
    return {one.uid: one.card is None for one in await marked(phonebook)}


async def numbers(phonebook: Phonebook) -> dict[str, list[str]]:
    return {
        contact.display_name: [phone.number for phone in (contact.card.phones or {}).values()]
        for contact in await phonebook.contacts()
    }


@pytest.mark.claim("Y1")
async def test_what_is_imported_is_marked_with_its_time_and_clean_once_the_server_has_it(
    phonebook: Phonebook,
) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    await have(phonebook, LI)
    (one,) = await marked(phonebook)
    assert (one.uid, one.known.rev) == (LI.uid, None)
    assert before <= one.updated_at <= datetime.now(UTC)
    await synced(phonebook)
    assert await marks(phonebook) == {}
    await have(phonebook, LI)
    assert await marks(phonebook) == {}


async def edit(phonebook: Phonebook, contact_id: str) -> None:
    await phonebook.write_own(contact_id, LI_MOVED)


async def delete(phonebook: Phonebook, contact_id: str) -> None:
    await phonebook.delete_own(contact_id)


async def import_again(phonebook: Phonebook, _: str) -> None:
    await have(phonebook, LI_MOVED)


@pytest.mark.claim("Y2")
@pytest.mark.parametrize(
    ("change", "deleted"), [(edit, False), (delete, True), (import_again, False)]
)
async def test_what_the_owner_does_is_marked(
    phonebook: Phonebook, change: Callable[[Phonebook, str], Awaitable[None]], *, deleted: bool
) -> None:
    contact_id = (await have(phonebook, LI))[LI.uid]
    await synced(phonebook)
    await change(phonebook, contact_id)
    (one,) = await marked(phonebook, new=False)
    assert (one.uid, one.known.rev, one.card is None) == (LI.uid, 100, deleted)


async def test_what_is_done_and_undone_is_no_change(phonebook: Phonebook) -> None:
    contact_id = (await have(phonebook, LI))[LI.uid]
    await synced(phonebook)
    await phonebook.write_own(contact_id, LI_MOVED)
    await phonebook.write_own(contact_id, LI)
    assert await marks(phonebook) == {}
    await phonebook.delete_own(contact_id)
    await have(phonebook, LI)
    assert await marks(phonebook) == {}
    await have(phonebook, BOB)
    await phonebook.delete_own((await have(phonebook))[BOB.uid])
    assert await marks(phonebook) == {}


async def test_an_entry_that_gets_another_uid_is_deleted_and_made(phonebook: Phonebook) -> None:
    contact_id = (await have(phonebook, LI))[LI.uid]
    await synced(phonebook)
    await phonebook.write_own(contact_id, LI.model_copy(update={"uid": "urn:example:other"}))
    assert await marks(phonebook) == {LI.uid: True, "urn:example:other": False}


async def test_what_groups_bring_is_not_in_the_book(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await phonebook.apply([enveloped(changed("bob", 5, card("bob", "Bob", phones={"m": NEW})))])
    assert await marks(phonebook) == {}


async def test_what_the_owner_writes_on_a_member_is(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    (bob,) = await phonebook.contacts()
    await phonebook.write_own(bob.contact_id, Card(uid=BOB.uid, notes={"n": Note(note="茶")}))
    assert await marks(phonebook) == {BOB.uid: False}
    await synced(phonebook)
    await phonebook.apply([enveloped(changed("bob", 5, card("bob", "Bob", phones={"m": NEW})))])
    assert await marks(phonebook) == {}
    await phonebook.delete_own(bob.contact_id)
    assert await marks(phonebook) == {BOB.uid: True}
    assert await numbers(phonebook) == {"Bob": [NEW]}


@pytest.mark.parametrize("leaves", ["leaves", "the group ends"])
async def test_what_stays_of_a_member_who_leaves_is_an_edit(
    phonebook: Phonebook, leaves: str
) -> None:
    await have(phonebook, card("own", "Bob Li", phones={"m": OLD}))
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await phonebook.apply([enveloped(changed("bob", 5, card("bob", "Bob Li", phones={"m": NEW})))])
    await synced(phonebook)
    if leaves == "leaves":
        gone_bob = member("bob", 7, state=MemberState.LEFT)
        await phonebook.apply_page(page(gone_bob, cursor="c2"), "c1")
    else:
        await phonebook.drop_group(FAMILY, Departure.DISSOLVED)
    (one,) = await marked(phonebook)
    assert Card.model_validate_json(one.card or "").phones["m"].number == NEW  # type: ignore[index]


async def test_linking_and_unlinking_by_themselves_are_no_edit(phonebook: Phonebook) -> None:
    await have(phonebook, card("own", "Bob Li", phones={"m": OLD}))
    await synced(phonebook)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    (bob,) = await phonebook.contacts()
    assert bob.user_id == "bob"
    await phonebook.unlink(bob.contact_id)
    await phonebook.link(bob.contact_id, "bob")
    assert await marks(phonebook) == {}


@pytest.mark.claim("Y1")
async def test_a_phonebook_from_before_has_everything_to_send(tmp_path: Path) -> None:
    path = tmp_path / "phonebook.sqlite3"
    database = sqlite3.connect(path, isolation_level=None)
    for script in _MIGRATIONS[:4]:
        database.executescript(script)
    database.execute("PRAGMA user_version = 4")
    own = json_text(LI.to_json())
    database.execute(
        "INSERT INTO contacts VALUES ('1', ?, NULL, ?, '{}', ?, '{}', 'Li Wei', 'li wei', '')",
        (LI.uid, own, own),
    )
    database.close()
    async with Phonebook(path, "alice", "CN") as phonebook:
        assert await marks(phonebook) == {LI.uid: False}
        await synced(phonebook)
        await phonebook.write_own("1", LI_MOVED)
        await phonebook.write_own("1", LI)
        assert await marks(phonebook) == {}


# What the server says


async def push(phonebook: Phonebook, *messages: object) -> list[type]:
    updates = await phonebook.apply([enveloped(message) for message in messages])  # type: ignore[arg-type]
    return [type(update) for update in updates.updates]


@pytest.mark.claim("Y4")
async def test_a_push_is_in_the_phonebook_and_told(phonebook: Phonebook) -> None:
    assert await push(phonebook, pushed(LI, 5)) == [ContactAdded]
    assert await push(phonebook, pushed(LI_MOVED, 6)) == [ContactUpdated]
    assert await push(phonebook, pushed(LI, 5), pushed(LI_MOVED, 6)) == []
    assert await numbers(phonebook) == {"Li Wei": [NEW]}
    assert await push(phonebook, pushed(LI, 7, deleted=True)) == [ContactRemoved]
    assert await push(phonebook, pushed(LI_MOVED, 6)) == []
    assert await marks(phonebook) == {}


async def test_a_push_of_another_book_is_nothing_to_the_phonebook(phonebook: Phonebook) -> None:
    other = pushed(LI, 5).model_copy(update={"book": "work"})
    assert await push(phonebook, other) == []
    assert await numbers(phonebook) == {}


async def test_a_push_that_cannot_be_read_keeps_no_other_from_its_place(
    phonebook: Phonebook,
) -> None:
    broken = pushed(LI, 5).model_copy(update={"card": {"@type": "Group"}})
    unclear = pushed(BOB, 5).model_copy(update={"card": None})
    told = await push(phonebook, broken, unclear, pushed(BOB, 5))
    assert told == [UnreadableUpdate, UnreadableUpdate, ContactAdded]


async def test_a_push_never_touches_what_was_edited_here_and_is_fetched_afterwards(
    phonebook: Phonebook,
) -> None:
    contact_id = (await have(phonebook, LI))[LI.uid]
    await synced(phonebook)
    await phonebook.write_own(contact_id, LI_MOVED)
    (sent,) = await marked(phonebook)
    later = card("li", "Li Wei", phones={"m": "+8613700137000"})
    assert await push(phonebook, pushed(later, 102)) == []
    assert await numbers(phonebook) == {"Li Wei": [NEW]}
    assert await phonebook.behind() == ()
    await phonebook.exchanged([sent], exchanged([applied(sent, 101)]))
    assert await phonebook.behind() == (LI.uid,)
    await phonebook.take_entries([entry(later, 102)])
    assert await phonebook.behind() == ()
    assert await numbers(phonebook) == {"Li Wei": ["+8613700137000"]}


@pytest.mark.claim("Y5")
async def test_results_news_and_token_are_taken_over_as_one(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI)
    await synced(phonebook)
    await phonebook.write_own(ids[LI.uid], LI_MOVED)
    sent = await marked(phonebook)
    reply = exchanged([applied(sent[0], 101)], entry(BOB, 102), following="t2")
    beside = sqlite3.connect(phonebook.path, isolation_level=None)
    beside.execute(
        "CREATE TRIGGER full BEFORE INSERT ON settings BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(PhonebookUnusable):
        await phonebook.exchanged(sent, reply)
    beside.execute("DROP TRIGGER full")
    beside.close()
    assert await numbers(phonebook) == {"Li Wei": [NEW]}
    assert await phonebook.book_token() == "t"
    assert await marks(phonebook) == {LI.uid: False}
    await phonebook.exchanged(sent, reply)
    assert await phonebook.book_token() == "t2"
    assert await marks(phonebook) == {}


async def test_a_new_entry_that_the_server_has_under_another_uid_is_that_one(
    phonebook: Phonebook,
) -> None:
    await have(phonebook, LI, BOB)
    theirs = LI.model_copy(update={"uid": "urn:example:theirs"})
    received, told = await phonebook.exchanged((), exchanged((), entry(theirs, 7)))
    assert (received, told.updates) == (0, ())
    assert await marks(phonebook) == {BOB.uid: False}
    assert sorted(contact.card.uid for contact in await phonebook.contacts()) == sorted(
        (BOB.uid, theirs.uid)
    )
    twin = LI.model_copy(update={"uid": "urn:example:twin"})
    received, _ = await phonebook.exchanged((), exchanged((), entry(twin, 8)))
    assert received == 1
    assert len(await phonebook.contacts()) == 3


@pytest.mark.parametrize("told", ["an exchange", "a listing"])
async def test_but_not_one_that_the_server_has_under_its_own_uid(
    phonebook: Phonebook, told: str
) -> None:
    await have(phonebook, LI)
    theirs = LI.model_copy(update={"uid": "urn:example:theirs"})
    if told == "an exchange":
        await phonebook.exchanged((), exchanged((), entry(LI_MOVED, 6), entry(theirs, 7)))
    else:
        listed = {LI.uid: Listed(6, digest(LI_MOVED)), theirs.uid: Listed(7, digest(theirs))}
        plan, _ = await phonebook.compare_book(listed, 0, restored=False)
        assert plan.fetch == [LI.uid, theirs.uid]
        await phonebook.take_entries([entry(theirs, 7)])
    assert await marks(phonebook) == {LI.uid: False}
    assert len(await phonebook.contacts()) == 2


async def test_what_was_made_on_both_sides_and_deleted_here_unseen_is_fetched(
    phonebook: Phonebook,
) -> None:
    ids = await have(phonebook, LI)
    await push(phonebook, pushed(LI_MOVED, 6))
    await phonebook.delete_own(ids[LI.uid])
    assert await phonebook.behind() == (LI.uid,)
    await phonebook.take_entries([entry(LI_MOVED, 6)])
    assert await numbers(phonebook) == {"Li Wei": [NEW]}
    assert await phonebook.behind() == ()


async def test_unless_it_is_not_there_any_more(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI)
    await push(phonebook, pushed(LI_MOVED, 6))
    await phonebook.delete_own(ids[LI.uid])
    await phonebook.take_entries([entry(LI, 0).model_copy(update={"card": None})])
    assert await phonebook.behind() == ()
    assert await phonebook.book_is_empty()


async def test_new_entries_are_held_back_until_it_is_known_what_the_server_has(
    phonebook: Phonebook,
) -> None:
    ids = await have(phonebook, LI)
    await synced(phonebook)
    await have(phonebook, BOB)
    await phonebook.write_own(ids[LI.uid], LI_MOVED)
    assert [one.uid for one in await marked(phonebook, new=False)] == [LI.uid]
    assert len(await marked(phonebook)) == 2


@pytest.mark.claim("Y5")
async def test_what_the_server_deleted_goes_unless_it_was_edited_here(phonebook: Phonebook) -> None:
    ids = await have(phonebook, LI, BOB)
    await synced(phonebook)
    await phonebook.write_own(ids[LI.uid], LI_MOVED)
    received, _ = await phonebook.exchanged((), exchanged((), gone(LI, 101), gone(BOB, 102)))
    assert received == 1
    assert await numbers(phonebook) == {"Li Wei": [NEW]}
    assert await marks(phonebook) == {LI.uid: False}


async def test_a_rejected_entry_is_reported_by_name_until_it_is_edited(
    phonebook: Phonebook,
) -> None:
    ids = await have(phonebook, LI, BOB)
    sent = await marked(phonebook)
    results = [
        applied(one, 100)
        if one.uid == BOB.uid
        else ChangeResult(
            uid=one.uid,
            outcome=Outcome.REJECTED,
            code=ErrorCode.INVALID_ARGUMENT,
            problem="Correct it.",
        )
        for one in sent
    ]
    await phonebook.exchanged(sent, exchanged(results))
    assert await marks(phonebook) == {}
    (rejected,) = await phonebook.rejected()
    assert (rejected.uid, rejected.display_name, rejected.problem) == (
        LI.uid,
        "Li Wei",
        "Correct it.",
    )
    await phonebook.write_own(ids[LI.uid], LI_MOVED)
    assert await phonebook.rejected() == ()
    assert await marks(phonebook) == {LI.uid: False}


async def test_what_no_command_can_carry_is_passed_over_by_name(phonebook: Phonebook) -> None:
    await have(phonebook, card("a-large", "Unfit", note="x" * 300_000), LI, BOB)
    assert await marks(phonebook) == {LI.uid: False, BOB.uid: False}
    (rejected,) = await phonebook.rejected()
    assert rejected.display_name == "Unfit"
    assert "too large" in rejected.problem


async def import_unfit(phonebook: Phonebook, uid: str) -> None:
    await phonebook.import_cards(b"".join(write_vcards([LI.model_copy(update={"uid": uid})])))


async def write_unfit(phonebook: Phonebook, uid: str) -> None:
    ((_, contact_id),) = (await have(phonebook, LI)).items()
    await phonebook.write_own(contact_id, LI.model_copy(update={"uid": uid}))


@pytest.mark.parametrize("uid", ["u" * 501, "urn:example:bell\x07"])
@pytest.mark.parametrize("bring", [import_unfit, write_unfit])
async def test_a_uid_that_the_book_does_not_take_becomes_another_always_the_same(
    phonebook: Phonebook, uid: str, bring: Callable[[Phonebook, str], Awaitable[None]]
) -> None:
    await bring(phonebook, uid)
    (sent,) = await marked(phonebook)
    assert sent.uid == derived_uid({"of": uid})
    await synced(phonebook)
    await import_unfit(phonebook, uid)
    assert await marked(phonebook) == ()
    assert len(await phonebook.contacts()) == 1
    assert await phonebook.rejected() == ()


@pytest.mark.parametrize("room", [1, 500, 2_000])
async def test_a_page_has_no_more_than_there_is_room_for(phonebook: Phonebook, room: int) -> None:
    cards = [card(f"c{number}", f"Person {number}", note="x" * 200) for number in range(10)]
    await have(phonebook, *cards)
    page, sent_all = await phonebook.next_to_send(limit=200, room=room, new=True)
    assert sum(len((one.card or "").encode()) for one in page) <= room
    assert bool(page) is (room > 400)
    assert sent_all is (room == 1), "what has no room at all is not waited for"


@pytest.mark.claim("Y1")
async def test_all_is_sent_when_nothing_is_left_that_the_server_could_be_told(
    phonebook: Phonebook,
) -> None:
    async def sends_all(*, new: bool, limit: int = 200) -> bool:
        return (await phonebook.next_to_send(limit=limit, room=ROOM, new=new))[1]

    assert await sends_all(new=False)
    ids = await have(phonebook, LI)
    assert not await sends_all(new=False)
    assert await sends_all(new=True)
    await synced(phonebook)
    await phonebook.write_own(ids[LI.uid], LI_MOVED)
    await have(phonebook, BOB)
    assert not await sends_all(new=False)
    assert not await sends_all(new=True, limit=1)
    assert await sends_all(new=True)
    await synced(phonebook)
    await have(phonebook, card("a-large", "Unfit", note="x" * 300_000))
    assert await sends_all(new=True)
