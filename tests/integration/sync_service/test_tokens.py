"""Tokens that cannot be continued from, and a database restored from a backup (row Y6)."""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from pymongo import MongoClient
from tests.integration.sync_service.books import Book, ago, contact, uid_of
from tests.wire import System

from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.sync.records import Outcome
from contactmesh.local.secrets import StackSecrets
from contactmesh.runtime.settings import read_secret
from sync_service.domain.documents import owner_of
from sync_service.domain.times import micros
from sync_service.domain.tokens import Token, write_token

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("Y6")]

Documents = Mapping[str, list[dict[str, Any]]]


class Backup:
    """What sync_service had stored at a moment."""

    def __init__(self, system: System) -> None:
        self._url = system.mongodb_url
        self._name = f"{system.database_prefix}sync_service"
        with MongoClient[dict[str, Any]](self._url) as client:
            database = client[self._name]
            names = database.list_collection_names()
            self._documents: Documents = {name: list(database[name].find()) for name in names}

    def restore(self) -> None:
        """Let the database be as it was, as an operator does after a disk has failed."""
        with MongoClient[dict[str, Any]](self._url) as client:
            database = client[self._name]
            for name, documents in self._documents.items():
                database[name].delete_many({})
                if documents:
                    database[name].insert_many(documents)


def sealed(system: System, user_id: str, token: Token) -> str:
    """A token as the service would have given it at another time."""
    secrets_of_stack = StackSecrets(system.stack.operator_token_file.parent)
    key = read_secret(secrets_of_stack.cursor_key_file)
    return write_token(key, owner_of(user_id, "main"), token)


async def refused(book: Book, token: str | None) -> ErrorBody:
    book.token = token
    error = await book.terminal.refused(book.exchange(book.change("zhao", contact("zhao", "9"))))
    assert error.code is ErrorCode.FULL_SYNC_REQUIRED
    assert (await book.fetches("zhao"))[0].rev == 0, "nothing of the exchange was done"
    return error


async def begun(system: System) -> Book:
    """A phone in step with a book of one contact."""
    phone = Book(await system.terminal("lin"))
    await phone.saves({"an": contact("an", "1")})
    return phone


async def test_a_token_is_good_for_as_long_as_versions_are_kept(system: System) -> None:
    phone = await begun(system)
    rev, user_id = phone.revs[uid_of("an")], phone.terminal.user_id
    early, late = micros(ago(days=29, hours=23)), micros(ago(days=30, seconds=1))
    error = await refused(phone, sealed(system, user_id, Token(rev, late)))
    assert error.details["reason"] == "expired"
    phone.token = sealed(system, user_id, Token(rev, early))
    await phone.catches_up()
    assert phone.given == []


async def test_a_token_of_another_user_or_book_is_foreign(system: System) -> None:
    phone, stranger = await begun(system), await begun(system)
    work = Book(phone.terminal, "work")
    await work.saves({"bo": contact("bo", "2")})
    for token in (stranger.token, work.token):
        assert (await refused(phone, token)).details["reason"] == "foreign"


@pytest.mark.parametrize("token", ["x", "1" * 200, "令牌", "AAAA" * 20, "%00"])
async def test_a_token_that_was_never_given_is_malformed(system: System, token: str) -> None:
    phone = await begun(system)
    assert (await refused(phone, token)).details["reason"] == "malformed"


async def test_a_token_that_was_changed_is_malformed(system: System) -> None:
    phone = await begun(system)
    assert phone.token is not None
    changed = ("B" if phone.token[0] == "A" else "A") + phone.token[1:]
    assert (await refused(phone, changed)).details["reason"] == "malformed"


async def test_a_revision_that_was_never_given_is_as_one_that_was_restored_away(
    system: System,
) -> None:
    phone = await begun(system)
    never = Token(phone.revs[uid_of("an")] + 1, micros(ago(seconds=1)))
    token = sealed(system, phone.terminal.user_id, never)
    assert (await refused(phone, token)).details["reason"] == "restored"


async def test_without_a_token_a_book_that_holds_entries_is_listed_first(system: System) -> None:
    phone = await begun(system)
    tablet = Book(await system.another_terminal(phone.terminal.user_id))
    assert (await refused(tablet, None)).details["reason"] == "no_token"
    await tablet.begins_anew()
    assert tablet.numbers() == phone.numbers()
    await tablet.saves({"an": contact("an", "2")})
    await phone.catches_up()
    assert phone.numbers() == {"an": "2"}


