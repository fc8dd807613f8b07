"""Users of a system of this run's own, who sync books of many contacts."""

import io
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.backends import running_backends
from tests.benchmarks.books import contact, home_number, one_file, uid
from tests.benchmarks.steps import Steps
from tests.e2e.town import Town
from tests.wire import running_system

from contactmesh.contacts import Card, digest
from contactmesh.contracts.sync.commands import BookListing, Fetch, Fetched, ListBook
from contactmesh.terminal import Terminal
from contactmesh.terminal.progress import Progress

ROUNDS = 9


@dataclass(frozen=True)
class Figures:
    """Seconds of a book: the first upload of all of it, and one change (the median)."""

    contacts: int
    upload: float
    one_change: float


@dataclass(frozen=True)
class Growth:
    """One change in a small book and in a large one, measured by turns."""

    small: Figures
    large: Figures

    @property
    def ratio(self) -> float:
        return self.large.one_change / self.small.one_change


@dataclass
class User:
    """A terminal with so many contacts, which are numbered from 0."""

    terminal: Terminal
    contacts: int
    first: str = ""

    async def import_contacts(self) -> None:
        imported = await self.terminal.import_cards(io.BytesIO(one_file(self.contacts)))
        assert not imported.damages, imported.damages
        (self.first,) = [
            one.contact_id for one in await self.terminal.contacts() if one.card.uid == uid(0)
        ]

    async def upload(self, progress: Progress | None = None) -> float:
        """Seconds of the first sync."""
        start = time.perf_counter()
        outcome = await self.terminal.sync(progress=progress)
        seconds = time.perf_counter() - start
        assert outcome.sent == self.contacts, outcome
        expected = {uid(number): digest(contact(number)) for number in range(self.contacts)}
        if await self.on_the_server() != expected:
            raise SystemExit("the server does not hold what the terminal does")
        return seconds

    async def one_change(self, turn: int) -> float:
        """Seconds of a sync after one contact was changed."""
        changed = contact(0, home=home_number(turn))
        await self.terminal.write_own(self.first, changed)
        start = time.perf_counter()
        outcome = await self.terminal.sync()
        seconds = time.perf_counter() - start
        assert outcome.sent == 1, outcome
        fetched = await self.terminal.request(Fetch(uids=(uid(0),)))
        assert isinstance(fetched, Fetched)
        (entry,) = fetched.entries
        if digest(Card.model_validate(entry.card)) != digest(changed):
            raise SystemExit("the server has not got the change")
        return seconds

    async def on_the_server(self) -> dict[str, str | None]:
        """What the book holds there: digests by uid."""
        found: dict[str, str | None] = {}
        after: int | None = None
        while True:
            page = await self.terminal.request(ListBook(after=after))
            assert isinstance(page, BookListing)
            found |= {entry.uid: entry.digest for entry in page.entries}
            after = page.after
            if after is None:
                return found


class Users:
    """Those who can come to a system."""

    def __init__(self, town: Town, steps: Steps) -> None:
        self._town = town
        self._steps = steps

    @classmethod
    @asynccontextmanager
    async def of_a_new_system(cls, folder: Path, steps: Steps) -> AsyncIterator["Users"]:
        """Run broker, database and every service while the block runs."""
        async with (
            running_backends(folder / "backends") as backends,
            running_system(backends, folder) as system,
            AsyncExitStack() as running,
        ):
            yield cls(Town(system, folder / "terminals", running), steps)

    async def measure(self, contacts: int) -> Figures:
        """The first upload of a new user, and then single changes."""
        self._steps.begin(f"ContactMesh, {contacts:,} contacts")
        user = await self._comes(contacts)
        upload = await user.upload(self._steps.contacts)
        changes = [await user.one_change(turn) for turn in range(ROUNDS)]
        return Figures(contacts, upload, statistics.median(changes))

    async def growth(self, small: int, large: int) -> Growth:
        """Single changes in books of two sizes."""
        self._steps.begin(f"one change in {small:,} and in {large:,} contacts")
        users = [await self._comes(contacts) for contacts in (small, large)]
        uploads = [await user.upload(self._steps.contacts) for user in users]
        turns = [[await user.one_change(turn) for user in users] for turn in range(ROUNDS)]
        changes = [statistics.median(each) for each in zip(*turns, strict=True)]
        return Growth(
            Figures(small, uploads[0], changes[0]), Figures(large, uploads[1], changes[1])
        )

    async def _comes(self, contacts: int) -> User:
        user = User(await self._town.person("bench"), contacts)
        await user.import_contacts()
        return user
