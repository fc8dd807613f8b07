"""What a check tells is in the phonebook at once, and the owner's own labels stay (C1 to C6)."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.unit.terminal.cards import card, changed, enveloped, member, page

from contactmesh.contacts import CARRIER_PROPERTY, Card
from contactmesh.contracts.carrier.check import (
    ChangeCode,
    Check,
    Checked,
    LineChange,
    LineStatus,
)
from contactmesh.contracts.carrier.records import (
    MOST_NUMBERS,
    MOST_REFERENCES,
    DataVolume,
    Line,
    RegistrationRef,
    ShownState,
    StateReport,
    UsageReport,
)
from contactmesh.contracts.envelope import Envelope
from contactmesh.messaging.topology import MAX_BODY_BYTES
from contactmesh.terminal import ContactUpdated, KnownLine, Phonebook, Update
from contactmesh.terminal.rules.lines import news, question

OLD, NEW, NEWER, SECOND = "+8613800138000", "+8613900139000", "+8613700137000", "+8615912345678"
NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
BOB = card("bob", "Bob Li", phones={"m": OLD})
NUMBERS = st.sampled_from([OLD, NEW, NEWER, SECOND, "+8613012345678", "+8613112345678"])
OWN = (
    b"BEGIN:VCARD\r\nVERSION:4.0\r\nUID:own-bob\r\nFN:Bob Li\r\nTEL;TYPE=cell:138 0013 8000\r\n"
    b"END:VCARD\r\n"
)


def ref(seq: int, carrier_id: str = "cn-mobile") -> RegistrationRef:
    return RegistrationRef(carrier_id=carrier_id, registration_seq=str(seq))


def line(
    seq: int,
    number: str,
    carrier_id: str = "cn-mobile",
    *,
    labels: tuple[str, ...] = (),
    dial_priority: int | None = None,
) -> Line:
    return Line(ref=ref(seq, carrier_id), msisdn=number, labels=labels, dial_priority=dial_priority)


def answer(
    *changes: LineChange, lines: tuple[Line, ...], status: tuple[LineStatus, ...] = ()
) -> Checked:
    return Checked(identity_id="bob", changes=changes, lines=lines, status=status)


def became(number: str, now: Line) -> LineChange:
    return LineChange(code=ChangeCode.NUMBER_CHANGED, number=number, line=now, number_changed=True)


class Book:
    """A phonebook with Bob in it, brought by a group."""

    def __init__(self, phonebook: Phonebook) -> None:
        self.phonebook = phonebook

    async def bob(self) -> str:
        (contact,) = await self.phonebook.contacts()
        return contact.contact_id

    async def hears(self, told: Checked) -> tuple[Update, ...]:
        contact_id = await self.bob()
        asked = await self.phonebook.question(contact_id)
        applied = await self.phonebook.apply_check(contact_id, told, asked, NOW)
        return applied.updates

    async def is_pushed(self, rev: int, new: Card) -> tuple[Update, ...]:
        applied = await self.phonebook.apply([enveloped(changed("bob", rev, new))])
        return applied.updates

    async def numbers(self) -> dict[str, str]:
        (contact,) = await self.phonebook.contacts()
        return {key: phone.number for key, phone in (contact.card.phones or {}).items()}

    async def label(self, key: str) -> str | None:
        (contact,) = await self.phonebook.contacts()
        return (contact.card.phones or {})[key].label


@pytest_asyncio.fixture
async def book(tmp_path: Path) -> AsyncIterator[Book]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as phonebook:
        await phonebook.apply_page(page(member("bob", 3, BOB)), None)
        yield Book(phonebook)


@pytest.mark.claim("C1")
async def test_c1_what_is_asked_is_what_the_phonebook_knows(book: Book) -> None:
    asked = await book.phonebook.question(await book.bob())
    assert (asked.registrations, asked.numbers) == ({}, (OLD,))
    unchanged = LineChange(code=ChangeCode.UNCHANGED, number=OLD, line=line(1, OLD))
    assert await book.hears(answer(unchanged, lines=(line(1, OLD),))) == ()
    asked = await book.phonebook.question(await book.bob())
    assert (asked.registrations, asked.numbers) == ({ref(1): OLD}, ())


@pytest.mark.claim("C1")
async def test_c1_a_reference_that_a_card_carries_is_not_believed(book: Book) -> None:
    carrier = {"carrierId": "cn-unicom", "registrationSeq": "77"}
    phones = {"m": {"number": OLD, CARRIER_PROPERTY: carrier}, "office": {"number": "8000"}}
    await book.is_pushed(4, Card.model_validate({**BOB.to_json(), "phones": phones}))
    asked = await book.phonebook.question(await book.bob())
    assert (asked.registrations, asked.numbers) == ({}, (OLD,))


@pytest.mark.claim("C1")
async def test_c1_references_in_doubt_are_not_sent_until_the_registry_has_answered(
    book: Book,
) -> None:
    lines = (line(1, OLD), line(2, SECOND))
    await book.hears(answer(lines=lines))
    contact_id = await book.bob()
    shown = await book.numbers(), await book.phonebook.lines(contact_id)
    await book.phonebook.doubt_references(contact_id)
    assert (await book.numbers(), await book.phonebook.lines(contact_id)) == shown
    asked = await book.phonebook.question(contact_id)
    assert (asked.registrations, asked.numbers) == ({}, (OLD, SECOND))
    await book.hears(answer(lines=lines))
    asked = await book.phonebook.question(contact_id)
    assert (asked.registrations, asked.numbers) == ({ref(1): OLD, ref(2): SECOND}, ())


@given(
    on_card=st.lists(NUMBERS, max_size=8),
    told=st.lists(NUMBERS, max_size=8, unique=True),
    doubted=st.booleans(),
)
def test_every_number_is_asked_about_once_by_its_reference_or_by_itself(
    on_card: list[str], told: list[str], doubted: bool
) -> None:
    carrier = {"carrierId": "cn-mobile", "registrationSeq": "1"}
    phones = {
        str(place): {"number": each, CARRIER_PROPERTY: carrier}
        for place, each in enumerate(on_card)
    }
    lines = [KnownLine(ref(seq), number) for seq, number in enumerate(told, 1)]
    asked = question({"phones": cast("JsonValue", phones)}, lines, "CN", doubted=doubted)
    assert not asked.unasked
    every = [*asked.registrations.values(), *asked.numbers]
    assert sorted(every) == sorted({*on_card, *told})
    by_ref = {} if doubted else {each.ref: each.number for each in lines}
    assert asked.registrations == by_ref


@pytest.mark.parametrize("doubted", [False, True])
def test_a_check_has_room_and_what_it_had_no_room_for_is_no_news(doubted: bool) -> None:
    known = [line(seq, f"+86139{seq:08d}") for seq in range(1, MOST_REFERENCES + 3)]
    lines = [KnownLine(each.ref, each.msisdn) for each in known]
    asked = question({}, lines, "CN", doubted=doubted)
    command = Check(
        identity_id="bob", registrations=tuple(asked.registrations), numbers=asked.numbers
    )
    assert len(command.numbers) <= MOST_NUMBERS
    named = {*asked.registrations.values(), *asked.numbers}
    added = [each for each in (*known, line(9_999, NEW)) if each.msisdn not in named]
    assert len(added) > 1 or not doubted
    told = answer(
        *(LineChange(code=ChangeCode.NUMBER_ADDED, line=each) for each in added), lines=tuple(known)
    )
    assert [each.line and each.line.msisdn for each in news(told, asked)] == [NEW]


def test_the_longest_check_fits_into_a_message() -> None:
    longest = [ref(10**18 + seq, "c" * 32) for seq in range(MOST_REFERENCES)]
    numbers = [f"+{10**14 + place}" for place in range(MOST_NUMBERS)]
    command = Check(identity_id="u" * 40, registrations=tuple(longest), numbers=tuple(numbers))
    envelope = Envelope.of(command, id="1" * 36, source="/terminals/alice_a", time=NOW)
    assert len(envelope.encode()) < MAX_BODY_BYTES


@pytest.mark.claim("C2")
async def test_c2_a_replaced_number_is_replaced_where_it_stood(book: Book) -> None:
    contact_id = await book.bob()
    (update,) = await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
    assert update == ContactUpdated(contact_id, "Bob Li", ("phones/m/number",), "bob")
    assert await book.numbers() == {"m": NEW}


async def test_the_same_pushed_by_the_group_later_changes_nothing_more(book: Book) -> None:
    await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
    assert await book.is_pushed(5, card("bob", "Bob Li", phones={"m": NEW})) == ()
    assert await book.numbers() == {"m": NEW}


async def test_an_older_card_that_comes_late_does_not_bring_the_number_back(book: Book) -> None:
    await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
    await book.phonebook.apply_page(page(member("bob", 3, BOB)), None)
    assert await book.numbers() == {"m": NEW}


async def test_a_card_that_is_newer_than_the_check_is_believed(book: Book) -> None:
    gone = LineChange(code=ChangeCode.NUMBER_WITHDRAWN, number=OLD)
    await book.hears(answer(gone, lines=()))
    assert await book.numbers() == {}
    await book.is_pushed(9, BOB)
    assert await book.numbers() == {"m": OLD}


@pytest.mark.claim("C3")
@pytest.mark.claim("C6")
async def test_c3_c6_an_added_number_comes_with_the_labels_that_its_owner_shares(
    book: Book,
) -> None:
    added = line(7, SECOND, "cn-unicom", labels=("work", "evenings"), dial_priority=1)
    await book.hears(
        answer(
            LineChange(code=ChangeCode.NUMBER_ADDED_NEW_CARRIER, line=added),
            LineChange(code=ChangeCode.UNCHANGED, number=OLD, line=line(1, OLD)),
            lines=(added, line(1, OLD)),
        )
    )
    assert await book.numbers() == {"m": OLD, "line-cn-unicom-7": SECOND}
    assert await book.label("line-cn-unicom-7") == "work, evenings"


async def test_a_withdrawn_number_is_taken_off(book: Book) -> None:
    await book.hears(answer(LineChange(code=ChangeCode.NUMBER_WITHDRAWN, number=OLD), lines=()))
    assert await book.numbers() == {}


async def test_the_owners_private_label_stays_on_a_number_that_changed(tmp_path: Path) -> None:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as phonebook:
        await phonebook.import_cards(OWN)
        await phonebook.apply_page(page(member("bob", 3, BOB)), None)
        book = Book(phonebook)
        own = await phonebook.own_part(await book.bob())
        assert own is not None
        phones = {
            key: phone.model_copy(update={"label": "the loud one"})
            for key, phone in (own.phones or {}).items()
        }
        await phonebook.write_own(await book.bob(), own.model_copy(update={"phones": phones}))
        await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
        assert await book.numbers() == {"m": NEW}
        assert await book.label("m") == "the loud one"
        await book.is_pushed(5, card("bob", "Bob Li", phones={"m": NEW}))
        assert await book.label("m") == "the loud one"


async def test_several_changes_one_after_the_other_are_followed(book: Book) -> None:
    await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
    change = LineChange(
        code=ChangeCode.NUMBER_CHANGED, known=ref(2), line=line(3, NEWER), number_changed=True
    )
    await book.hears(answer(change, lines=(line(3, NEWER),)))
    assert await book.numbers() == {"m": NEWER}


async def test_a_contact_whom_no_group_told_of_is_put_right_too(tmp_path: Path) -> None:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as phonebook:
        await phonebook.import_cards(OWN)
        book = Book(phonebook)
        await book.hears(answer(became(OLD, line(2, NEW)), lines=(line(2, NEW),)))
        assert list((await book.numbers()).values()) == [NEW]
        assert (await phonebook.lines(await book.bob())).identity_id == "bob"


@pytest.mark.claim("C5")
async def test_c5_state_and_usage_are_kept_with_their_times(book: Book) -> None:
    earlier = datetime(2026, 11, 30, 7, 55, tzinfo=UTC)
    status = LineStatus(
        ref=ref(1),
        state=StateReport(state=ShownState.BUSY, last_status_time=earlier),
        usage=UsageReport(remaining=DataVolume.BELOW_1_GIB, last_status_time=NOW),
    )
    await book.hears(answer(lines=(line(1, OLD),), status=(status,)))
    known = await book.phonebook.lines(await book.bob())
    assert known.checked_at == NOW
    (kept,) = known.lines
    assert (kept.state, kept.state_at) == (ShownState.BUSY, earlier)
    assert (kept.remaining, kept.remaining_at) == (DataVolume.BELOW_1_GIB, NOW)


@pytest.mark.claim("C6")
async def test_c6_dial_order_is_as_offered_until_the_viewer_sets_their_own(book: Book) -> None:
    one, two = line(1, OLD, dial_priority=2), line(2, SECOND, dial_priority=1)
    await book.hears(answer(lines=(two, one)))

    async def order() -> list[str]:
        known = await book.phonebook.lines(await book.bob())
        return [each.number for each in known.lines]

    assert await order() == [SECOND, OLD]
    await book.phonebook.reorder_lines(await book.bob(), [ref(1)])
    assert await order() == [OLD, SECOND]
    await book.phonebook.reorder_lines(await book.bob(), [])
    assert await order() == [SECOND, OLD]


@pytest.mark.claim("C6")
async def test_c6_who_is_out_of_reach_is_suggested_last_and_the_order_stays(book: Book) -> None:
    away = StateReport(state=ShownState.UNREACHABLE, last_status_time=NOW)
    await book.hears(
        answer(lines=(line(1, OLD), line(2, SECOND)), status=(LineStatus(ref=ref(1), state=away),))
    )
    known = await book.phonebook.lines(await book.bob())
    assert [each.number for each in known.dialling] == [SECOND, OLD]
    assert [each.number for each in known.lines] == [OLD, SECOND]


async def test_what_was_told_of_a_contact_goes_with_the_contact(book: Book) -> None:
    contact_id = await book.bob()
    await book.hears(answer(lines=(line(1, OLD),)))
    await book.is_pushed(9, BOB)
    await book.phonebook.apply_page(page(), None)
    await book.phonebook.apply([enveloped(changed("bob", 10, None))])
    assert await book.phonebook.contacts() == []
    await book.is_pushed(11, BOB)
    assert (await book.phonebook.lines(await book.bob())).lines == ()
    assert await book.bob() != contact_id
