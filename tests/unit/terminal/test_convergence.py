"""Any order and repetition of what a service says gives the same phonebook (DESIGN §2)."""

import sqlite3
from collections.abc import Iterable
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.terminal.cards import CLUB, FAMILY, card, changed, member, page

from contactmesh.contacts import Card
from contactmesh.contracts.contact import ContactUpdate
from contactmesh.contracts.group.updates import MemberJoinedUpdate, MemberLeftUpdate
from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.database import prepare
from contactmesh.terminal.records import Records
from contactmesh.terminal.rules.ownership import entries_of
from contactmesh.terminal.rules.views import CardJson

Said = ContactUpdate | MemberJoinedUpdate | MemberLeftUpdate

NUMBERS = ("+8613800138000", "+8613900139000", "+493012345678")
PEOPLE = ("bob", "eve")


def phonebook(own: Iterable[Card] = ()) -> tuple[Records, Changes]:
    """An empty phonebook of alice, who is in two groups and has some entries of her own."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    prepare(database, "memory")
    records = Records(database)
    ids = count()
    changes = Changes(records, "alice", None, lambda: f"contact-{next(ids)}")
    for entry in own:
        changes.contacts.write_own(None, entry.to_json())
    for group_id in (FAMILY, CLUB):
        changes.pulled(page(member("alice", 0), group_id=group_id), None)
    return records, changes


def say(changes: Changes, said: Said) -> None:
    match said:
        case ContactUpdate(group_id=str(group_id)):
            changes.card_changed(said, group_id)
        case MemberJoinedUpdate():
            changes.member_joined(said)
        case MemberLeftUpdate():
            changes.member_left(said)


def shown(records: Records) -> set[tuple[str | None, str]]:
    """What the user sees, whatever ids the contacts got."""
    return {
        (contact.user_id, repr(sorted(contact.shown.items()))) for contact in records.contacts()
    }


numbers = st.dictionaries(st.sampled_from(["m", "h"]), st.sampled_from(NUMBERS), max_size=2)


@st.composite
def histories(draw: st.DrawFn, *, leaving: bool) -> list[Said]:
    """What a service says of two members in two groups: the states of each, revision by revision.

    Revisions differ between groups, as the service's do, being times.
    """
    said: list[Said] = []
    revisions = count(1)
    for _ in range(draw(st.integers(1, 8))):
        user_id, group_id = draw(st.sampled_from(PEOPLE)), draw(st.sampled_from([FAMILY, CLUB]))
        rev = next(revisions)
        kinds = ["card", "card", "joined", *(["left", "taken back"] if leaving else [])]
        match draw(st.sampled_from(kinds)):
            case "taken back":
                said.append(changed(user_id, rev, None, group_id=group_id))
            case "card":
                new = card(user_id, user_id.title(), phones=draw(numbers))
                said.append(changed(user_id, rev, new, group_id=group_id))
            case "joined":
                said.append(
                    MemberJoinedUpdate(
                        group_id=group_id, user_id=user_id, role=Role.INVITED, rev=rev
                    )
                )
            case _:
                said.append(
                    MemberLeftUpdate(
                        group_id=group_id, user_id=user_id, state=MemberState.LEFT, rev=rev
                    )
                )
    return said


def ends_the_same(said: list[Said], own: list[Card], data: st.DataObject) -> None:
    records, changes = phonebook(own)
    for one in said:
        say(changes, one)
    other_records, other_changes = phonebook(own)
    repeated = said + data.draw(st.lists(st.sampled_from(said), max_size=4))
    for one in data.draw(st.permutations(repeated)):
        say(other_changes, one)
    assert shown(other_records) == shown(records)


@settings(max_examples=150, deadline=None)
@given(histories(leaving=True), st.data())
def test_contacts_that_groups_bring(said: list[Said], data: st.DataObject) -> None:
    ends_the_same(said, [], data)


def is_only_cards(said: list[Said]) -> bool:
    return all(isinstance(one, ContactUpdate) for one in said)


@settings(max_examples=150, deadline=None)
@given(
    histories(leaving=False).filter(is_only_cards),
    st.lists(st.tuples(st.sampled_from(PEOPLE), numbers), max_size=2, unique_by=lambda own: own[0]),
    st.data(),
)
def test_contacts_that_the_owner_had(
    said: list[Said], own: list[tuple[str, dict[str, str]]], data: st.DataObject
) -> None:
    """Even the cards that come late say which of the owner's entries were the member's."""
    entries = [card(f"own-{name}", name.title(), phones=phones) for name, phones in own]
    ends_the_same(said, entries, data)


@settings(max_examples=100, deadline=None)
@given(histories(leaving=True), st.data())
def test_what_is_repeated_tells_nothing(said: list[Said], data: st.DataObject) -> None:
    records, changes = phonebook()
    for one in said:
        say(changes, one)
    before = shown(records)
    changes.updates.clear()
    for one in data.draw(st.lists(st.sampled_from(said), max_size=6)):
        say(changes, one)
    assert changes.updates == []
    assert shown(records) == before


@settings(max_examples=150, deadline=None)
@given(
    histories(leaving=True),
    st.lists(st.tuples(st.sampled_from(PEOPLE), numbers), max_size=2, unique_by=lambda own: own[0]),
    st.data(),
)
def test_whatever_members_do_the_owner_loses_nothing_and_members_are_shown_as_they_are(
    said: list[Said], own: list[tuple[str, dict[str, str]]], data: st.DataObject
) -> None:
    entries = [
        card(f"own-{name}", name.title(), phones=phones, note=f"about {name}")
        for name, phones in own
    ]
    records, changes = phonebook(entries)
    for one in data.draw(st.permutations(said)):
        say(changes, one)
        mine = {contact.uid: contact for contact in records.contacts() if contact.own is not None}
        assert mine.keys() == {entry.uid for entry in entries}
        for entry in entries:
            assert mine[entry.uid].shown["notes"] == entry.to_json()["notes"]
        for user_id in PEOPLE:
            views = [view for view in records.views_of_user(user_id) if view.shown]
            contact = records.contact_of(user_id)
            if views:
                newest = max(views, key=lambda view: view.rev)
                assert contact is not None
                assert phone_numbers(newest.card) <= phone_numbers(contact.shown)
                assert contact.shown["name"] == (newest.card or {})["name"]
            else:
                assert contact is None or contact.own is not None


def phone_numbers(shown: CardJson | None) -> set[str]:
    return {str(entry["number"]) for entry in entries_of(shown, "phones").values()}
