"""Phonebooks that sync come to the same, whatever breaks, and lose nothing (rows Y1 to Y6).

Three phonebooks are edited, pushed to and synced against the service's rules in any order; replies
and pushes are lost, edits fall into exchanges, tokens and whole phonebooks are lost, and the
service's database is restored from a backup.
"""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Server, Stored
from tests.unit.terminal.cards import enveloped

from contactmesh.contacts import Card, digest, write_vcards
from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import ContactUpdate
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.sync.commands import (
    BookListing,
    Exchange,
    Fetch,
    Fetched,
    History,
    ListBook,
    ListHistory,
)
from contactmesh.contracts.sync.records import BookEntry, ListedEntry, Reason, Version
from contactmesh.terminal import NoReply, Phonebook, Update
from contactmesh.terminal.book_sync import BookSync
from contactmesh.terminal.errors import refusal_of
from contactmesh.terminal.pulling import R
from sync_service.domain.documents import Limits
from sync_service.domain.listing import deletions_known_since
from sync_service.domain.times import moment

TERMINALS: Final = (PHONE, TABLET, LAPTOP)
NAMES: Final = ("an", "bo", "chen")
FIELDS: Final[dict[str, Callable[[str], Any]]] = {
    "notes": lambda mark: {"n": {"note": mark}},
    "language": lambda mark: f"x-{mark}",
    "nicknames": lambda mark: {"k": {"name": mark}},
}

Meanwhile = Callable[[], Awaitable[object]]


def new_card(name: str, uid: str) -> Card:
    return Card.model_validate(
        {"uid": uid, "name": {"full": name}, "phones": {"m": {"number": f"1-{name}"}}}
    )


class Line:
    """A terminal's way to the service: replies get lost on it, and things happen meanwhile."""

    def __init__(self, server: Server, terminal_id: str) -> None:
        self.server = server
        self._terminal_id = terminal_id
        self.lost = 0
        """How many replies from now the one is that is lost, none if 0."""
        self.meanwhile: Meanwhile | None = None
        """What happens between the next exchange and its reply."""

    async def __call__(self, command: Command, result: type[R]) -> R:
        self.server.passes()
        answer = self._answer(command)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        if self.lost:
            self.lost -= 1
            if not self.lost:
                raise NoReply(command.TYPE, "id", 1)
        assert isinstance(answer, result)
        return answer

    def _answer(self, command: Command) -> object:
        match command:
            case Exchange():
                try:
                    return self.server.exchanges(command, self._terminal_id)
                except Refusal as refusal:
                    raise refusal_of(refusal.body) from refusal
            case ListBook():
                return self._listing(command)
            case ListHistory():
                return self._history(command)
            case Fetch():
                return Fetched(entries=tuple(map(self._fetched, command.uids[:2])))
            case _:
                raise TypeError(command.TYPE)

    def _listing(self, command: ListBook) -> BookListing:
        entries = sorted(self.server.stored.entries.values(), key=lambda entry: entry.rev)
        page = [entry for entry in entries if entry.rev > (command.after or 0)][:2]
        return BookListing(
            entries=tuple(
                ListedEntry(
                    uid=entry.uid,
                    rev=entry.rev,
                    digest=entry.digest or None,
                    card=entry.card if command.cards else None,
                    erased=entry.erased,
                )
                for entry in page
            ),
            after=page[-1].rev if page and page[-1] is not entries[-1] else None,
            token=self.server.lists(),
            since=deletions_known_since(self.server.book(), self.server.now),
        )

    def _history(self, command: ListHistory) -> History:
        entries = self.server.stored.entries.values()
        revs = [entry.rev for entry in entries if entry.uid == command.uid]
        revs += [version.rev for version in self.server.history(command.uid)]
        before = [rev for rev in sorted(revs, reverse=True) if rev < (command.before or rev + 1)]
        return History(
            versions=tuple(
                Version(rev=rev, reason=Reason.REPLACED, at=moment(rev), updated_at=moment(rev))
                for rev in before[: command.limit]
            )
        )

    def _fetched(self, uid: str) -> BookEntry:
        found = [entry for entry in self.server.stored.entries.values() if entry.uid == uid]
        if not found:
            return BookEntry(uid=uid, rev=0, updated_at=moment(0))
        (entry,) = found
        return BookEntry(
            uid=uid,
            rev=entry.rev,
            updated_at=moment(entry.updated_at),
            card=entry.card,
            erased=entry.erased,
        )


