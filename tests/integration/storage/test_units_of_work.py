"""A unit of work on the real database: all or nothing, guarded, once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from pymongo import monitoring

from contactmesh.messaging.message import Outgoing
from contactmesh.runtime.commands import on_fresh_state
from contactmesh.runtime.process import PING_SECONDS, DatabaseCheck
from contactmesh.storage.database import Database
from contactmesh.storage.errors import Contended, DatabaseUnavailable, StaleState
from contactmesh.storage.inbox import InboxEntry
from contactmesh.storage.outbox import LEASE, MongoOutbox
from contactmesh.storage.transaction import Addition, Write
from contactmesh.storage.unit_of_work import UnitOfWork

NOW = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)


@pytest_asyncio.fixture
async def database(database_url: str, database_prefix: str) -> AsyncIterator[Database]:
    async with Database(database_url, f"{database_prefix}storage") as opened:
        yield opened


@pytest_asyncio.fixture
async def unit_of_work(database: Database) -> UnitOfWork:
    unit_of_work = UnitOfWork(database)
    await unit_of_work.prepare()
    return unit_of_work


def _message(number: int = 1) -> Outgoing:
    return Outgoing("contactmesh.events", "key", b"{}", f"m{number}", "test.event", NOW)


async def _commit(
    unit_of_work: UnitOfWork,
    *writes: Write | Addition,
    handled: tuple[str, ...] = (),
    messages: int = 0,
) -> None:
    await unit_of_work.commit(
        writes=writes,
        handled=[InboxEntry(id_, b"reply", NOW) for id_ in handled],
        messages=[_message(number) for number in range(messages)],
        now=NOW,
    )


async def _all(database: Database) -> dict[str, int]:
    return {
        name: len(await database.collection(name).find({}))
        for name in ("things", "inbox", "outbox")
    }


async def test_documents_inbox_and_outbox_are_committed_together(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    await _commit(
        unit_of_work,
        Write("things", "a", {"etag": 1, "name": "林"}, guard=0),
        handled=("t/1", "t/2"),
        messages=3,
    )
    assert await _all(database) == {"things": 1, "inbox": 2, "outbox": 3}
    assert await unit_of_work.inbox.replies(["t/1", "t/9"]) == {"t/1": b"reply"}


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (Write("things", "a", {"etag": 2}, guard=0), "it is there already"),
        (Write("things", "a", {"etag": 2}, guard=7), "it has another etag"),
        (Write("things", "b", {"etag": 2}, guard=1), "it is not there"),
    ],
)
async def test_a_guard_that_does_not_hold_undoes_the_whole_unit(
    database: Database, unit_of_work: UnitOfWork, write: Write, why: str
) -> None:
    await _commit(unit_of_work, Write("things", "a", {"etag": 1}, guard=0))
    with pytest.raises(StaleState):
        await _commit(
            unit_of_work, Write("others", "x", {"n": 1}), write, handled=("t/1",), messages=1
        )
    assert await _all(database) == {"things": 1, "inbox": 0, "outbox": 0}, why
    assert await database.collection("others").find({}) == []
    assert await database.collection("things").get("a") == {"_id": "a", "etag": 1}


async def test_a_guard_that_holds_lets_the_next_state_in(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    await _commit(unit_of_work, Write("things", "a", {"etag": 1, "n": 1}, guard=0))
    await _commit(unit_of_work, Write("things", "a", {"etag": 2, "n": 2}, guard=1))
    assert await database.collection("things").get("a") == {"_id": "a", "etag": 2, "n": 2}
    await _commit(unit_of_work, Write("things", "a", None), Write("things", "b", None))
    assert await database.collection("things").get("a") is None


async def test_a_message_is_handled_once(database: Database, unit_of_work: UnitOfWork) -> None:
    await _commit(unit_of_work, handled=("t/1",))
    with pytest.raises(StaleState):
        await _commit(unit_of_work, Write("things", "a", {"n": 1}), handled=("t/2", "t/1"))
    assert await _all(database) == {"things": 0, "inbox": 1, "outbox": 0}


async def test_of_many_units_on_one_document_each_that_commits_had_the_state_of_the_last(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    await _commit(unit_of_work, Write("things", "a", {"etag": 1}, guard=0))

    async def add() -> int:
        stale = 0
        while True:
            document = await database.collection("things").get("a")
            assert document is not None
            etag = document["etag"]
            try:
                await _commit(unit_of_work, Write("things", "a", {"etag": etag + 1}, guard=etag))
            except StaleState:
                stale += 1
                continue
            return stale

    async with asyncio.timeout(60):
        await asyncio.gather(*(add() for _ in range(8)))
    assert await database.collection("things").get("a") == {"_id": "a", "etag": 9}


async def test_an_error_within_a_transaction_undoes_it(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as transaction:
            await transaction.write([Write("things", "a", {"n": 1})])
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    assert await database.collection("things").find({}) == []


async def test_what_a_transaction_holds_that_does_not_end_is_waited_for_and_no_fault(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was killed within a transaction leaves it open for up to a minute."""
    monkeypatch.setattr("contactmesh.runtime.commands.MOST_ATTEMPTS", 3)
    attempts = 0

    new = Write("things", "a", {"etag": 1}, guard=0)

    async def unit() -> None:
        nonlocal attempts
        attempts += 1
        async with database.transaction() as transaction:
            await transaction.write([new])

    async with database.transaction() as holding:
        await holding.write([new])
        with pytest.raises(Contended):
            await unit()
        attempts = 0
        with pytest.raises(DatabaseUnavailable):
            await on_fresh_state(unit)
        assert attempts == 3
    with pytest.raises(StaleState):
        await on_fresh_state(unit)