async def test_a_listing_has_pages_and_what_comes_between_them_is_given_after(
    system: System,
) -> None:
    phone = await begun(system)
    await phone.saves({f"c{number}": contact(f"c{number}", "1") for number in range(5)})
    tablet = Book(await system.another_terminal(phone.terminal.user_id))
    command = {"limit": 2, "cards": True}
    first, _ = await tablet.lists(**command)
    assert [entry.uid for entry in first.entries] == [uid_of("an"), uid_of("c0")]
    assert all(entry.card and entry.digest for entry in first.entries)
    await phone.saves({"c0": contact("c0", "2"), "c4": None, "aa": contact("aa", "1")})
    _, entries = await tablet.lists(**command)
    assert [(one.uid, one.card is None) for one in entries if "c4" in one.uid] == [
        (uid_of("c4"), True)
    ]
    tablet.token = first.token
    await tablet.catches_up()
    assert sorted(one.uid for one in tablet.given) == [uid_of("aa"), uid_of("c0"), uid_of("c4")]


async def test_after_a_restore_nothing_is_lost_doubled_or_brought_back(system: System) -> None:
    phone = await begun(system)
    tablet = Book(await system.another_terminal(phone.terminal.user_id))
    await phone.saves({"bo": contact("bo", "2"), "chen": contact("chen", "3")})
    await phone.saves({"chen": None})
    await tablet.begins_anew()
    backup = Backup(system)
    await phone.saves({"an": contact("an", "11"), "bo": None, "dan": contact("dan", "4")})
    backup.restore()

    await tablet.catches_up()
    assert tablet.numbers() == {"an": "1", "bo": "2"}, "its token is from before the backup"
    error = await refused(phone, phone.token)
    assert error.details["reason"] == "restored"
    first, entries = await phone.lists()
    listed = {entry.uid: entry for entry in entries}
    assert first.since == pytest.approx(
        micros(ago(days=90)), abs=timedelta(minutes=5).total_seconds() * 1e6
    )
    assert set(listed) == {uid_of(name) for name in ("an", "bo", "chen")}
    lost = [
        uid
        for uid, rev in phone.revs.items()
        if (rev > listed[uid].rev if uid in listed else rev > first.since)
    ]
    assert sorted(lost) == [uid_of("an"), uid_of("bo"), uid_of("dan")]
    phone.token = first.token
    phone.revs = {uid: entry.rev for uid, entry in listed.items()}
    names = [uid.removeprefix(uid_of("")) for uid in lost]
    results = await phone.saves({name: phone.held.get(uid_of(name)) for name in names})
    assert {one.outcome for one in results} == {Outcome.APPLIED}
    await tablet.catches_up()
    assert phone.numbers() == tablet.numbers() == {"an": "11", "dan": "4"}
    assert await phone.conflicts() == []


async def test_a_new_database_sends_everybody_to_the_full_sync(system: System) -> None:
    empty = Backup(system)
    phone = await begun(system)
    empty.restore()
    assert (await refused(phone, phone.token)).details["reason"] == "restored"
    first, entries = await phone.lists()
    assert entries == []
    assert phone.revs[uid_of("an")] > first.since, "lost, and not deleted long ago"
    assert first.since == 0, "it knows of no deletion at all"
    phone.token, phone.revs = first.token, {}
    await phone.saves({"an": phone.held[uid_of("an")]})
    assert [entry.rev > 0 for entry in await phone.fetches("an")] == [True]


async def test_a_command_of_before_the_restore_is_answered_by_what_is_known_now(
    system: System,
) -> None:
    """The record of handled commands is of the backup too: what it forgot is decided anew."""
    phone = await begun(system)
    backup = Backup(system)
    command = phone.exchange(phone.change("bo", contact("bo", "2")))
    command_id = secrets.token_hex(12)
    await phone.terminal.does(command, command_id)
    backup.restore()
    await phone.terminal.send_command(command, command_id)
    reply = await phone.terminal.reply_to(command_id, number=2)
    assert reply.error is None, "its token is of before the backup"
    assert [entry.rev > 0 for entry in await phone.fetches("bo")] == [True]