@dataclass
class Away:
    """A terminal; `pushed` is how many of the service's events its queue was read for."""

    phonebook: Phonebook
    line: Line
    pushed: int = 0

    def __post_init__(self) -> None:
        self.book_sync = BookSync(self.phonebook, self.line, _ignored)

    async def parts(self) -> dict[str, Card]:
        """The owner's entries by the contact's id."""
        found = {
            one.contact_id: await self.phonebook.own_part(one.contact_id)
            for one in await self.phonebook.contacts()
        }
        return {contact_id: own for contact_id, own in found.items() if own is not None}

    async def part(self, name: str) -> tuple[str, Card] | None:
        """The first contact with a name."""
        for contact_id, own in (await self.parts()).items():
            if own.name is not None and own.name.full == name:
                return contact_id, own
        return None

    async def take_pushes(self, *, lost: bool) -> None:
        """What was pushed since the last time arrives, the latest first, or is lost."""
        server = self.line.server
        told, self.pushed = server.told[self.pushed :], len(server.told)
        updates = [
            ContactUpdate(
                scope=one.scope,
                owner_id=one.owner_id,
                uid=one.uid,
                rev=one.rev,
                op=one.op,
                card=one.card,
                erased=one.erased,
            )
            for one in told
        ]
        if not lost:
            await self.phonebook.apply([enveloped(one) for one in reversed(updates)])


def _ignored(_: Iterable[Update]) -> None:
    """Take what changed."""


