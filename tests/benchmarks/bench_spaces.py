"""How fast a book is stored and comes to the user's other carrier, and what one change of it costs.

Run as `python -m tests.benchmarks.bench_spaces [--json]`. A user has a SIM at each of two carriers,
and the other carrier agrees. Everything that was stored is checked, contact by contact.

- storing: the book in pages of 200, each sent after the reply to the one before, until all of it is
  answered, and until the last of it waits for the SIM of the other carrier;
- one change: one contact is stored anew, until the other SIM's terminal is told of it, in a small
  space and in a large one by turns; and what the service and the database work for it, at both
  carriers, by their processor times over bursts of changes. Figures are medians.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import aio_pika
from rich.console import Console
from rich.table import Table
from tests.benchmarks.asking import Asking
from tests.benchmarks.sim_books import Book

from contactmesh.contracts.envelope import Envelope
from contactmesh.local.stack import Stack, StackSettings
from contactmesh.messaging.publisher import Publisher

SERVICE = "multi_sim_replication_service"
BURST = 10
"""How many changes one figure of work is measured over: a clock tick is 10 ms."""


@dataclass(frozen=True)
class Figures:
    """Contacts a second; milliseconds for one change in a space of so many contacts."""

    small: int
    large: int
    stored_per_second: float
    arrived_per_second: float
    notice_ms_small: float
    notice_ms_large: float
    work_ms_small: float
    work_ms_large: float

    @property
    def notice_ratio(self) -> float:
        return self.notice_ms_large / self.notice_ms_small

    @property
    def work_ratio(self) -> float:
        return self.work_ms_large / self.work_ms_small


class Work:
    """The processor time of the service and of the database."""

    def __init__(self, stack: Stack, data: Path) -> None:
        service = next(one.pid for one in stack.services if one.name == SERVICE)
        self._pids = [str(service), _process(str(data / "database"))]

    def milliseconds(self) -> float:
        ticks = 0
        for pid in self._pids:
            fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def _process(argument: str) -> str:
    """The id of the process that has this within an argument."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if argument.encode() in command:
            return path.parent.name
    raise SystemExit(f"no process serves {argument}")


async def measure(stack: Stack, data: Path, small: int, large: int, rounds: int) -> Figures:
    """Store the small book and the large one, then change a contact of each by turns."""
    connection = await aio_pika.connect(stack.amqp_url)
    async with connection, Publisher(stack.amqp_url, "bench") as publisher:
        books: list[Book] = []

        def pushed(envelope: Envelope) -> None:
            for book in books:
                book.pushed(envelope)

        asking = Asking(await connection.channel(), publisher, pushed)
        await asking.prepare()
        books += [Book("small", small, asking), Book("large", large, asking)]
        seconds = (0.0, 0.0)
        for book in books:
            await book.register()
            seconds = await book.store_all()
            await book.check()
            await book.settle()
        work = Work(stack, data)
        notices: tuple[list[float], list[float]] = ([], [])
        worked: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for which, book in enumerate(books):
                before = work.milliseconds()
                for at in range(BURST):
                    notices[which].append(await book.change((number * BURST + at) * 7 % book.size))
                worked[which].append((work.milliseconds() - before) / BURST)
        for book in books:
            await book.check()
        await asking.close()
        return Figures(
            small,
            large,
            large / seconds[0],
            large / seconds[1],
            *(statistics.median(one) * 1000 for one in notices),
            *(statistics.median(one) for one in worked),
        )


async def run(small: int, large: int, rounds: int) -> Figures:
    """A stack of its own."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "stack"
        settings = StackSettings(data=data, amqp_url=None, mongodb_url=None)
        async with Stack(settings) as stack:
            return await measure(stack, data, small, large, rounds)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="a small run that only shows it works")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--large", type=int, default=50_000, help="contacts of the large space")
    options = parser.parse_args(arguments)
    small, large, rounds = (50, 500, 2) if options.smoke else (1_000, options.large, options.rounds)
    figures = asyncio.run(run(small, large, rounds))
    if options.json:
        json.dump(asdict(figures), sys.stdout)
        sys.stdout.write("\n")
        return
    Console().print(
        f"{figures.large:,} contacts: {figures.stored_per_second:.0f}/s stored, "
        f"{figures.arrived_per_second:.0f}/s stored and waiting at the other carrier"
    )
    table = Table("one change", f"of {figures.small:,}, ms", f"of {figures.large:,}, ms", "ratio")
    for name, few, many, ratio in (
        ("until told", figures.notice_ms_small, figures.notice_ms_large, figures.notice_ratio),
        ("work", figures.work_ms_small, figures.work_ms_large, figures.work_ratio),
    ):
        table.add_row(name, f"{few:.1f}", f"{many:.1f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
