"""A user's book at two carriers, for benchmarks."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from tests.benchmarks.asking import Asking

from contactmesh.cli.terminal.doing import Shown, progress_of
from contactmesh.contacts import Card, digest
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.multi_sim.commands import (
    MOST_CHANGES,
    Decide,
    DecisionTaken,
    EntryList,
    ListEntries,
    Pending,
    RegisterSim,
    SetConsent,
    ShowPending,
    SimRegistered,
    Store,
    Stored,
    StoredChange,
)
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.reply import Done, Result

HERE, THERE = "cn-mobile", "cn-unicom"

ResultKind = TypeVar("ResultKind", bound=Result)


def card(number: int, version: int) -> Card:
    return Card.model_validate(
        {
            "uid": f"urn:example:{number:06d}",
            "name": {"full": f"Ada Byrne {number} 王"},
            "phones": {
                "mobile": {"number": f"+86138{number:08d}", "features": {"mobile": True}},
                "home": {"number": f"+8621{version:08d}"},
            },
            "emails": {"work": {"address": f"a{number}@example.com"}},
            "organizations": {"org": {"name": "示例公司"}},
        }
    )


@dataclass
class Book:
    """A user with a book of so many contacts, a phone with one SIM and a tablet with the other."""

    user_id: str
    size: int
    asking: Asking
    versions: list[int] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """What both carriers are to hold, by uid."""
    one: str = ""
    two: str = ""
    told: list[int] = field(default_factory=list)
    """How many contacts waited, each time that the tablet was told."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def phone(self) -> str:
        return f"{self.user_id}_aaaaaaaa"

    @property
    def tablet(self) -> str:
        return f"{self.user_id}_bbbbbbbb"

    def pushed(self, envelope: Envelope) -> None:
        if envelope.data.get("uid") == self.two:
            self.told.append(int(envelope.data["waiting"]))
            self._news.set()

    async def until_told(self, times: int) -> None:
        """Wait until the tablet was told so often."""
        async with asyncio.timeout(900):
            while len(self.told) < times:
                self._news.clear()
                await self._news.wait()

    async def does(self, terminal_id: str, command: Command, kind: type[ResultKind]) -> ResultKind:
        (reply,) = await self.asking.ask([(terminal_id, command)])
        return kind.model_validate(reply.result)

    async def register(self) -> None:
        """Make both accounts with their SIMs, and agree."""
        sim_ids: list[str] = []
        for number, (carrier_id, terminal_id) in enumerate(
            ((HERE, self.phone), (THERE, self.tablet))
        ):
            command = RegisterSim(carrier_id=carrier_id, iccid=f"8986{number:016d}", name="SIM")
            sim_ids.append((await self.does(terminal_id, command, SimRegistered)).sim_id)
        self.one, self.two = sim_ids
        await self.does(self.phone, SetConsent(carrier_id=THERE, consent=True), Done)

    async def store_all(self) -> tuple[float, float]:
        """Seconds until all contacts are answered, and until they wait for the other SIM."""
        start = time.perf_counter()
        self.versions = [0] * self.size
        with self._progress("stores") as shown:
            for first in range(0, self.size, MOST_CHANGES):
                upto = min(first + MOST_CHANGES, self.size)
                await self.store(range(first, upto))
                shown(upto, self.size)
        stored = time.perf_counter() - start
        await self.until_told(-(-self.size // MOST_CHANGES))
        return stored, time.perf_counter() - start

    async def store(self, numbers: Iterable[int]) -> None:
        """Store contacts as they are now."""
        cards = [card(number, self.versions[number]) for number in numbers]
        # Page by page: the digests of a whole book at once would keep the connection from its
        # heartbeats.
        self.digests |= {one.uid: digest(one) for one in cards}
        changes = tuple(StoredChange(uid=one.uid, card=one) for one in cards)
        command = Store(sim_id=self.one, space=SpaceKind.SHARED, changes=changes)
        stored = await self.does(self.phone, command, Stored)
        if stored.written != len(changes):
            raise SystemExit(f"{stored.written} of {len(changes)} contacts were written")

    async def settle(self) -> None:
        """Accept all that waits, as the tablet."""
        waiting = 1
        with self._progress("accepts") as shown:
            while waiting:
                look = ShowPending(sim_id=self.two, limit=1)
                rev = (await self.does(self.tablet, look, Pending)).pending_rev
                command = Decide(sim_id=self.two, pending_rev=rev, accept=True)
                waiting = (await self.does(self.tablet, command, DecisionTaken)).waiting
                shown(self.size - waiting, self.size)

    async def change(self, number: int) -> float:
        """Seconds from one change to the other terminal's notice."""
        self.versions[number] += 1
        told = len(self.told)
        start = time.perf_counter()
        await self.store([number])
        await self.until_told(told + 1)
        return time.perf_counter() - start

    async def check(self) -> None:
        """Both carriers hold all contacts as they were stored last, and nothing else."""
        for carrier_id in (HERE, THERE):
            with self._progress(f"compares {carrier_id}") as shown:
                held = await self._held(carrier_id, shown)
            if held != self.digests:
                raise SystemExit(f"{carrier_id} holds {len(held)} contacts, and not as stored")

    def _progress(self, doing: str) -> AbstractContextManager[Shown]:
        return progress_of(f"{self.user_id} book: {doing}", "The benchmark was stopped.")

    async def _held(self, carrier_id: str, shown: Shown) -> dict[str, str]:
        """What a carrier's account holds: digests by uid."""
        held: dict[str, str] = {}
        after: int | None = 0
        while after is not None:
            command = ListEntries(carrier_id=carrier_id, space=SpaceKind.SHARED, after=after)
            page = await self.does(self.phone, command, EntryList)
            held |= {entry.uid: entry.digest for entry in page.entries}
            shown(len(held), self.size)
            after = page.after
        return held