@dataclass
class World:
    """Three terminals of one user, and what was done on them."""

    folder: Path
    server: Server = field(default_factory=lambda: Server(Limits(page=2)))
    away: list[Away] = field(default_factory=list)
    backup: Stored | None = None
    number: int = 0
    makers: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    writers: dict[tuple[str, str], dict[int, str]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    deleted: set[str] = field(default_factory=set)
    reinstalled: set[int] = field(default_factory=set)

    async def install(self, at: int) -> Away:
        self.number += 1
        phonebook = Phonebook(self.folder / f"{self.number}.sqlite3", "lin", "CN")
        await phonebook.__aenter__()
        return Away(phonebook, Line(self.server, TERMINALS[at]), len(self.server.told))

    async def do(self, step: tuple[Any, ...]) -> None:
        kind, at, *more = step
        await getattr(self, f"_{kind}")(at, *more)

    async def _make(self, at: int, name: str, own_uid: bool) -> None:
        if await self.away[at].part(name) is not None:
            return
        self.makers[name].add(at)
        uid = f"urn:example:{name}-{at}" if own_uid else f"urn:example:{name}"
        await self.away[at].phonebook.import_cards(b"".join(write_vcards([new_card(name, uid)])))

    async def _edit(self, at: int, name: str, what: str) -> None:
        found = await self.away[at].part(name)
        if found is None:
            return
        self.number += 1
        mark = f"m{self.number}"
        self.writers[name, what][at] = mark
        own = {**found[1].to_json(), what: FIELDS[what](mark)}
        await self.away[at].phonebook.write_own(found[0], Card.model_validate(own))

    async def _delete(self, at: int, name: str) -> None:
        found = await self.away[at].part(name)
        if found is not None:
            self.deleted.add(name)
            await self.away[at].phonebook.delete_own(found[0])

    async def _sync(self, at: int, lost: int) -> None:
        self.away[at].line.lost = lost
        with suppress(NoReply):
            await self.away[at].book_sync.sync(removals=True)
        self.away[at].line.lost = 0

    async def _under_way(self, at: int, step: tuple[Any, ...]) -> None:
        other = step[1]
        if step[0] == "sync" and other == at:
            return
        self.away[at].line.meanwhile = lambda: self.do(step)
        await self._sync(at, 0)
        self.away[at].line.meanwhile = None

    async def _push(self, at: int, lost: bool) -> None:
        await self.away[at].take_pushes(lost=lost)

    async def _lose_token(self, at: int) -> None:
        await self.away[at].phonebook.save_book_token("nothing that was given")

    async def _reinstall(self, at: int) -> None:
        self.reinstalled.add(at)
        await self.away[at].phonebook.__aexit__(None, None, None)
        self.away[at] = await self.install(at)

    async def _back_up(self, _: int) -> None:
        self.backup = self.server.stored.copy()

    async def _restore(self, _: int) -> None:
        if self.backup is not None:
            self.server.stored = self.backup.copy()

    async def all_sync(self) -> None:
        for _ in range(3):
            for at in range(len(self.away)):
                await self._sync(at, 0)

    # What has to hold then

    async def check(self) -> None:
        there = {uid: digest(Card.model_validate(one)) for uid, one in self.server.holds().items()}
        for away in self.away:
            parts = (await away.parts()).values()
            assert {one.uid: digest(one) for one in parts} == there
            count = await away.phonebook.book_count()
            assert (count.waiting, count.deleted, await away.phonebook.rejected()) == (0, 0, ())
            assert await away.phonebook.behind() == ()
        held = [Card.model_validate(one) for one in self.server.holds().values()]
        for name, makers in self.makers.items():
            if name not in self.deleted and makers - self.reinstalled:
                self._is_kept(name, [one for one in held if one.name and one.name.full == name])

    def _is_kept(self, name: str, found: list[Card]) -> None:
        """What nobody deleted is there, with the last edit of a field that one terminal wrote."""
        assert found, f"{name} is lost"
        if len(self.makers[name]) > 1:
            return
        (one,) = found
        for what, value in FIELDS.items():
            writers = self.writers[name, what]
            if len(writers) == 1 and not set(writers) & self.reinstalled:
                (mark,) = writers.values()
                assert one.to_json().get(what) == Card.model_validate(
                    {**one.to_json(), what: value(mark)}
                ).to_json().get(what), f"the edit of {what} of {name} is lost"


at = st.sampled_from(range(len(TERMINALS)))
names = st.sampled_from(NAMES)
edits = st.one_of(
    st.tuples(st.just("make"), at, names, st.booleans()),
    st.tuples(st.just("edit"), at, names, st.sampled_from(sorted(FIELDS))),
    st.tuples(st.just("delete"), at, names),
)
syncs = st.tuples(st.just("sync"), at, st.integers(0, 3))
pushes = st.tuples(st.just("push"), at, st.booleans())
losses = st.one_of(
    st.tuples(st.sampled_from(["lose_token", "reinstall", "back_up", "restore"]), at)
)
under_way = st.tuples(st.just("under_way"), at, st.one_of(edits, syncs, pushes))
steps = st.lists(
    st.one_of(edits, edits, edits, syncs, syncs, pushes, under_way, losses), max_size=30
)


@pytest.mark.claim("Y4", "Y5", "Y6")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_phonebooks_that_sync_come_to_the_same_and_lose_nothing(
    program: list[tuple[Any, ...]],
) -> None:
    async def run(folder: str) -> None:
        world = World(Path(folder))
        world.away = [await world.install(number) for number in range(len(TERMINALS))]
        try:
            for step in program:
                await world.do(step)
            await world.all_sync()
            await world.check()
        finally:
            for away in world.away:
                await away.phonebook.__aexit__(None, None, None)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))
