"""How long vdirsyncer takes with each of the servers."""

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.books import contact, home_number, uid, vcard, write_folder
from tests.benchmarks.peers.client import Client
from tests.benchmarks.peers.servers import Server, serving

ROUNDS = 3


@dataclass(frozen=True)
class PeerFigures:
    """Seconds of one server; the median of three, but for the upload.

    Attributes:
        empty: a sync of an empty folder with an empty book: what it costs to start at all.
        upload: the first upload of all contacts.
        one_change: a sync after one contact was changed in the folder.
    """

    server: str
    contacts: int
    empty: float
    upload: float
    one_change: float

    @property
    def upload_alone(self) -> float:
        return self.upload - self.empty

    @property
    def one_change_alone(self) -> float:
        return self.one_change - self.empty


async def measure(name: str, count: int) -> PeerFigures:
    """One server, with its data and the client's in a folder that is removed after."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for part in ("server", "client"):
            (place / part).mkdir()
        async with serving(name, place / "server") as server:
            client = await Client.set_up(place / "client", server.book)
            empty = statistics.median([await client.sync() for _ in range(ROUNDS)])
            write_folder(client.contacts, count)
            upload = await client.sync()
            await _holds(server, count)
            changed = client.contacts / f"{uid(0)}.vcf"
            one_change = []
            for turn in range(ROUNDS):
                changed.write_bytes(vcard(contact(0, home=home_number(turn))))
                one_change.append(await client.sync())
                await _holds(server, count, home_number(turn))
            return PeerFigures(name, count, empty, upload, statistics.median(one_change))


async def _holds(server: Server, count: int, number: str | None = None) -> None:
    """The server has every contact, and the first of them has the number."""
    hrefs = await server.hrefs()
    if len(hrefs) != count:
        raise SystemExit(f"{server.name} holds {len(hrefs)} contacts, expected {count}")
    if number is not None:
        (first,) = (href for href in hrefs if uid(0) in href)
        if number not in await server.card(first):
            raise SystemExit(f"{server.name} has not got the change")
