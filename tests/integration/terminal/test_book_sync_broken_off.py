"""Syncs that break off, edits that fall in between, tokens that end, and books that are lost."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.sync_service.test_tokens import Backup, sealed
from tests.integration.terminal.people import People
from tests.integration.terminal.test_book_sync import (
    book,
    delete,
    edit,
    in_step,
    keep,
    names,
    persons,
    two,
)
from tests.unit.terminal.cards import card
from tests.wire import System

from contactmesh.contacts import Email, Media, Note, Phone, write_vcards
from contactmesh.local.waiting import until
from contactmesh.messaging.connection import delete_terminal_queue
from contactmesh.messaging.topology import SYNC
from contactmesh.terminal import LargeRemoval, NoReply, Terminal
from sync_service.domain.times import micros
from sync_service.domain.tokens import Token

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """
import asyncio, sys
from contactmesh.terminal import Terminal

def page(done, of):
    print(done, flush=True)
    sys.stdin.readline()

async def main():
    async with Terminal(sys.argv[1], pull=False) as terminal:
        await terminal.sync(progress=page)

asyncio.run(main())
"""
"""A terminal that syncs, and waits for a line after each page."""


async def asked(system: System) -> int:
    """How many commands wait for sync_service."""
    async with system.channel() as channel:
        queue = await channel.declare_queue(SYNC.commands_queue.name, passive=True)
        return queue.declaration_result.message_count or 0


@asynccontextmanager
async def while_it_is_asked(people: People) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """sync_service is stopped; inside, wait until it was asked. Afterwards it answers."""
    system = people.system
    await system.stack.stop("sync_service")

    async def it_was_asked() -> bool:
        return await asked(system) > 0

    try:
        yield lambda: until(it_was_asked, seconds=20)
    finally:
        await system.stack.start("sync_service")


async def stopped(people: People, number: int) -> Path:
    """The folder of a terminal that does not run, with so many contacts to send."""
    terminal = await people.enrol(people.system.new_user("alice"))
    folder = terminal.phonebook.path.parent
    async with Terminal.phonebook_of(folder) as phonebook:
        await phonebook.import_cards(b"".join(write_vcards(persons(number))))
    return folder


async def each_once(people: People, phone: Terminal, number: int) -> None:
    """Every contact is in the book, here and on a new terminal once, and nobody is in conflict."""
    fresh = await people.another_terminal(phone.user_id, "fresh")
    await fresh.sync()
    assert await names(fresh) == [f"Person {at:03}" for at in range(number)]
    assert await book(fresh) == await book(phone)
    (view,) = (await phone.books()).books
    assert (view.entries, view.conflicts) == (number, 0)
    versions = await phone.history("urn:example:p250")
    assert len(versions) == 1


@pytest.mark.claim("Y5", "Y6")
async def test_a_terminal_killed_half_way_through_500_creates_goes_on_and_has_each_once(
    people: People,
) -> None:
    folder = await stopped(people, 500)
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(folder),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert killed.stdin is not None
    assert killed.stdout is not None
    assert await killed.stdout.readline() == b"200\n"
    async with while_it_is_asked(people) as asked:
        killed.stdin.write(b"\n")
        await killed.stdin.drain()
        await asked()
        killed.kill()
        await killed.wait()
    async with Terminal(folder, pull=False) as phone:
        assert (await phone.phonebook.sync_state()).waiting == 300
        outcome = await phone.sync()
        assert (outcome.sent, outcome.conflicts, outcome.full) == (100, 0, False)
        await each_once(people, phone, 500)


@pytest.mark.claim("Y5", "Y6")
@pytest.mark.parametrize("after", [0, 200, 400])
async def test_a_sync_that_was_cancelled_goes_on_where_it_was(people: People, after: int) -> None:
    async with Terminal(await stopped(people, 500), pull=False) as phone:
        reached = asyncio.Event()

        def progress(done: int, _of: int) -> None:
            if done >= after:
                reached.set()

        syncing = asyncio.create_task(phone.sync(progress=progress))
        if after:
            await reached.wait()
        syncing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await syncing
        await phone.sync()
        await each_once(people, phone, 500)


@pytest.mark.claim("Y4", "Y5")
async def test_edits_made_while_an_exchange_is_under_way_are_kept_and_sent(people: People) -> None:
    phone, desk = await two(people, *persons(4))
    for at in range(3):
        await edit(phone, f"Person 00{at}", notes={"n": Note(note="first")})
    await edit(desk, "Person 000", emails={"e": Email(address="desk@example.org")})
    await desk.sync()
    async with while_it_is_asked(people) as asked:
        syncing = asyncio.create_task(phone.sync())
        await asked()
        await edit(phone, "Person 000", notes={"n": Note(note="second")})
        await delete(phone, "Person 001")
        await delete(phone, "Person 003")
        await keep(phone, card("new", "Somebody New"))
    await syncing
    assert (await phone.phonebook.sync_state()).waiting == 0
    after = await in_step(phone, desk)
    assert set(after) == {"urn:example:p000", "urn:example:p002", "urn:example:new"}
    assert after["urn:example:p000"].notes == {"n": Note(note="second")}
    assert after["urn:example:p000"].emails == {"e": Email(address="desk@example.org")}
    assert after["urn:example:p002"].notes == {"n": Note(note="first")}
    assert await phone.conflicts() == ()


async def test_what_is_pushed_while_an_exchange_is_under_way_is_here_when_it_ends(
    people: People,
) -> None:
    phone, desk = await two(people, *persons(1))
    await edit(phone, "Person 000", notes={"n": Note(note="phone")})
    async with while_it_is_asked(people) as asked:
        first = asyncio.create_task(phone.sync())
        await asked()
        await edit(desk, "Person 000", emails={"e": Email(address="desk@example.org")})
        second = asyncio.create_task(desk.sync())
    await asyncio.gather(first, second)
    (one,) = (await in_step(phone, desk)).values()
    assert one.notes == {"n": Note(note="phone")}
    assert one.emails == {"e": Email(address="desk@example.org")}


async def test_a_sync_without_an_answer_says_since_when_it_fails(people: People) -> None:
    folder = await stopped(people, 1)
    async with (
        Terminal(folder, pull=False, reply_seconds=0.2, deadline_seconds=1) as phone,
        while_it_is_asked(people),
    ):
        before = datetime.now(UTC)
        with pytest.raises(NoReply):
            await phone.sync()
        state = await phone.phonebook.sync_state()
        assert state.failing_since is not None
        assert state.failing_since >= before
        assert "sync.exchange" in (state.problem or "")
    async with Terminal(folder, pull=False) as phone:
        await phone.sync()
        state = await phone.phonebook.sync_state()
        assert (state.failing_since, state.problem, state.waiting) == (None, None, 0)
        assert state.last_sync_at is not None


# Tokens that cannot be continued from


def malformed(_: System, _phone: Terminal, _stranger: str) -> str:
    return "AAAA" * 20


def foreign(_: System, _phone: Terminal, stranger: str) -> str:
    return stranger


def expired(system: System, phone: Terminal, _: str) -> str:
    long_ago = micros(datetime.now(UTC) - timedelta(days=31))
    return sealed(system, phone.user_id, Token(1, long_ago))


def restored_away(system: System, phone: Terminal, _: str) -> str:
    return sealed(system, phone.user_id, Token(1, micros(datetime.now(UTC))))


@pytest.mark.claim("Y6")
@pytest.mark.parametrize("token", [malformed, foreign, expired, restored_away])
async def test_after_a_token_that_ended_nothing_is_twice_and_nothing_deleted_comes_back(
    people: People, token: Callable[[System, Terminal, str], str]
) -> None:
    phone, desk = await two(people, *persons(5))
    stranger = await people.terminal("eve")
    await stranger.sync()
    strangers = await stranger.phonebook.book_token()
    assert strangers is not None
    await delete(desk, "Person 000")
    await edit(desk, "Person 001", notes={"n": Note(note="desk")})
    await desk.sync()
    await edit(phone, "Person 002", notes={"n": Note(note="phone")})
    await delete(phone, "Person 003")
    await keep(phone, card("new", "Somebody New"))
    await phone.phonebook.save_book_token(token(people.system, phone, strangers))
    outcome = await phone.sync()
    assert (outcome.full, outcome.sent, outcome.conflicts) == (True, 3, 0)
    after = await in_step(phone, desk)
    assert set(after) == {f"urn:example:{one}" for one in ("p001", "p002", "p004", "new")}
    assert after["urn:example:p001"].notes == {"n": Note(note="desk")}
    assert after["urn:example:p002"].notes == {"n": Note(note="phone")}
    assert await stranger.contacts() == []


# Books that are lost


@pytest.mark.claim("Y6")
async def test_after_a_restore_from_a_backup_the_terminals_bring_back_what_it_lost(
    people: People,
) -> None:
    phone = await people.terminal("alice")
    desk = await people.enrol(phone.user_id, "desk")
    await keep(phone, *persons(6))
    async with desk:
        await in_step(phone, desk)
        backup = Backup(people.system)
        await delete(phone, "Person 000")
        for name in ("Person 001", "Person 003"):
            await edit(phone, name, notes={"n": Note(note="lost")})
        await keep(desk, card("new", "Somebody New"))
        before = await in_step(phone, desk)
    backup.restore()
    for name in ("Person 003", "Person 004"):
        await edit(phone, name, emails={"e": Email(address="after@example.org")})
    await delete(phone, "Person 005")
    assert (await phone.sync()).full
    await delete_terminal_queue(people.system.broker.url, desk.terminal_id)
    async with Terminal(desk.phonebook.path.parent, pull=False) as again:
        await edit(again, "Person 002", notes={"n": Note(note="after")})
        assert (await again.sync()).full
        after = await in_step(phone, again)
    assert set(after) == set(before) - {"urn:example:p005"}
    assert after["urn:example:p001"] == before["urn:example:p001"]
    assert after["urn:example:p002"].notes == {"n": Note(note="after")}
    assert after["urn:example:p003"].notes == {"n": Note(note="lost")}
    for uid in ("urn:example:p003", "urn:example:p004"):
        assert after[uid].emails == {"e": Email(address="after@example.org")}
    assert await phone.conflicts() == ()


@pytest.mark.claim("Y6")
async def test_an_edit_that_was_lost_and_one_made_since_by_a_terminal_that_never_saw_it_are_joined(
    people: People,
) -> None:
    phone = await people.enrol(people.system.new_user("alice"))
    desk = await people.enrol(phone.user_id, "desk")
    async with phone, desk:
        await keep(phone, *persons(2))
        await in_step(phone, desk)
    backup = Backup(people.system)
    async with Terminal(desk.phonebook.path.parent, pull=False) as again:
        await edit(again, "Person 000", notes={"n": Note(note="lost")})
        await again.sync()
    backup.restore()
    for terminal in (phone, desk):
        await delete_terminal_queue(people.system.broker.url, terminal.terminal_id)
    async with Terminal(phone.phonebook.path.parent, pull=False) as other:
        for name in ("Person 000", "Person 001"):
            await edit(other, name, emails={"e": Email(address="since@example.org")})
        assert not (await other.sync()).full
    await delete_terminal_queue(people.system.broker.url, desk.terminal_id)
    async with (
        Terminal(desk.phonebook.path.parent, pull=False) as again,
        Terminal(phone.phonebook.path.parent, pull=False) as other,
    ):
        assert (await again.sync()).full
        after = await in_step(again, other)
    assert after["urn:example:p000"].notes == {"n": Note(note="lost")}
    assert [one.emails for one in after.values()] == [
        {"e": Email(address="since@example.org")},
        {"e": Email(address="since@example.org")},
    ]


@pytest.mark.claim("Y6")
async def test_a_book_that_was_lost_as_a_whole_is_brought_back(people: People) -> None:
    backup = Backup(people.system)
    phone, desk = await two(people, *persons(30))
    before = await book(phone)
    backup.restore()
    assert (await phone.sync()).sent == 30
    await desk.sync()
    assert await in_step(phone, desk) == before


# What is asked about, and what is refused


@pytest.mark.claim("Y5")
async def test_a_sync_that_would_delete_over_half_of_the_book_asks(people: People) -> None:
    phone, desk = await two(people, *persons(30))
    for at in range(16):
        await delete(phone, f"Person {at:03}")
    with pytest.raises(LargeRemoval) as raised:
        await phone.sync()
    assert (raised.value.removals, raised.value.contacts) == (16, 30)
    await desk.sync()
    assert len(await desk.contacts()) == 30
    await phone.sync(removals=True)
    await desk.sync()
    assert len(await desk.contacts()) == 14


@pytest.mark.claim("Y5")
async def test_also_when_it_is_deleted_in_pieces(people: People) -> None:
    phone, desk = await two(people, *persons(30))
    for at in range(12):
        await delete(phone, f"Person {at:03}")
    await phone.sync()
    for at in range(12, 18):
        await delete(phone, f"Person {at:03}")
    with pytest.raises(LargeRemoval) as raised:
        await phone.sync()
    assert (raised.value.removals, raised.value.contacts) == (18, 30)
    await phone.sync(removals=True)
    assert len(await in_step(phone, desk)) == 12


@pytest.mark.claim("Y4", "Y5")
async def test_of_100_changes_one_that_is_refused_and_one_in_conflict_hold_up_none(
    people: People,
) -> None:
    phone, desk = await two(people, *persons(100))
    await edit(desk, "Person 060", phones={"m": Phone(number="+8613700137000")})
    for at in range(100):
        await edit(phone, f"Person {at:03}", notes={"n": Note(note="phone")})
    await edit(phone, "Person 060", phones={"m": Phone(number="+8613600136000")})
    photo = {"p": Media(kind="photo", uri="data:image/jpeg;base64," + "A" * 400_000)}
    await edit(phone, "Person 037", media=photo)
    await desk.sync()
    outcome = await phone.sync()
    assert (outcome.sent, outcome.conflicts) == (99, 1)
    (rejected,) = outcome.rejected
    assert (rejected.uid, rejected.display_name) == ("urn:example:p037", "Person 037")
    assert json.dumps(photo["p"].uri) not in rejected.problem
    for _ in range(3):
        again = await phone.sync()
        assert (again.sent, again.rejected) == (0, (rejected,))
    await edit(phone, "Person 037", media=None)
    assert (await phone.sync()).rejected == ()
    after = await in_step(phone, desk)
    assert all(one.notes == {"n": Note(note="phone")} for one in after.values())
    (conflict,) = await phone.conflicts()
    assert (conflict.uid, conflict.lost) == ("urn:example:p060", "+8613700137000")
