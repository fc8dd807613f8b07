"""Two copies of the service work at the same books at once (rows Y3, Y4).

While one copy handles a command, the other handles another one completely: before the first read
of the first, before its second, and so on until just before its commit. Whatever the moment,
replies, stored state and what is told must be those of the one after the other, in one of the two
orders.
"""

import itertools
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from tests.integration.group_service.copies import HookedDatabase, Interruption
from tests.integration.sync_service.books import contact, uid_of
from tests.integration.sync_service.copies import SyncCopy

from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import Operation
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.reply import Reply
from contactmesh.contracts.sync.commands import (
    Erase,
    Exchange,
    ListBook,
    ListConflicts,
    Restore,
    RestoreBook,
    SetOwnCard,
    SetPolicy,
    Settle,
)
from contactmesh.contracts.sync.records import Change, Policy
from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Document
from sync_service.domain.documents import Limits

pytestmark = [pytest.mark.claim("Y3"), pytest.mark.claim("Y4")]

LIMITS = Limits(books=3, entries=5, page=2)
"""One book more, and one entry in `main`: of two that want it, one gets it."""


@dataclass
class Place:
    """A phone and a tablet in step with the book `main`, in which one conflict waits."""

    user_id: str
    tokens: dict[str, str] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    conflict_id: str = ""
    was: int = 0
    """The revision of a version of `an` that was."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Before `bo` was made."""

    @property
    def phone(self) -> str:
        return f"{self.user_id}_aaaaaaaa"

    @property
    def tablet(self) -> str:
        return f"{self.user_id}_bbbbbbbb"


Asked = Callable[[Place], tuple[str, Command]]


def _exchange(
    place: Place, terminal: str, *changes: tuple[str, str | None, int], book: str = "main"
) -> tuple[str, Command]:
    """An exchange of changes, each with a number and when it was made, in seconds before now."""
    now = datetime.now(UTC)
    key = f"{book}/{terminal}"
    return terminal, Exchange(
        book=book,
        token=place.tokens.get(key),
        sent_at=now,
        changes=tuple(
            Change(
                uid=uid_of(name),
                op=Operation.DELETED if number is None else Operation.MODIFIED,
                base_rev=place.revs.get(f"{book}/{name}"),
                updated_at=now - timedelta(seconds=ago),
                card=None if number is None else contact(name, number),
            )
            for name, number, ago in changes
        ),
    )


def _of(terminal: str, *changes: tuple[str, str | None, int], book: str = "main") -> Asked:
    return lambda place: _exchange(place, getattr(place, terminal), *changes, book=book)


ASKED: dict[str, Asked] = {
    "the phone edits": _of("phone", ("an", "5", 9), ("bo", "5", 9)),
    "the tablet edits": _of("tablet", ("an", "6", 3), ("bo", "6", 30)),
    "the phone deletes": _of("phone", ("an", None, 3)),
    "the phone adds the last": _of("phone", ("eve", "1", 3)),
    "the tablet adds one more": _of("tablet", ("fay", "1", 3)),
    "the tablet exchanges nothing": _of("tablet"),
    "the phone makes a book": _of("phone", ("me", "1", 3), book="third"),
    "the tablet makes another": _of("tablet", ("me", "2", 3), book="fourth"),
    "the tablet makes the same": _of("tablet", ("me", "2", 3), book="third"),
    "a version is restored": lambda place: (
        place.tablet,
        Restore(uid=uid_of("an"), rev=place.was),
    ),
    "the book is restored": lambda place: (place.tablet, RestoreBook(at=place.at)),
    "the conflict is settled": lambda place: (
        place.phone,
        Settle(conflict_id=place.conflict_id, take_lost=True),
    ),
    "the entry is erased": lambda place: (place.phone, Erase(uids=(uid_of("an"),))),
    "the own card is chosen": lambda place: (place.phone, SetOwnCard(uid=uid_of("bo"))),
    "another own card is chosen": lambda place: (
        place.tablet,
        SetOwnCard(book="work", uid=uid_of("me")),
    ),
    "the policy is set": lambda place: (place.tablet, SetPolicy(policy=Policy.LATEST_WINS)),
}

TELLING = [
    ("the phone edits", "the tablet edits"),
    ("the tablet edits", "the phone deletes"),
    ("the tablet exchanges nothing", "the phone edits"),
    ("the phone adds the last", "the tablet adds one more"),
    ("the phone makes a book", "the tablet makes another"),
    ("the phone makes a book", "the tablet makes the same"),
    ("the tablet edits", "the policy is set"),
    ("the book is restored", "the phone edits"),
    ("the conflict is settled", "a version is restored"),
    ("a version is restored", "the entry is erased"),
    ("the entry is erased", "the tablet edits"),
    ("the own card is chosen", "another own card is chosen"),
    ("the own card is chosen", "the phone edits"),
]
"""Pairs of which the second takes away what the first is based on."""

