"""Updates told in a line and as JSON."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from contactmesh.cli.terminal.sim_telling import KnownSims
from contactmesh.cli.terminal.suggesting import for_terminal
from contactmesh.cli.terminal.telling import Teller, merged
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
    LargeRemovalWaiting,
    MemberJoined,
    MemberLeft,
    Overwritten,
    OwnCardUpdated,
    Phonebook,
    SimContactsWaiting,
    UnreadableUpdate,
    Update,
)

NOW = datetime(2026, 11, 30, 12, 1, 2, tzinfo=UTC)
GROUP = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
SIM = "33333333-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
INVITATION = "22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def vcard(name: str, *numbers: str) -> bytes:
    phones = "".join(f"TEL:{number}\r\n" for number in numbers)
    text = f"BEGIN:VCARD\r\nVERSION:4.0\r\nUID:urn:x:1\r\nFN:{name}\r\n{phones}END:VCARD\r\n"
    return text.encode()


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as phonebook:
        yield phonebook


async def told(teller: Teller, update: Update) -> str:
    line, data = await teller.told(update, NOW)
    json.dumps(data)
    assert line is not None
    time, _, text = line.partition("  ")
    assert time == NOW.astimezone().strftime("%H:%M:%S")
    return text


async def test_a_change_tells_old_and_new_once(phonebook: Phonebook) -> None:
    teller = Teller(phonebook)
    _, applied = await phonebook.import_cards(vcard("张伟", "+8613800138000"))
    (added,) = applied.updates
    assert await told(teller, added) == "张伟 is new: +8613800138000"

    _, applied = await phonebook.import_cards(vcard("张伟", "+8613900139000", "+14155550100"))
    (updated,) = applied.updates
    text = await told(teller, updated)
    assert text.startswith("张伟 changed: ")
    assert "+8613800138000 → +8613900139000" in text
    assert "+ +14155550100" in text
    line, data = await teller.told(updated, NOW)
    assert line is None
    assert isinstance(data, dict)
    assert data["changes"] == []


async def test_what_was_shown_at_the_beginning_is_old(phonebook: Phonebook) -> None:
    await phonebook.import_cards(vcard("Ann", "+14155550100"))
    teller = Teller(phonebook)
    await teller.begin()
    _, applied = await phonebook.import_cards(vcard("Ann Smith"))
    (updated,) = applied.updates
    text = await told(teller, updated)
    assert "name Ann → Ann Smith" in text
    assert "- +14155550100" in text


@pytest.mark.parametrize(
    ("update", "text"),
    [
        (ContactAdded("gone", "Ann"), "Ann is new"),
        (ContactRemoved("gone", "Ann"), "Ann is gone from the phonebook"),
        (OwnCardUpdated(GROUP, 7), GROUP),
        (MemberJoined(GROUP, "bob", Role.INVITED), f"bob joined {GROUP}"),
        (MemberLeft(GROUP, "bob", MemberState.REMOVED), f"bob was removed from {GROUP}"),
        (InvitationReceived(INVITATION, GROUP, "家人", "bob", NOW), "bob invites you to 家人"),
        (
            InvitationClosed(INVITATION, GROUP, "家人", "alice", "bob", "declined"),
            "the invitation of bob to 家人 was declined",
        ),
        (GroupJoined(GROUP, "家人"), "you are in 家人 now"),
        *((GroupGone(GROUP, "家人", reason), "家人") for reason in Departure),
        (HandedOver(GROUP, "bob"), f"bob owns {GROUP} now"),
        (SimContactsWaiting(SIM, 1, filling=False), "1 contact waits for one of your SIMs"),
        (SimContactsWaiting(SIM, 0, filling=False), "nothing waits for one of your SIMs any more"),
        (LargeRemovalWaiting(SIM, 12), "the removals wait for you (12)"),
        (UnreadableUpdate("x", None, "/rev: missing"), "/rev: missing"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_every_update_has_a_line(phonebook: Phonebook, update: Update, text: str) -> None:
    assert text in await told(Teller(phonebook), update)


async def test_a_contact_that_has_gone_since_is_told_by_its_own_update(
    phonebook: Phonebook,
) -> None:
    line, _ = await Teller(phonebook).told(ContactUpdated("gone", "Ann", ("name/full",)), NOW)
    assert line is None


async def test_changes_of_a_contact_between_two_pulls_are_one(phonebook: Phonebook) -> None:
    teller = Teller(phonebook)
    await phonebook.import_cards(vcard("Ann", "+14155550100"))
    await teller.begin()
    updates: list[Update] = []
    for card in (vcard("Ann", "+14155550101"), vcard("Ann Smith", "+14155550102")):
        _, applied = await phonebook.import_cards(card)
        updates.extend(applied.updates)
    (update,) = merged([*updates, MemberJoined(GROUP, "bob", Role.INVITED)])[:-1]
    assert isinstance(update, ContactUpdated)
    assert {"name/full"} < set(update.changed_fields)
    _, data = await teller.told(update, NOW)
    assert isinstance(data, dict)
    assert data["display_name"] == "Ann Smith"
    assert "+14155550102" in json.dumps(data["changes"])
    assert "+14155550101" not in json.dumps(data["changes"])


async def test_an_invitation_says_how_it_is_answered_from_where_it_is_told(
    phonebook: Phonebook,
) -> None:
    invited = InvitationReceived(INVITATION, GROUP, "Book Club", "bob", NOW)
    with for_terminal("--as alice"):
        text = await told(Teller(phonebook), invited)
        watching = await told(Teller(phonebook, watching=True), invited)
    assert text.endswith("Answer: contactmesh terminal group accept 'Book Club' --as alice")
    assert watching.endswith(
        "stop watching (Ctrl-C), then: contactmesh terminal group accept 'Book Club' --as alice"
    )


async def test_what_waits_for_a_sim_says_which_and_how_to_look(phonebook: Phonebook) -> None:
    waiting = SimContactsWaiting(SIM, 3, filling=False)
    teller, watching = Teller(phonebook), Teller(phonebook, watching=True)
    assert f"terminal sim pending {SIM[:8]}" in await told(teller, waiting)
    for each in (teller, watching):
        each.sims = KnownSims({SIM: "my work"})
    with for_terminal("--as alice"):
        assert await told(teller, waiting) == (
            "3 contacts wait for my work. "
            "See: contactmesh terminal sim pending 'my work' --as alice"
        )
        assert "stop watching (Ctrl-C), then: " in await told(watching, waiting)
        assert await told(watching, LargeRemovalWaiting(SIM, 12)) == (
            "my work: too many contacts would be removed at once, so the removals wait for you "
            "(12). See: stop watching (Ctrl-C), then: "
            "contactmesh terminal sim pending 'my work' --as alice"
        )
    teller.sims = KnownSims({SIM: "my work"}, frozenset((SIM,)))
    assert (await told(teller, waiting)).startswith("3 contacts wait for my work and are accepted")


async def test_while_more_is_laid_ready_nothing_is_told_to_people(phonebook: Phonebook) -> None:
    line, data = await Teller(phonebook).told(SimContactsWaiting(SIM, 3, filling=True), NOW)
    assert line is None
    assert isinstance(data, dict)
    assert (data["update"], data["waiting"]) == ("sim_contacts_waiting", 3)


def test_of_what_waits_for_a_sim_the_last_is_told() -> None:
    first, last = (SimContactsWaiting(SIM, waiting, filling=False) for waiting in (200, 312))
    other = SimContactsWaiting(GROUP, 1, filling=False)
    assert merged([first, other, last]) == [other, last]


async def test_a_value_of_ones_own_that_went_is_told(phonebook: Phonebook) -> None:
    await phonebook.import_cards(vcard("Ann", "+14155550100"))
    teller = Teller(phonebook)
    await teller.begin()
    updates: list[Update] = []
    for number in ("+14155550101", "+14155550102"):
        _, applied = await phonebook.import_cards(vcard("Ann", number))
        (update,) = applied.updates
        assert isinstance(update, ContactUpdated)
        lost = Overwritten("urn:x:1", "Ann", "phones/tel-1/number", f"{number}9")
        updates.append(replace(update, overwritten=(lost,)))
    (update,) = merged(updates)
    line, data = await teller.told(update, NOW)
    assert isinstance(data, dict)
    assert data["overwritten"] == [
        {"field": "phones/tel-1/number", "value": "+141555501019"},
        {"field": "phones/tel-1/number", "value": "+141555501029"},
    ]
    assert line is not None
    assert "your value was replaced: number +141555501029" in line
    json.dumps(data)
