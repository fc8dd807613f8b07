"""Two phonebooks of one user that sync against the service's rules (rows Y1, Y4 to Y6)."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Server, Stored
from tests.unit.terminal.test_book_convergence import Away, Line, new_card

from contactmesh.contacts import Card, digest, write_vcards
from contactmesh.contracts.sync.commands import Erase, SetPolicy
from contactmesh.contracts.sync.records import Policy
from contactmesh.terminal import Phonebook

KNOWN, NEW = new_card("an", "urn:example:an"), new_card("bo", "urn:example:bo")


@pytest_asyncio.fixture
async def away(tmp_path: Path) -> AsyncIterator[list[Away]]:
    """Two phonebooks in step, who know one contact."""
    async with AsyncExitStack() as stack:
        server = Server()
        books = [
            await stack.enter_async_context(Phonebook(tmp_path / f"{one}.sqlite3", "lin", "CN"))
            for one in (PHONE, TABLET)
        ]
        found = [
            Away(book, Line(server, one)) for book, one in zip(books, (PHONE, TABLET), strict=True)
        ]
        await _keep(found[0], KNOWN, "x-known")
        for one in (*found, *found):
            await one.book_sync.sync()
        # Both synced long before they edit anything.
        server.passes(timedelta(days=1))
        yield found


async def _keep(away: Away, card: Card, language: str, *, ago: timedelta = timedelta()) -> None:
    """Make or change a contact so long ago, by the terminal's clock."""
    changed = Card.model_validate({**card.to_json(), "language": language})
    found = [one for one, own in (await away.parts()).items() if own.uid == card.uid]
    if found:
        await away.phonebook.write_own(found[0], changed)
    else:
        await away.phonebook.import_cards(b"".join(write_vcards([changed])))
    at = (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with sqlite3.connect(away.phonebook.path) as beside:
        beside.execute("UPDATE book_entries SET updated_at = ? WHERE uid = ?", (at, card.uid))
    beside.close()


async def _languages(away: Away) -> dict[str, str | None]:
    return {one.uid: one.language for one in (await away.parts()).values()}


@pytest.mark.claim("Y1", "Y4")
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("changed", [[KNOWN], [NEW], [KNOWN, NEW]], ids=["known", "new", "both"])
@pytest.mark.parametrize("first", ["the earlier", "the later"])
async def test_the_later_change_wins_whoever_syncs_first(
    away: list[Away], policy: Policy, changed: list[Card], first: str
) -> None:
    earlier, later = away
    earlier.line.server.does(SetPolicy(policy=policy))
    for card in changed:
        await _keep(earlier, card, "x-earlier", ago=timedelta(minutes=20))
        await _keep(later, card, "x-later", ago=timedelta(minutes=10))
    order = (earlier, later) if first == "the earlier" else (later, earlier)
    for one in (*order, *order):
        await one.book_sync.sync()
    expected = {card.uid: "x-later" for card in changed}
    assert (
        await _languages(earlier) == await _languages(later) == {KNOWN.uid: "x-known", **expected}
    )


@pytest.mark.claim("Y1")
async def test_what_is_edited_while_the_last_exchange_is_under_way_is_no_earlier(
    away: list[Away],
) -> None:
    phone, tablet = away
    await _keep(tablet, KNOWN, "x-sent")

    async def meanwhile() -> None:
        await _keep(tablet, KNOWN, "x-under-way")

    tablet.line.meanwhile = meanwhile
    await _keep(phone, KNOWN, "x-before", ago=timedelta(minutes=1))
    await tablet.book_sync.sync()
    await phone.book_sync.sync()
    await tablet.book_sync.sync()
    assert await _languages(tablet) == await _languages(phone) == {KNOWN.uid: "x-under-way"}


@pytest.mark.claim("Y5", "Y6")
@pytest.mark.parametrize("days", [1, 31, 89, 91, 400])
@pytest.mark.parametrize("others", ["older", "newer", "none"])
async def test_what_was_deleted_stays_away_however_long_a_terminal_does_not_sync(
    away: list[Away], days: int, others: str
) -> None:
    phone, tablet = away
    server = phone.line.server
    await _keep(phone, NEW, "x-new")
    for one in (phone, tablet):
        await one.book_sync.sync()
    gone = {"older": [NEW], "newer": [KNOWN], "none": [KNOWN, NEW]}[others]
    for card in gone:
        found = await phone.part(card.name.full if card.name and card.name.full else "")
        assert found is not None
        await phone.phonebook.delete_own(found[0])
    await phone.book_sync.sync()
    server.passes(timedelta(days=days))
    for one in (tablet, phone, tablet):
        await one.book_sync.sync(removals=True)
    kept = {KNOWN.uid, NEW.uid} - {card.uid for card in gone}
    assert set(await _languages(tablet)) == set(await _languages(phone)) == set(server.holds())
    assert set(server.holds()) == kept


@pytest.mark.claim("Y6")
async def test_a_wiped_book_that_another_terminal_began_anew_gets_back_all_however_old(
    away: list[Away], tmp_path: Path
) -> None:
    phone, tablet = away
    server = phone.line.server
    server.passes(timedelta(days=200))
    for one in (phone, tablet):
        await one.book_sync.sync()
    server.stored = Stored()
    async with Phonebook(tmp_path / "new.sqlite3", "lin", "CN") as book:
        laptop = Away(book, Line(server, LAPTOP))
        await _keep(laptop, NEW, "x-new")
        for one in (laptop, phone, tablet, laptop):
            await one.book_sync.sync()
        expected = {KNOWN.uid: "x-known", NEW.uid: "x-new"}
        assert [await _languages(one) for one in (laptop, phone, tablet)] == [expected] * 3


async def _same(_: Away) -> None:
    """Nothing was done there."""


async def _edited(away: Away) -> None:
    await _keep(away, NEW, "x-edited")


async def _deleted(away: Away) -> None:
    await away.phonebook.delete_own((await away.part("bo") or ("",))[0])


def _joined(first: str, second: str) -> Callable[[Away], Awaitable[None]]:
    async def join(away: Away) -> None:
        ids = [(await away.part(name) or ("",))[0] for name in (first, second)]
        await away.phonebook.join(ids[0], ids[1], datetime.now(UTC), "j1")

    return join


async def _pushed(away: Away) -> None:
    await away.take_pushes(lost=False)


async def _without_a_token(away: Away) -> None:
    await away.phonebook.save_book_token("nothing that was given")


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("before", [_same, _pushed, _without_a_token])
@pytest.mark.parametrize(
    ("there", "named"),
    [
        (_same, False),
        (_edited, True),
        (_deleted, False),
        (_joined("bo", "an"), False),
        (_joined("an", "bo"), False),
    ],
    ids=["unchanged", "edited", "deleted", "joined as the first", "joined as the second"],
)
async def test_nothing_that_was_done_elsewhere_brings_back_what_was_erased(
    away: list[Away],
    there: Callable[[Away], Awaitable[None]],
    named: bool,
    before: Callable[[Away], Awaitable[None]],
) -> None:
    phone, tablet = away
    server = phone.line.server
    await _keep(phone, NEW, "x-secret")
    for one in (phone, tablet):
        await one.book_sync.sync()
    tablet.pushed = len(server.told)
    await there(tablet)
    server.does(Erase(uids=(NEW.uid,)))
    await before(tablet)
    outcome = await tablet.book_sync.sync()
    names = [one.display_name for one in outcome.rejected if one.uid == NEW.uid]
    assert names == (["bo"] if named else [])
    assert await tablet.phonebook.joins(datetime.now(UTC)) == []
    for one in (phone, tablet, phone):
        assert (await one.book_sync.sync()).rejected == ()
    assert NEW.uid not in {**server.holds(), **await _languages(phone), **await _languages(tablet)}


def _person(name: str, number: str, **more: object) -> Card:
    return Card.model_validate(
        {"uid": "1", "name": {"full": name}, "phones": {"m": {"number": number}}, **more}
    )


ALICE = _person("Alice", "+8613800138000", notes={"n": {"note": "of Alice"}})


@pytest.mark.claim("Y4", "Y6")
@pytest.mark.parametrize("before", [_same, _without_a_token])
@pytest.mark.parametrize(
    ("other", "people"),
    [
        (_person("Bob", "+8613900139000"), {"Alice", "Bob"}),
        (_person("Bob", "12"), {"Alice", "Bob"}),
        (_person("Alice", "+8613900139000"), {"Alice"}),
        (_person("Alice Li", "13800138000"), {"Alice Li"}),
    ],
    ids=["another person", "whose number is no one's", "the same name", "the same number"],
)
async def test_two_people_whom_two_terminals_gave_one_uid_stay_two(
    away: list[Away],
    other: Card,
    people: set[str],
    before: Callable[[Away], Awaitable[None]],
) -> None:
    phone, tablet = away
    await phone.phonebook.import_cards(b"".join(write_vcards([ALICE])))
    await phone.book_sync.sync()
    await tablet.phonebook.import_cards(b"".join(write_vcards([other])))
    await before(tablet)
    for one in (tablet, phone, tablet):
        await one.book_sync.sync()
    parts = [own for own in (await tablet.parts()).values() if own.uid != KNOWN.uid]
    assert {own.name.full for own in parts if own.name} == people
    assert len(parts) == len(people)
    there = {
        uid: digest(Card.model_validate(one)) for uid, one in phone.line.server.holds().items()
    }
    for one in away:
        assert {own.uid: digest(own) for own in (await one.parts()).values()} == there
    noted = [own.name.full for own in parts if own.name and own.notes]
    assert noted == ["Alice" if "Alice" in people else "Alice Li"]


@pytest.mark.claim("Y6")
@pytest.mark.parametrize("times", [1, 2], ids=["each once", "each twice"])
async def test_a_file_without_uids_is_imported_again_after_its_entries_were_found_in_the_book(
    away: list[Away], times: int
) -> None:
    phone, tablet = away
    uids = [f"urn:example:{name}-{one}" for name in ("chen", "dai") for one in range(times)]
    cards = [new_card(uid[12:].partition("-")[0], uid) for uid in uids]
    await phone.phonebook.import_cards(b"".join(write_vcards(cards)))
    await phone.book_sync.sync()
    lines = b"".join(write_vcards(cards)).split(b"\r\n")
    file = b"\r\n".join(line for line in lines if not line.startswith(b"UID"))
    await tablet.phonebook.save_book_token("nothing that was given")
    for _ in range(3):
        imported, _ = await tablet.phonebook.import_cards(file)
        assert not imported.damages
        await tablet.book_sync.sync()
        assert set(await _languages(tablet)) == {KNOWN.uid, *uids}
    assert set(phone.line.server.holds()) == {KNOWN.uid, *uids}


@pytest.mark.claim("Y5")
async def test_an_edit_of_what_was_erased_and_made_anew_leaves_what_was_made(
    away: list[Away],
) -> None:
    phone, tablet = away
    await _edited(tablet)
    await _keep(tablet, KNOWN, "x-edited")
    phone.line.server.does(Erase(uids=(KNOWN.uid,)))
    await phone.book_sync.sync()
    await _keep(phone, KNOWN, "x-anew")
    await phone.book_sync.sync()
    outcome = await tablet.book_sync.sync()
    assert [one.uid for one in outcome.rejected] == [KNOWN.uid]
    for one in (phone, tablet):
        await one.book_sync.sync()
        assert await _languages(one) == {KNOWN.uid: "x-anew", NEW.uid: "x-edited"}