PAIRS = (
    [pytest.param(*pair, marks=pytest.mark.long) for pair in itertools.product(ASKED, ASKED)]
    if os.environ.get("CONTACTMESH_LONG_TESTS")
    else TELLING
)


@dataclass
class House:
    """One database and two copies, the first of which can be interrupted."""

    database: Database
    first: SyncCopy
    second: SyncCopy
    interruption: Interruption

    async def place(self) -> Place:
        """New books in their state of departure."""
        place = Place(f"lin-{secrets.token_hex(4)}")
        await self.sends(place, place.phone, ("an", "1", 90), ("chen", "1", 90))
        place.was = place.revs["main/an"]
        await self.sends(place, place.phone, ("me", "1", 90), book="work")
        await self.lists(place, place.tablet)
        tablet = _exchange(place, place.tablet, ("an", "3", 80), ("chen", None, 80))
        await self.sends(place, place.phone, ("an", "2", 70))
        place.at = datetime.now(UTC)
        await self.sends(place, place.phone, ("bo", "1", 60), ("dai", "1", 60))
        await self.second.does(*tablet)
        reply = await self.second.does(place.phone, ListConflicts())
        assert reply.result is not None
        (conflict,) = reply.result["conflicts"]
        place.conflict_id = conflict["conflict_id"]
        for terminal in (place.phone, place.tablet):
            await self.lists(place, terminal)
        return place

    async def reads_of(self, copy: SyncCopy, asked: tuple[str, Command]) -> int:
        """How often a copy reads for a command that is granted."""
        before = self.interruption.count
        reply = await copy.does(*asked)
        assert reply.error is None, reply.error
        return self.interruption.count - before

    async def sends(
        self, place: Place, terminal: str, *changes: tuple[str, str | None, int], book: str = "main"
    ) -> None:
        """Let a terminal exchange changes, and have what it did and got."""
        reply = await self.second.does(*_exchange(place, terminal, *changes, book=book))
        assert reply.result is not None, reply.error
        place.tokens[f"{book}/{terminal}"] = reply.result["token"]
        for (name, _, _), result in zip(changes, reply.result["results"], strict=True):
            place.revs[f"{book}/{name}"] = result["rev"]

    async def lists(self, place: Place, terminal: str) -> None:
        """Let a terminal be in step with what a listing says."""
        reply = await self.second.does(terminal, ListBook())
        assert reply.result is not None
        place.tokens[f"main/{terminal}"] = reply.result["token"]
        for entry in reply.result["entries"]:
            place.revs["main/" + entry["uid"].removeprefix(uid_of(""))] = entry["rev"]

    async def listed(self, copy: SyncCopy, place: Place) -> dict[str, int]:
        """What a listing by small pages tells: revisions by uid, as they came last."""
        found: dict[str, int] = {}
        after: int | None = None
        while True:
            reply = await copy.does(place.phone, ListBook(after=after, limit=2))
            assert reply.result is not None
            found |= {one["uid"]: one["rev"] for one in reply.result["entries"]}
            after = reply.result.get("after")
            if after is None:
                return found

    async def asks(self, copy: SyncCopy, place: Place, name: str) -> str:
        """Let a copy handle a command: what it answers, less what is by chance."""
        return _answer(await copy.does(*ASKED[name](place)))

    async def picture(self, place: Place) -> str:
        """All that is stored and told about a place, less what is by chance."""
        find = self.database.collection
        books = await find("books").find({"user_id": place.user_id}, sort=[("_id", 1)])
        owners = {"owner": {"$in": [book["_id"] for book in books]}}
        kept = {
            name: await find(name).find(owners) for name in ("entries", "versions", "conflicts")
        }
        revs = [(one["owner"], one["rev"]) for one in kept["entries"] + kept["versions"]]
        assert len(revs) == len(set(revs)), "a revision names one version of one entry"
        for book in books:
            live = [one for one in kept["entries"] if one["owner"] == book["_id"] and one["digest"]]
            assert book["entries"] == len(live)
            assert book["rev"] >= max(rev for owner, rev in revs if owner == book["_id"])
        told = [
            event.model_dump()
            for one in await find("outbox").find({})
            for event in Envelope.decode_all(one["body"])
        ]
        picture = {
            "books": [_some(one, "_id", "policy", "entries", "own_card_uid") for one in books],
            "entries": _sorted(kept["entries"], "owner", "uid", "digest", "by"),
            "versions": _sorted(kept["versions"], "owner", "uid", "digest", "by", "reason"),
            "conflicts": _sorted(
                kept["conflicts"], "owner", "uid", "kind", "path", "kept", "lost", "lost_by"
            ),
            "told": _sorted(
                [one["data"] for one in told if one["subject"] == place.user_id],
                "book",
                "uid",
                "op",
                "card",
                "own_card",
            ),
        }
        return json.dumps(picture, indent=1).replace(place.user_id, "lin")


