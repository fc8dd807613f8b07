"""Two terminals of a user and one address book: with broker and database (rows Y1-Y6)."""

import asyncio
import secrets

import pytest
from tests.integration.sync_service.books import Book, ago, books_of, contact, uid_of
from tests.wire import System

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import Fetch, ListBooks
from contactmesh.contracts.sync.records import Outcome

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def two_terminals(system: System) -> tuple[Book, Book]:
    """A phone and a tablet of a new user, both in step with an empty book."""
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    one, two = Book(phone), Book(tablet)
    await one.catches_up()
    await two.catches_up()
    return one, two


@pytest.mark.claim("Y1")
@pytest.mark.claim("Y2")
@pytest.mark.claim("Y5")
async def test_what_one_terminal_saves_and_deletes_the_other_is_given(system: System) -> None:
    phone, tablet = await two_terminals(system)
    results = await phone.saves({"an": contact("an", "1"), "bo": contact("bo", "2")})
    assert [one.outcome for one in results] == [Outcome.APPLIED, Outcome.APPLIED]
    assert phone.given == [], "a terminal's own changes are not given back"
    await tablet.catches_up()
    assert tablet.numbers() == phone.numbers() == {"an": "1", "bo": "2"}
    assert tablet.revs == phone.revs
    await tablet.saves({"an": contact("an", "11"), "bo": None})
    await phone.catches_up()
    assert phone.numbers() == tablet.numbers() == {"an": "11"}
    assert phone.revs == tablet.revs


@pytest.mark.claim("Y6")
async def test_the_end_of_an_exchange_is_the_books_last_sync(system: System) -> None:
    phone, tablet = await two_terminals(system)
    before = ago(seconds=60)
    await phone.saves({"an": contact("an", "1")})
    await tablet.saves({})
    (book,) = (await books_of(phone.terminal)).values()
    assert book["last_sync_by"] == tablet.terminal.id
    assert book["last_sync_at"] > before.isoformat()
    assert (book["entries"], book["conflicts"], book["policy"]) == (1, 0, "merge")


@pytest.mark.claim("Y3")
async def test_pages_both_ways_bring_every_change_once(system: System) -> None:
    phone, tablet = await two_terminals(system)
    for begin in range(0, 450, 200):
        names = [f"c{number:03}" for number in range(begin, min(begin + 200, 450))]
        results = await phone.saves({name: contact(name, name[1:]) for name in names})
        assert {one.outcome for one in results} == {Outcome.APPLIED}
    first = await tablet.does(tablet.exchange())
    assert (len(first.changes), first.has_more) == (200, True)
    # Between two pages one that was given and one that was not are changed, and one is made.
    written = {
        "c000": contact("c000", "0"),
        "c449": contact("c449", "0"),
        "new": contact("new", "1"),
    }
    await phone.saves(written)
    await tablet.catches_up()
    given = [entry.uid for entry in tablet.given]
    assert sorted(given) == sorted([uid_of("c000"), *phone.held])
    assert tablet.numbers() == phone.numbers()
    assert phone.given == []
    quiet = await tablet.does(tablet.exchange())
    assert (quiet.changes, quiet.has_more) == ((), False)


async def test_a_reply_has_room_for_large_cards_a_few_at_a_time(system: System) -> None:
    phone, tablet = await two_terminals(system)
    photo = "x" * 180_000
    for number in range(6):
        name = f"c{number}"
        await phone.saves({name: contact(name, "1", **{"example.com:x": photo})})
    pages = [await tablet.does(tablet.exchange())]
    while pages[-1].has_more:
        pages.append(await tablet.does(tablet.exchange()))
    assert [len(page.changes) for page in pages] == [2, 2, 2]
    assert tablet.held == phone.held
    names = tuple(uid_of(f"c{number}") for number in range(6))
    fetched = await tablet.fetches(*(name.removeprefix(uid_of("")) for name in names))
    assert [entry.uid for entry in fetched] == list(names[: len(fetched)])
    assert 1 <= len(fetched) < 6, "the message has room for some alone"


async def test_one_bad_change_holds_up_no_other(system: System) -> None:
    phone, _ = await two_terminals(system)
    good = phone.change("an", contact("an", "1"))
    bad = phone.change("bo", {"phones": 1})
    other = phone.change("chen", contact("somebody-else", "3"))
    large = phone.change("dan", contact("dan", "4", **{"example.com:x": "x" * 300_000}))
    command = phone.exchange(good, bad, other, large)
    for _ in range(3):
        exchanged = await phone.terminal.does(command, secrets.token_hex(8))
        results = exchanged.payload()["results"]
        assert [one.get("code") for one in results] == [
            None,
            "invalid_argument",
            "invalid_argument",
            "too_large",
        ]
        phone.token = exchanged.payload()["token"]
        command = phone.exchange(good, bad, other, large)
    assert [entry.rev > 0 for entry in await phone.fetches("an", "bo")] == [True, False]


@pytest.mark.claim("Y6")
async def test_a_command_is_taken_once_however_often_it_comes(system: System) -> None:
    phone, tablet = await two_terminals(system)
    command = phone.exchange(phone.change("an", contact("an", "1")))
    command_id = secrets.token_hex(12)
    for number in range(1, 6):
        await phone.terminal.send_command(command, command_id)
        await phone.terminal.reply_to(command_id, number=number)
    replies = {str(one.data) for one in phone.terminal.replies[command_id]}
    assert len(replies) == 1
    assert len(phone.terminal.replies[command_id]) == 5
    await tablet.catches_up()
    assert [entry.uid for entry in tablet.given] == [uid_of("an")]