async def test_an_outbox_entry_is_taken_over_when_its_lease_has_ended_and_by_one_alone(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    now = datetime.now(UTC)
    async with database.transaction() as transaction:
        await unit_of_work.outbox.add(
            transaction, [_message(1)], now - LEASE - timedelta(seconds=1)
        )
        await unit_of_work.outbox.add(transaction, [_message(2)], now)
    others = [MongoOutbox(database) for _ in range(4)]
    taken = await asyncio.gather(*(other.take_over(100) for other in others))
    messages = [entry.message for entries in taken for entry in entries]
    assert messages == [_message(1)], "the lease of the second is its owner's still"
    assert await others[0].take_over(100) == []


async def test_an_outbox_is_taken_over_in_order_and_in_portions(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    async with database.transaction() as transaction:
        messages = [_message(number) for number in range(5)]
        await unit_of_work.outbox.add(transaction, messages, long_ago)
    other = MongoOutbox(database)
    portions = [await other.take_over(3), await other.take_over(3), await other.take_over(3)]
    ids = [[entry.message.message_id for entry in portion] for portion in portions]
    assert ids == [["m0", "m1", "m2"], ["m3", "m4"], []]
    assert await other.oldest_age_seconds() >= 3600
    await other.delete([entry.id for portion in portions for entry in portion])
    assert await other.oldest_age_seconds() == 0


class Commits(monitoring.CommandListener):
    """The commits and the first statements of transactions, as they go to the server."""

    def __init__(self) -> None:
        self.commits: list[object] = []
        self.reads: list[object] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command_name == "commitTransaction":
            self.commits.append(event.command.get("writeConcern"))
        elif event.command.get("startTransaction"):
            self.reads.append(event.command.get("readConcern", {}).get("level"))

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


async def test_a_transaction_is_on_disk_at_the_majority_whatever_the_address_says(
    database_url: str, database_prefix: str
) -> None:
    seen = Commits()
    monitoring.register(seen)
    async with (
        Database(database_url, f"{database_prefix}storage") as database,
        database.transaction() as transaction,
    ):
        await transaction.write([Write("things", "a", {"n": 1}, guard=0)])
    assert seen.commits == [{"w": "majority", "j": True}]
    assert seen.reads == ["majority"]


async def test_the_oldest_entry_is_the_first_written_whoever_tried_it_last(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    now = datetime.now(UTC)
    async with database.transaction() as transaction:
        await unit_of_work.outbox.add(transaction, [_message(1)], now - timedelta(hours=2))
    async with database.transaction() as transaction:
        await unit_of_work.outbox.add(transaction, [_message(2)], now - timedelta(hours=1))
    other = MongoOutbox(database)
    (first,) = await other.take_over(1)
    assert first.message == _message(1)
    assert await other.oldest_age_seconds() >= 7_200, "its lease is the younger one now"


@pytest.mark.parametrize(
    "more", [{"persistent": False}, {"bcc": ("user.a",)}, {"headers": {"x": "y"}}]
)
async def test_the_outbox_takes_nothing_that_it_would_give_back_otherwise(
    unit_of_work: UnitOfWork, more: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="plain events"):
        await unit_of_work.commit(
            writes=[], handled=[], messages=[replace(_message(), **more)], now=NOW
        )


async def test_a_database_that_is_away_is_told_as_that_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contactmesh.storage.database.SELECTION_MS", 100)
    async with Database("mongodb://127.0.0.1:1/?directConnection=true", "nothing") as database:
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.ping()
        assert "127.0.0.1" not in str(caught.value)
        with pytest.raises(DatabaseUnavailable):
            async with database.transaction() as transaction:
                await transaction.write([Write("things", "a", {"n": 1})])


async def test_whether_the_database_answers_is_known_soon_even_if_it_does_not(
    database: Database,
) -> None:
    assert await DatabaseCheck(database).answers()
    async with Database("mongodb://127.0.0.1:1/?directConnection=true", "nothing") as away:
        check = DatabaseCheck(away)
        async with asyncio.timeout(PING_SECONDS + 2):  # it is looked for much longer
            assert await asyncio.gather(*(check.answers() for _ in range(20))) == [False] * 20


def _added(id_: str, count: int, at: datetime) -> Addition:
    change = {"$setOnInsert": {"first": at}, "$max": {"last": at}, "$inc": {"count": count}}
    return Addition("things", id_, change)


async def test_what_several_add_at_once_is_all_there_and_once(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    """Additions need nothing to be loaded: one that was refused with its batch is tried again."""

    async def add(number: int) -> None:
        at = NOW + timedelta(seconds=number)
        additions = [_added("shared", 2, at), _added(f"own {number}", 1, at)]

        async def unit() -> None:
            if not await unit_of_work.inbox.replies([f"c{number}"]):
                await _commit(unit_of_work, *additions, handled=(f"c{number}",))

        await on_fresh_state(unit)
        await on_fresh_state(unit)

    await asyncio.gather(*(add(number) for number in range(12)))
    things = {one["_id"]: one for one in await database.collection("things").find({})}
    assert things["shared"]["count"] == 24
    assert things["shared"]["last"] == NOW + timedelta(seconds=11)
    assert {things[f"own {number}"]["count"] for number in range(12)} == {1}
    assert len(things) == 13


async def test_what_is_added_goes_with_a_transaction_whose_guard_does_not_hold(
    database: Database, unit_of_work: UnitOfWork
) -> None:
    await _commit(unit_of_work, Write("things", "a", {"etag": 1}, guard=0))
    with pytest.raises(StaleState):
        await _commit(
            unit_of_work,
            _added("b", 1, NOW),
            Write("things", "a", {"etag": 5}, guard=4),
        )
    assert await database.collection("things").get("b") is None