def _some(document: Document, *names: str) -> dict[str, Any]:
    return {name: document.get(name) for name in names}


def _sorted(documents: list[Document], *names: str) -> list[dict[str, Any]]:
    return sorted((_some(one, *names) for one in documents), key=str)


def _answer(reply: Reply) -> str:
    if reply.error is not None:
        return reply.error.code.value
    result = reply.result or {}
    outcomes = [(one["uid"], one["outcome"], one.get("code")) for one in result.get("results", ())]
    given = sorted((one["uid"], str(one.get("card"))) for one in result.get("changes", ()))
    counts = [result.get(name) for name in ("restored", "looked_at", "has_more")]
    return json.dumps([outcomes, given, counts])


@pytest_asyncio.fixture
async def house(database_url: str, database_prefix: str) -> AsyncIterator[House]:
    name = f"{database_prefix}sync_service"
    interruption = Interruption()
    async with (
        Database(database_url, name) as database,
        HookedDatabase(database_url, name, interruption) as hooked,
    ):
        first = SyncCopy(hooked, LIMITS, before_commit=interruption.now)
        await first.unit_of_work.prepare()
        await first.reading.prepare()
        yield House(database, first, SyncCopy(database, LIMITS), interruption)


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_two_at_once_are_one_after_the_other(house: House, one: str, other: str) -> None:
    possible = []
    for one_first in (True, False):
        place = await house.place()
        answers = {}
        for is_one in (one_first, not one_first):
            answers[is_one] = await house.asks(house.second, place, one if is_one else other)
        possible.append((answers[True], answers[False], await house.picture(place)))

    at, reads = 1, 1
    while at <= reads + 1:
        place = await house.place()
        answered: list[str] = []

        async def interrupt(place: Place = place, answered: list[str] = answered) -> None:
            answered.append(await house.asks(house.second, place, other))

        house.interruption.set(interrupt, at=at)
        answer = await house.asks(house.first, place, one)
        reads = house.interruption.count
        await house.interruption.now()
        result = (answer, *answered, await house.picture(place))
        assert result in possible, f"{other}, before read {at} of {one}"
        at += 1


async def test_who_is_in_step_stays_so_behind_another_command_of_the_batch(house: House) -> None:
    place = await house.place()
    replies = await house.second.would_answer(
        ASKED["the phone edits"](place), ASKED["the tablet edits"](place)
    )
    assert [reply.error for reply in replies] == [None, None]


async def test_the_reads_of_an_exchange_do_not_grow_with_it(house: House) -> None:
    copy = SyncCopy(house.first.database)
    house = House(house.database, copy, SyncCopy(house.database), house.interruption)
    reads: dict[int, list[int]] = {}
    for number in (1, 60):
        place = Place(f"lin-{secrets.token_hex(4)}")
        names = [f"c{one:02}" for one in range(number)]
        await house.sends(place, place.phone, *((name, "1", 90) for name in names))
        await house.lists(place, place.tablet)
        quiet = await house.reads_of(copy, _exchange(place, place.tablet))
        overtaken = _exchange(place, place.tablet, *((name, "2", 80) for name in names))
        await house.sends(place, place.phone, *((name, "3", 70) for name in names))
        reads[number] = [quiet, await house.reads_of(copy, overtaken)]
    # One for the books; then what is known of the revision, twice, what is named and what follows,
    # what the terminal sent before, and the versions that all of it was made from. The page takes
    # as many windows as there is time in it: no more than these for a day.
    for quiet, met in reads.values():
        assert quiet == 1
        assert 6 < met <= 6 + 11


async def test_a_listing_misses_nothing_that_moves_while_it_is_read(house: House) -> None:
    at, reads = 1, 1
    while at <= reads:
        place = await house.place()
        before = await house.listed(house.second, place)

        async def interrupt(place: Place = place) -> None:
            # The last one becomes the last once more, and one that was listed comes again.
            await house.sends(place, place.phone, ("an", "7", 1), ("dai", "7", 1))

        house.interruption.set(interrupt, at=at)
        during = await house.listed(house.first, place)
        reads = house.interruption.count
        await house.interruption.now()
        after = await house.listed(house.second, place)
        assert before.keys() == during.keys() == after.keys(), f"before read {at}"
        assert all(during[uid] in (before[uid], after[uid]) for uid in during)
        at += 1
    assert reads > 3