async def test_after_a_lost_reply_the_same_changes_do_nothing_more(system: System) -> None:
    phone, tablet = await two_terminals(system)
    names = [f"c{number:03}" for number in range(200)]
    changes = tuple(phone.change(name, contact(name, "1")) for name in names)
    lost = await phone.terminal.does(phone.exchange(*changes))
    again = await phone.does(phone.exchange(*changes), changes)
    assert {one.outcome for one in again.results} == {Outcome.SAME}
    assert [one.rev for one in again.results] == [one["rev"] for one in lost.payload()["results"]]
    edited = tuple(phone.change(name, contact(name, "2")) for name in names[:2])
    await phone.terminal.does(phone.exchange(*edited))
    await phone.sends(*edited)
    assert await phone.conflicts() == []
    await tablet.catches_up()
    assert tablet.numbers() == phone.numbers()
    assert len(await tablet.history("c000")) == 2


async def test_terminals_that_sync_at_once_come_to_one_book(system: System) -> None:
    first = Book(await system.terminal("lin"))
    await first.saves({"shared": contact("shared", "0")})
    user_id = first.terminal.user_id
    others = [Book(await system.another_terminal(user_id)) for _ in range(3)]
    for other in others:
        await other.begins_anew()
    books = [first, *others]

    async def works(book: Book, number: int) -> None:
        for step in range(6):
            own = f"own-{number}-{step}"
            before = book.held[uid_of("shared")]
            nicknames = {**before.get("nicknames", {}), f"n{number}": {"name": f"{number}.{step}"}}
            shared = {**before, "nicknames": nicknames}
            results = await book.saves({own: contact(own, "1"), "shared": shared})
            assert all(one.outcome is not Outcome.REJECTED for one in results)

    await asyncio.gather(*(works(book, number) for number, book in enumerate(books)))
    for book in books:
        await book.catches_up()
    assert all(book.held == first.held and book.revs == first.revs for book in books)
    nicknames = first.held[uid_of("shared")]["nicknames"]
    assert {key: one["name"] for key, one in nicknames.items()} == {
        f"n{number}": f"{number}.5" for number in range(4)
    }, "no terminal's edit of its own field is lost"
    assert await first.conflicts() == []
    own = {uid_of(f"own-{number}-{step}") for number in range(4) for step in range(6)}
    assert set(first.held) == {uid_of("shared"), *own}
    assert len(set(first.revs.values())) == len(first.revs)
    (view,) = (await books_of(first.terminal)).values()
    assert view["entries"] == len(first.held)
    for book in others:
        given = [(entry.uid, entry.rev) for entry in book.given]
        assert len(given) == len(set(given)), "no revision twice"


async def test_an_update_is_pushed_to_the_other_terminals_of_the_owner_and_to_nobody_else(
    system: System,
) -> None:
    phone, tablet = await two_terminals(system)
    stranger = await system.terminal("bo")
    await phone.saves({"an": contact("an", "+8613900000077")})
    await tablet.terminal.until(lambda: len(tablet.pushed()) == 1)
    (pushed,) = tablet.pushed()
    assert pushed["card"] == phone.held[uid_of("an")]
    assert (pushed["book"], pushed["uid"], pushed["rev"], pushed["op"]) == (
        "main",
        uid_of("an"),
        phone.revs[uid_of("an")],
        "modified",
    )
    assert "origin" not in pushed
    await tablet.catches_up()
    await tablet.saves({"an": None})
    await phone.terminal.until(lambda: any(one["op"] == "deleted" for one in phone.pushed()))
    (deleted,) = phone.pushed()
    assert deleted.get("card") is None, "and nothing of what it sent itself"
    await stranger.does(ListBooks())
    assert not stranger.ever_saw("+8613900000077")


async def test_each_book_and_each_user_is_apart(system: System) -> None:
    phone, _ = await two_terminals(system)
    work = Book(phone.terminal, "work")
    stranger = Book(await system.terminal("bo"))
    await phone.saves({"an": contact("an", "1")})
    await work.saves({"an": contact("an", "2")})
    assert set(await books_of(phone.terminal)) == {"main", "work"}
    assert await books_of(stranger.terminal) == {}
    assert [entry.rev for entry in await stranger.fetches("an")] == [0]
    assert [entry.rev for entry in await work.fetches("an")] == [work.revs[uid_of("an")]]
    assert (await stranger.lists())[1] == []
    assert await stranger.history("an") == []


async def test_a_revoked_terminal_syncs_no_more(system: System) -> None:
    phone, tablet = await two_terminals(system)
    await phone.saves({"an": contact("an", "1")})
    await phone.terminal.close()
    await system.revoke(phone.terminal.id)
    await tablet.catches_up()
    assert tablet.numbers() == {"an": "1"}


async def test_a_malformed_command_is_named_without_what_it_says(system: System) -> None:
    phone, _ = await two_terminals(system)
    uids = tuple(f"urn:example:{number}" for number in range(201))
    command = Fetch.model_construct(book="main", uids=uids)
    assert (await phone.terminal.refused(command)).code is ErrorCode.INVALID_ARGUMENT
