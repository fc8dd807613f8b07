"""The phonebook keeps what was said, shows it composed, and tells what really changed."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.terminal.cards import CLUB, FAMILY, card, changed, enveloped, member, page

from contactmesh.contacts import Card, Nickname, Note, Phone
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.group.commands import GroupList
from contactmesh.contracts.group.updates import (
    GroupDissolvedUpdate,
    HandedOverUpdate,
    InvitationClosedUpdate,
    InvitationUpdate,
    MemberJoinedUpdate,
    MemberLeftUpdate,
    RefreshUpdate,
)
from contactmesh.contracts.group.updates import (
    GroupJoined as GroupJoinedUpdate,
)
from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal import (
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    Departure,
    GroupGone,
    GroupJoined,
    HandedOver,
    InvitationClosed,
    InvitationReceived,
    LinkRefused,
    MemberJoined,
    MemberLeft,
    OwnCardUpdated,
    Phonebook,
    PhonebookTooNew,
    UnknownContact,
    UnreadableUpdate,
    Update,
)

OLD, NEW = "+8613800138000", "+8613900139000"
BOB = card("bob", "Bob Li", phones={"m": OLD})
BOB_MOVED = card("bob", "Bob Li", phones={"m": NEW})
VCF = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:own-bob\r\nFN:bob ｌｉ\r\n"
    f"TEL;TYPE=CELL:{OLD}\r\nNOTE:owes me 20\r\nNICKNAME:鲍伯\r\nEND:VCARD\r\n"
).encode()


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as opened:
        yield opened


async def push(phonebook: Phonebook, *messages: Message) -> tuple[Update, ...]:
    applied = await phonebook.apply([enveloped(message) for message in messages])
    return applied.updates


async def names_and_numbers(phonebook: Phonebook) -> dict[str, set[str]]:
    return {
        contact.display_name: {phone.number for phone in (contact.card.phones or {}).values()}
        for contact in await phonebook.contacts()
    }


@pytest.mark.claim("G1")
async def test_a_members_change_is_in_the_phonebook_and_told_once(phonebook: Phonebook) -> None:
    first = await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    assert [type(update) for update in first.updates] == [GroupJoined, MemberJoined, ContactAdded]
    (update,) = await push(phonebook, changed("bob", 5, BOB_MOVED))
    assert isinstance(update, ContactUpdated)
    assert (update.display_name, update.changed_fields) == ("Bob Li", ("phones/m/number",))
    assert await push(phonebook, changed("bob", 5, BOB_MOVED)) == ()
    assert await push(phonebook, changed("bob", 4, BOB)) == ()
    assert await names_and_numbers(phonebook) == {"Bob Li": {NEW}}


async def test_a_pull_that_says_what_a_push_has_said_tells_nothing(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    again = await phonebook.apply_page(page(member("bob", 5, BOB_MOVED), cursor="c2"), "c1")
    assert again.updates == ()
    assert await phonebook.cursor(FAMILY) == "c2"


@pytest.mark.claim("G1")
async def test_a_members_change_never_touches_the_owners_part(phonebook: Phonebook) -> None:
    imported, _ = await phonebook.import_cards(VCF)
    assert imported.added == 1
    (entry,) = await phonebook.contacts()
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    (contact,) = await phonebook.contacts()
    assert contact.contact_id == entry.contact_id
    assert (contact.display_name, contact.user_id, contact.groups) == ("Bob Li", "bob", (FAMILY,))
    assert [phone.number for phone in (contact.card.phones or {}).values()] == [NEW]
    assert [note.note for note in (contact.card.notes or {}).values()] == ["owes me 20"]
    assert [name.name for name in (contact.card.nicknames or {}).values()] == ["鲍伯"]


async def test_importing_again_makes_no_duplicates(phonebook: Phonebook) -> None:
    nameless = VCF.replace(b"UID:own-bob\r\n", b"").replace(b"bob", b"eve")
    first, _ = await phonebook.import_cards(VCF + nameless)
    again, applied = await phonebook.import_cards(VCF + nameless)
    assert (first.added, again.added, again.unchanged, again.updated) == (2, 0, 2, 0)
    assert applied.updates == ()
    edited, applied = await phonebook.import_cards(VCF.replace(b"owes me 20", b"paid"))
    assert (edited.added, edited.updated) == (0, 1)
    assert [type(update) for update in applied.updates] == [ContactUpdated]


async def test_importing_again_after_linking_leaves_what_the_member_says(
    phonebook: Phonebook,
) -> None:
    await phonebook.import_cards(VCF)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    await phonebook.import_cards(VCF.replace(b"owes me 20", b"paid"))
    assert await names_and_numbers(phonebook) == {"Bob Li": {NEW}}


async def test_an_entry_imported_after_the_members_card_is_linked_as_well(
    phonebook: Phonebook,
) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    (before,) = await phonebook.contacts()
    _, applied = await phonebook.import_cards(VCF)
    (contact,) = await phonebook.contacts()
    assert contact.own
    assert contact.user_id == "bob"
    assert ContactRemoved(before.contact_id, "Bob Li") in applied.updates


async def test_a_damaged_card_is_reported_and_the_others_are_taken(phonebook: Phonebook) -> None:
    imported, _ = await phonebook.import_cards(VCF + b"BEGIN:VCARD\r\nFN:cut off\r\n")
    assert imported.added == 1
    assert len(imported.damages) == 1


async def test_progress_of_an_import(phonebook: Phonebook) -> None:
    cards = b"".join(VCF.replace(b"own-bob", b"own-%d" % number) for number in range(250))
    seen: list[int] = []
    await phonebook.import_cards(cards, progress=seen.append)
    assert seen == [100, 200, 250]


async def test_export_is_what_is_shown(phonebook: Phonebook, tmp_path: Path) -> None:
    await phonebook.import_cards(VCF)
    await phonebook.apply_page(page(member("bob", 3, BOB_MOVED)), None)
    exported = await phonebook.export_cards()
    async with Phonebook(tmp_path / "other.sqlite3", "zoe", "CN") as other:
        await other.import_cards(exported)
        assert await names_and_numbers(other) == await names_and_numbers(phonebook)
        assert len(await other.contacts("owes me")) == 1


async def test_a_contact_that_a_group_made_goes_with_its_last_view(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await phonebook.apply_page(page(member("bob", 3, BOB), group_id=CLUB, name="Club"), None)
    left = MemberLeftUpdate(group_id=CLUB, user_id="bob", state=MemberState.LEFT, rev=7)
    assert await push(phonebook, left) == (MemberLeft(CLUB, "bob", MemberState.LEFT),)
    (contact,) = await phonebook.contacts()
    removed = MemberLeftUpdate(group_id=FAMILY, user_id="bob", state=MemberState.REMOVED, rev=7)
    assert await push(phonebook, removed) == (
        MemberLeft(FAMILY, "bob", MemberState.REMOVED),
        ContactRemoved(contact.contact_id, "Bob Li"),
    )
    assert await phonebook.contacts() == []
    assert await push(phonebook, changed("bob", 6, BOB_MOVED)) == ()
    assert await phonebook.contacts() == []


async def test_a_contact_that_the_owner_had_keeps_the_last_known_details(
    phonebook: Phonebook,
) -> None:
    await phonebook.import_cards(VCF)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    (before,) = await phonebook.contacts()
    left = MemberLeftUpdate(group_id=FAMILY, user_id="bob", state=MemberState.LEFT, rev=7)
    assert await push(phonebook, left) == (MemberLeft(FAMILY, "bob", MemberState.LEFT),)
    (contact,) = await phonebook.contacts()
    assert contact.card == before.card
    assert (contact.user_id, contact.groups, contact.own) == (None, (), True)


async def test_a_member_who_comes_back_is_the_same_contact_with_the_new_number_alone(
    phonebook: Phonebook,
) -> None:
    await phonebook.import_cards(VCF)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    await push(
        phonebook, MemberLeftUpdate(group_id=FAMILY, user_id="bob", state=MemberState.LEFT, rev=7)
    )
    await push(
        phonebook,
        MemberJoinedUpdate(group_id=FAMILY, user_id="bob", role=Role.INVITED, rev=8),
        changed("bob", 9, BOB_MOVED),
    )
    assert await names_and_numbers(phonebook) == {"Bob Li": {NEW}}


async def test_linking_by_hand_and_parting_again(phonebook: Phonebook) -> None:
    stranger = VCF.replace("bob ｌｉ".encode(), "老李".encode())
    await phonebook.import_cards(stranger)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    own, made = sorted(await phonebook.contacts(), key=lambda contact: not contact.own)
    await phonebook.link(own.contact_id, "bob")
    (linked,) = await phonebook.contacts()
    assert (linked.contact_id, linked.display_name) == (own.contact_id, "Bob Li")
    await phonebook.unlink(own.contact_id)
    assert {contact.display_name for contact in await phonebook.contacts()} == {"Bob Li", "老李"}
    assert (await phonebook.contact(own.contact_id)).card == own.card
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    assert await names_and_numbers(phonebook) == {"Bob Li": {NEW}, "老李": {OLD}}
    with pytest.raises(UnknownContact):
        await phonebook.contact(made.contact_id)


async def test_a_member_parted_by_hand_is_not_linked_by_itself_again(phonebook: Phonebook) -> None:
    await phonebook.import_cards(VCF)
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    (linked,) = await phonebook.contacts()
    await phonebook.unlink(linked.contact_id)
    await push(phonebook, changed("bob", 5, card("bob", "Bob Li", phones={"m": OLD, "h": NEW})))
    assert len(await phonebook.contacts()) == 2


async def test_what_cannot_be_linked_is_refused(phonebook: Phonebook) -> None:
    await phonebook.import_cards(VCF.replace("bob ｌｉ".encode(), b"Eve"))
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    eve = next(contact for contact in await phonebook.contacts() if contact.own)
    bob = next(contact for contact in await phonebook.contacts() if not contact.own)
    with pytest.raises(LinkRefused):
        await phonebook.link(eve.contact_id, "nobody")
    with pytest.raises(LinkRefused):
        await phonebook.unlink(eve.contact_id)
    with pytest.raises(LinkRefused):
        await phonebook.unlink(bob.contact_id)
    with pytest.raises(UnknownContact):
        await phonebook.link("none", "bob")


async def test_the_owner_writes_on_a_contact_that_a_group_made(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    (made,) = await phonebook.contacts()
    assert await phonebook.own_part(made.contact_id) is None
    mine = Card(
        uid=made.card.uid,
        nicknames={"n": Nickname(name="Bobby")},
        notes={"n": Note(note="tea, no milk")},
        phones={"x": Phone(number=OLD, label="work mobile")},
    )
    await phonebook.write_own(made.contact_id, mine)
    await push(phonebook, changed("bob", 5, BOB_MOVED))
    (contact,) = await phonebook.contacts()
    assert contact.card.nicknames == mine.nicknames
    assert contact.card.notes == mine.notes
    assert contact.card.phones == {"m": Phone(number=NEW, label="work mobile")}
    await phonebook.drop_group(FAMILY, Departure.LEFT)
    assert len(await phonebook.contacts()) == 1


async def test_a_group_that_is_not_known_is_pulled_first(phonebook: Phonebook) -> None:
    joined = GroupJoinedUpdate(group_id=FAMILY, name="Family", owner_id="bob")
    applied = await phonebook.apply([enveloped(changed("bob", 5, BOB)), enveloped(joined)])
    assert applied.updates == ()
    assert set(applied.groups_to_pull) == {FAMILY}
    refresh = await phonebook.apply([enveloped(RefreshUpdate(group_id=FAMILY))])
    assert refresh.groups_to_pull == (FAMILY,)


async def test_a_late_page_does_not_bring_a_group_back(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    gone = await phonebook.drop_group(FAMILY, Departure.LEFT)
    assert gone.updates[-1] == GroupGone(FAMILY, "Family", Departure.LEFT)
    late = await phonebook.apply_page(page(member("bob", 3, BOB), cursor="c2"), "c1")
    assert late.updates == ()
    assert await phonebook.groups() == []


async def test_a_full_pull_removes_whom_no_page_names(phonebook: Phonebook) -> None:
    eve = card("eve", "Eve", phones={"m": "+447400123456"})
    await phonebook.apply_page(page(member("bob", 3, BOB), member("eve", 4, eve)), None)
    await phonebook.begin_full_pull(FAMILY)
    assert await phonebook.cursor(FAMILY) is None
    await phonebook.apply_page(page(cursor="p1", has_more=True), None)
    assert len(await phonebook.contacts()) == 2
    # Zoe was pushed while the pages were under way: no page names her, and she is there.
    zoe = card("zoe", "Zoe", phones={"m": "+493012345678"})
    await push(phonebook, changed("zoe", 9, zoe))
    last = await phonebook.apply_page(page(member("bob", 3, BOB), cursor="p2"), "p1")
    assert MemberLeft(FAMILY, "eve", MemberState.LEFT) in last.updates
    assert set(await names_and_numbers(phonebook)) == {"Bob Li", "Zoe"}
    later = await phonebook.apply_page(page(cursor="p3"), "p2")
    assert later.updates == ()
    assert len(await phonebook.contacts()) == 2


async def test_the_users_own_card_is_kept_and_is_no_contact(phonebook: Phonebook) -> None:
    mine = card("alice", "Alice", phones={"m": OLD})
    await phonebook.apply_page(page(member("alice", 3, mine)), None)
    assert await phonebook.contacts() == []
    (own,) = await phonebook.own_cards()
    assert (own.group_id, own.rev, own.card) == (FAMILY, 3, mine)
    moved = card("alice", "Alice", phones={"m": NEW})
    await phonebook.published(FAMILY, 6, moved)
    assert await push(phonebook, changed("alice", 6, moved)) == ()
    assert await push(phonebook, changed("alice", 8, mine)) == (OwnCardUpdated(FAMILY, 8),)
    assert [own.rev for own in await phonebook.own_cards()] == [8]


async def test_the_user_is_removed_from_a_group(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB), member("alice", 4)), None)
    stale = MemberLeftUpdate(group_id=FAMILY, user_id="alice", state=MemberState.LEFT, rev=2)
    assert await push(phonebook, stale) == ()
    removed = MemberLeftUpdate(group_id=FAMILY, user_id="alice", state=MemberState.REMOVED, rev=7)
    updates = await push(phonebook, removed)
    assert updates[-1] == GroupGone(FAMILY, "Family", Departure.REMOVED)
    assert await phonebook.contacts() == []


async def test_a_group_changes_hands_and_ends(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(), None)
    handed = HandedOverUpdate(group_id=FAMILY, owner_id="eve")
    assert await push(phonebook, handed, handed) == (HandedOver(FAMILY, "eve"),)
    over = GroupDissolvedUpdate(group_id=FAMILY)
    assert await push(phonebook, over, over) == (GroupGone(FAMILY, "Family", Departure.DISSOLVED),)


def invitation(number: int = 1) -> InvitationUpdate:
    return InvitationUpdate(
        invitation_id=f"018f0000-0000-7000-8000-0000000001{number:02}",
        group_id=CLUB,
        group_name="Club",
        inviter_id="bob",
        invitee_id="alice",
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )


async def test_an_invitation_comes_once_and_closes_once(phonebook: Phonebook) -> None:
    sent = invitation()
    closed = InvitationClosedUpdate(**sent.model_dump(exclude={"expires_at"}), outcome="withdrawn")
    assert [type(update) for update in await push(phonebook, sent, sent)] == [InvitationReceived]
    assert len(await phonebook.invitations()) == 1
    (over,) = await push(phonebook, closed, closed)
    assert isinstance(over, InvitationClosed)
    assert over.outcome == "withdrawn"
    assert await push(phonebook, sent) == ()
    assert await phonebook.invitations() == []


async def test_an_invitation_that_is_closed_before_it_arrives_stays_closed(
    phonebook: Phonebook,
) -> None:
    sent = invitation()
    closed = InvitationClosedUpdate(**sent.model_dump(exclude={"expires_at"}), outcome="withdrawn")
    await push(phonebook, closed, sent)
    assert await phonebook.invitations() == []


async def test_the_list_closes_what_it_does_not_name_but_not_what_came_meanwhile(
    phonebook: Phonebook,
) -> None:
    await push(phonebook, invitation(1))
    await phonebook.apply_page(page(), None)
    known = [group.group_id for group in await phonebook.groups()]
    waiting = [one.invitation_id for one in await phonebook.invitations()]
    await push(phonebook, invitation(2))
    await phonebook.apply_page(page(group_id=CLUB, name="Club"), None)
    applied = await phonebook.apply_listing(
        GroupList(groups=(), invitations=()), known=known, open_before=waiting
    )
    assert GroupGone(FAMILY, "Family", Departure.UNKNOWN) in applied.updates
    assert [group.group_id for group in await phonebook.groups()] == [CLUB]
    assert [one.invitation_id for one in await phonebook.invitations()] == [
        invitation(2).invitation_id
    ]


async def test_what_cannot_be_read_is_told_without_contact_details_and_blocks_nothing(
    phonebook: Phonebook,
) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    damaged = enveloped(changed("bob", 4, BOB), "damaged")
    damaged.data["card"] = {"@type": "Card", "version": "1.0", "uid": "x", "phones": "+49301234"}
    unknown = Envelope.model_validate({**enveloped(page()).model_dump(), "type": "group.new.thing"})
    good = enveloped(changed("bob", 5, BOB_MOVED))
    applied = await phonebook.apply([damaged, unknown, good])
    kinds = [type(update) for update in applied.updates]
    assert kinds == [UnreadableUpdate, UnreadableUpdate, ContactUpdated]
    first = applied.updates[0]
    assert isinstance(first, UnreadableUpdate)
    assert first.message_id == "damaged"
    assert "/phones" in first.reason
    assert "4930" not in repr(applied.updates[:2])


async def test_keys_that_say_something_are_not_told_either(phonebook: Phonebook) -> None:
    await phonebook.apply_page(page(), None)
    damaged = enveloped(changed("bob", 4, BOB))
    damaged.data["card"] = {
        **BOB.to_json(),
        "relatedTo": {"mailto:eve@example.org": {"relation": "spouse"}},
        "phones": {"4930123456": {"number": 5}},
    }
    (update,) = (await phonebook.apply([damaged])).updates
    assert isinstance(update, UnreadableUpdate)
    assert "/phones" in update.reason
    assert "/relatedTo" in update.reason
    assert "eve" not in update.reason
    assert "4930" not in update.reason


async def test_a_member_whose_card_cannot_be_read_does_not_stop_the_page(
    phonebook: Phonebook,
) -> None:
    broken = member("eve", 4).model_copy(update={"card": {"phones": "+49301234"}})
    applied = await phonebook.apply_page(page(broken, member("bob", 3, BOB)), None)
    assert [type(update) for update in applied.updates].count(UnreadableUpdate) == 1
    assert await names_and_numbers(phonebook) == {"Bob Li": {OLD}}


async def test_contacts_are_sorted_and_found(phonebook: Phonebook) -> None:
    members = [
        member("b1", 1, card("b1", "ｂob", phones={"m": "+44 7400 123456"})),
        member("a1", 1, card("a1", "Alice", emails={"e": "A@Example.org"})),
        member("c1", 1, card("c1", "王小明", note="ignored: the member's")),
    ]
    await phonebook.apply_page(page(*members), None)
    assert [one.display_name for one in await phonebook.contacts()] == ["Alice", "ｂob", "王小明"]
    for search, name in {
        "BOB": "ｂob",
        "7400 123": "ｂob",
        "+447400123456": "ｂob",
        "a@example": "Alice",
        "小明": "王小明",
    }.items():
        assert [one.display_name for one in await phonebook.contacts(search)] == [name]
    assert await phonebook.contacts("nobody") == []


async def test_a_change_is_whole_or_not_at_all(phonebook: Phonebook) -> None:
    """A page is applied together with its cursor, or neither is."""
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    applying = asyncio.create_task(
        phonebook.apply_page(page(member("bob", 5, BOB_MOVED), cursor="c2"), "c1")
    )
    await asyncio.sleep(0)
    applying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await applying
    state = (await phonebook.cursor(FAMILY), await names_and_numbers(phonebook))
    assert state in (("c1", {"Bob Li": {OLD}}), ("c2", {"Bob Li": {NEW}}))


async def test_another_process_reads_while_one_writes(phonebook: Phonebook, tmp_path: Path) -> None:
    await phonebook.apply_page(page(member("bob", 3, BOB)), None)
    path = tmp_path / "phonebook.sqlite3"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        async with Phonebook(path, "alice", "CN") as beside:
            assert await names_and_numbers(beside) == {"Bob Li": {OLD}}
    finally:
        writer.close()
    assert path.stat().st_mode & 0o077 == 0


async def test_a_phonebook_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "phonebook.sqlite3"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 999")
    database.close()
    with pytest.raises(PhonebookTooNew, match="Update"):
        async with Phonebook(path, "alice"):
            pass
