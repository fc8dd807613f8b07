"""Edits that meet, what was overwritten, and what is erased: on the wire (rows Y4, Y5)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pymongo import MongoClient
from tests.integration.sync_service.books import Book, ago, books_of, contact, uid_of
from tests.wire import System

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import (
    BookRestored,
    Erase,
    Exchanged,
    Restore,
    RestoreBook,
    Restored,
    SetPolicy,
    Settle,
    Settled,
)
from contactmesh.contracts.sync.records import ConflictKind, Outcome, Policy, Reason

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def in_step(system: System, **contacts: str) -> tuple[Book, Book]:
    """A phone and a tablet of a new user, both in step with a book of some contacts."""
    phone = Book(await system.terminal("lin"))
    await phone.saves({name: contact(name, number) for name, number in contacts.items()})
    tablet = Book(await system.another_terminal(phone.terminal.user_id))
    await tablet.begins_anew()
    return phone, tablet


async def restored(book: Book, name: str, rev: int) -> int:
    """Restore a contact; its revision then."""
    done = await book.terminal.does(Restore(book=book.name, uid=uid_of(name), rev=rev))
    assert isinstance(done, Restored)
    return done.rev


@pytest.mark.claim("Y4")
async def test_edits_of_different_fields_are_both_kept(system: System) -> None:
    phone, tablet = await in_step(system, an="1")
    await phone.saves({"an": contact("an", "2")})
    title = {"titles": {"t": {"name": "博士"}}}
    (result,) = await tablet.saves({"an": contact("an", "1", **title)})
    assert result.outcome is Outcome.MERGED
    await phone.catches_up()
    assert phone.held == tablet.held
    assert tablet.numbers() == {"an": "2"}
    assert phone.held[uid_of("an")]["titles"]["t"]["name"] == "博士"
    assert await phone.conflicts() == []


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("take_lost", [False, True])
async def test_of_one_field_the_later_stands_and_the_other_can_be_taken(
    system: System, take_lost: bool
) -> None:
    phone, tablet = await in_step(system, an="1")
    earlier = tablet.change("an", contact("an", "3"), updated_at=ago(seconds=30))
    await phone.saves({"an": contact("an", "2")})
    (result,) = await tablet.sends(earlier)
    assert (result.outcome, result.name) == (Outcome.CONFLICT, "an")
    assert tablet.numbers() == {"an": "2"}
    (conflict,) = await phone.conflicts()
    assert conflict.kind is ConflictKind.FIELD
    assert (conflict.path, conflict.kept, conflict.lost) == ("phones/mobile/number", "2", "3")
    assert conflict.lost_by == tablet.terminal.id
    assert (await books_of(phone.terminal))["main"]["conflicts"] == 1

    command = Settle(conflict_id=conflict.conflict_id, take_lost=take_lost)
    settled = await phone.terminal.does(command)
    assert isinstance(settled, Settled)
    assert await phone.conflicts() == []
    await phone.catches_up()
    await tablet.catches_up()
    assert phone.numbers() == tablet.numbers() == {"an": "3" if take_lost else "2"}
    assert phone.revs[uid_of("an")] == settled.rev
    assert (await phone.terminal.refused(command)).code is ErrorCode.NOT_FOUND


@pytest.mark.claim("Y4")
@pytest.mark.claim("Y5")
async def test_a_deletion_removes_no_edit_that_its_author_had_not_seen(system: System) -> None:
    phone, tablet = await in_step(system, an="1", bo="1")
    await phone.saves({"an": contact("an", "2"), "bo": None})
    deletion, edit = await tablet.saves({"an": None, "bo": contact("bo", "2")})
    assert (deletion.outcome, edit.outcome) == (Outcome.CONFLICT, Outcome.CONFLICT)
    await phone.catches_up()
    assert phone.numbers() == tablet.numbers() == {"an": "2", "bo": "2"}
    kinds = {one.uid: (one.kind, one.lost_by) for one in await phone.conflicts()}
    assert kinds == {
        uid_of("an"): (ConflictKind.DELETION, tablet.terminal.id),
        uid_of("bo"): (ConflictKind.DELETION, phone.terminal.id),
    }


@pytest.mark.claim("Y3")
@pytest.mark.claim("Y4")
async def test_latest_wins_is_the_claim_to_the_letter(system: System) -> None:
    phone, tablet = await in_step(system, an="1", bo="1")
    await phone.terminal.does(SetPolicy(policy=Policy.LATEST_WINS))
    await phone.catches_up()
    # Nobody else has synced since: applied as it is, whatever its time.
    (alone,) = await phone.sends(phone.change("an", contact("an", "2"), updated_at=ago(days=9)))
    assert alone.outcome is Outcome.APPLIED
    late, early = await tablet.sends(
        tablet.change("an", contact("an", "3", titles={"t": {"name": "博士"}})),
        tablet.change("bo", None, updated_at=ago(seconds=60)),
    )
    assert (late.outcome, early.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    (older,) = await phone.sends(phone.change("an", contact("an", "4"), updated_at=ago(seconds=60)))
    assert (older.outcome, phone.numbers()) == (Outcome.SUPERSEDED, {"an": "3"})
    kinds = [(one.kind, one.lost_by) for one in await phone.conflicts()]
    assert kinds == [
        (ConflictKind.WHOLE, phone.terminal.id),
        (ConflictKind.WHOLE, phone.terminal.id),
    ]
    reasons = [(one.reason, one.terminal_id) for one in await phone.history("an", limit=2)]
    assert reasons == [
        (Reason.LOST, phone.terminal.id),
        (Reason.CURRENT, tablet.terminal.id),
        (Reason.REPLACED, phone.terminal.id),
        (Reason.REPLACED, phone.terminal.id),
    ]


@pytest.mark.claim("Y4")
async def test_what_an_entry_was_is_listed_and_can_be_restored(system: System) -> None:
    phone, tablet = await in_step(system, an="1")
    for number in "234":
        await phone.saves({"an": contact("an", number)})
    await phone.saves({"an": None})
    history = await phone.history("an", cards=True, limit=2)
    assert [(one.reason, one.deleted) for one in history] == [
        (Reason.CURRENT, True),
        *[(Reason.REPLACED, False)] * 4,
    ]
    assert [one.card and one.card["phones"]["mobile"]["number"] for one in history] == [
        None,
        *"4321",
    ]
    assert [one.name for one in history] == ["", "an", "an", "an", "an"]
    assert [one.changed_fields for one in history[1:4]] == [("phones/mobile/number",)] * 3
    assert [one.made for one in history] == [False, False, False, False, True]
    assert all(one.until and one.until > datetime.now(UTC) for one in history[1:])
    plain = await phone.history("an")
    assert [one.rev for one in plain] == [one.rev for one in history]
    assert all(one.card is None for one in plain)

    assert await phone.deleted() == [(uid_of("an"), history[1].rev)]
    rev = await restored(tablet, "an", history[2].rev)
    assert await restored(tablet, "an", rev) == rev, "what stands is restored already"
    await phone.catches_up()
    assert (phone.numbers(), phone.revs[uid_of("an")]) == ({"an": "3"}, rev)
    assert await phone.deleted() == []
    await phone.terminal.until(lambda: any(one["rev"] == rev for one in phone.pushed()))
    error = await tablet.terminal.refused(Restore(uid=uid_of("an"), rev=1))
    assert error.code is ErrorCode.NOT_FOUND


async def test_deleted_entries_are_listed_in_pages_the_newest_first(system: System) -> None:
    names = [f"c{number}" for number in range(5)]
    phone, _ = await in_step(system, **dict.fromkeys(names, "1"))
    revs = dict(phone.revs)
    for name in names:
        await phone.saves({name: None})
    expected = [(uid_of(name), revs[uid_of(name)]) for name in reversed(names)]
    assert await phone.deleted(limit=2) == expected


async def restores_book(book: Book, at: datetime) -> list[BookRestored]:
    """Restore a book, a page at a time."""
    steps: list[BookRestored] = []
    command = RestoreBook(at=at)
    while True:
        step = await book.terminal.does(command)
        assert isinstance(step, BookRestored)
        steps.append(step)
        if step.through is None:
            return steps
        command = RestoreBook(at=at, through=step.through, after=step.after)


@pytest.mark.claim("Y4")
async def test_a_whole_book_is_as_it_was_at_a_time(system: System) -> None:
    phone, tablet = await in_step(system, an="1", bo="2", chen="3", gone="4")
    await phone.saves({"gone": None})
    at = datetime.now(UTC)
    many = {f"n{number:03}": contact(f"n{number:03}", "1") for number in range(199)}
    await phone.saves(many)
    await phone.saves({"an": contact("an", "11"), "gone": contact("gone", "44")})
    await phone.saves({"an": contact("an", "12"), "bo": None})
    steps = await restores_book(tablet, at)
    assert [step.looked_at for step in steps] == [200, 2]
    assert sum(step.restored for step in steps) == 202
    await phone.catches_up()
    await tablet.catches_up()
    assert phone.numbers() == tablet.numbers() == {"an": "1", "bo": "2", "chen": "3"}
    assert [step.restored for step in await restores_book(tablet, at)] == [0, 0]
    assert (await books_of(phone.terminal))["main"]["entries"] == 3
    await restored(phone, "n000", (await phone.history("n000"))[1].rev)
    await phone.catches_up()
    assert "n000" in phone.numbers(), "what the restore deleted can be restored in turn"


async def test_a_book_is_restored_to_no_time_that_is_forgotten(system: System) -> None:
    phone, _ = await in_step(system, an="1")
    error = await phone.terminal.refused(RestoreBook(at=ago(days=31)))
    assert error.code is ErrorCode.INVALID_ARGUMENT
    assert (await restores_book(phone, ago(days=29)))[0].restored == 1
    await phone.catches_up()
    assert phone.numbers() == {}


async def test_what_is_erased_is_nowhere_any_more(system: System) -> None:
    phone, tablet = await in_step(system, an="+8613900000001", bo="2")
    earlier = tablet.change("an", contact("an", "+8613900000003"), updated_at=ago(seconds=30))
    await phone.saves({"an": contact("an", "+8613900000002")})
    await tablet.sends(earlier)
    assert len(await phone.history("an")) == 3
    assert len(await phone.conflicts()) == 1
    await phone.terminal.does(Erase(uids=(uid_of("an"), uid_of("nobody"))))

    assert await phone.conflicts() == []
    assert [(one.deleted, one.name) for one in await phone.history("an", cards=True)] == [
        (True, "")
    ]
    assert await phone.deleted() == []
    await tablet.catches_up()
    assert tablet.numbers() == {"bo": "2"}
    await tablet.terminal.until(lambda: any(one["op"] == "deleted" for one in tablet.pushed()))
    assert "+861390000000" not in stored_by(system)
    # Its revisions are known all the same, or terminals that saw them would have to begin anew.
    await phone.catches_up()
    (again,) = await phone.saves({"an": contact("an", "5")})
    assert again.outcome is Outcome.APPLIED


async def test_a_reply_that_showed_what_was_erased_is_not_given_again(system: System) -> None:
    phone, tablet = await in_step(system, an="1")
    await phone.saves({"an": contact("an", "+8613700000009")})
    asked = tablet.exchange(tablet.change("bo", contact("bo", "2")))
    exchanged = await tablet.terminal.does(asked, "asked-twice")
    assert isinstance(exchanged, Exchanged)
    assert [one.uid for one in exchanged.changes] == [uid_of("an")]
    await phone.terminal.does(Erase(uids=(uid_of("an"),)))

    assert "+8613700000009" not in stored_by(system)
    await tablet.terminal.send_command(asked, "asked-twice")
    reply = await tablet.terminal.reply_to("asked-twice", number=2)
    assert reply.error is not None
    assert (reply.error.code, reply.error.details) == (
        ErrorCode.FULL_SYNC_REQUIRED,
        {"reason": "erased"},
    )
    await phone.catches_up()
    assert phone.numbers() == {"bo": "2"}, "the command took effect once"


def stored_by(system: System) -> str:
    """All that sync_service keeps; the outbox holds what is on its way."""
    name = f"{system.database_prefix}sync_service"
    with MongoClient[dict[str, Any]](system.mongodb_url) as client:
        kept = set(client[name].list_collection_names()) - {"outbox"}
        return str([list(client[name][one].find()) for one in sorted(kept)])
