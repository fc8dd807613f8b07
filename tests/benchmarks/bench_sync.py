"""How fast a book is synced, beside vdirsyncer with Radicale and with Xandikos on this machine.

Run as `python -m tests.benchmarks.bench_sync [--json]`. The servers of others take minutes for
2,000 contacts and much longer for 10,000: `--peers-at 2000` asks them for the smaller book alone,
`--peers-at` for none.

Every time is from the start of a sync until all of it is acknowledged: theirs of the vdirsyncer
process, as its user waits for it, and again without what a sync of nothing takes; ours of
`Terminal.sync` in a running program. Theirs is measured before our system is started. Every sync is
checked.

Then one change in a large book beside one in a small book, by turns.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from rich.console import Console
from rich.table import Table
from tests.benchmarks.book_terminals import Figures, Growth, Users
from tests.benchmarks.peers.measuring import PeerFigures, measure
from tests.benchmarks.peers.servers import NAMES
from tests.benchmarks.steps import Steps

UPLOAD_MARK = 50.0
ONE_CHANGE_MARK = 10.0
GROWTH_MARK = 1.5


@dataclass(frozen=True)
class Sizes:
    """How many contacts.

    Attributes:
        compared: in the books that are uploaded.
        peers: in those of them that the peers upload too.
        growth: in the small and the large book; none for neither.
    """

    compared: tuple[int, ...] = (2_000, 10_000)
    peers: tuple[int, ...] = (2_000, 10_000)
    growth: tuple[int, int] | None = (1_000, 50_000)

    @property
    def steps(self) -> int:
        """How many measurements that makes."""
        return len(self.compared) + len(self.peers) * len(NAMES) + (self.growth is not None)


SMOKE = Sizes(compared=(20, 30), peers=(20,), growth=(10, 40))


@dataclass(frozen=True)
class Comparison:
    """Ours beside the peers'."""

    ours: Figures
    peers: tuple[PeerFigures, ...]

    def times_as_fast(self) -> dict[str, float]:
        """How many times as fast as the faster peer, with what it takes to start and without."""
        if not self.peers:
            return {}
        return {
            "upload": self._times(lambda peer: peer.upload, self.ours.upload),
            "upload_alone": self._times(lambda peer: peer.upload_alone, self.ours.upload),
            "one_change": self._times(lambda peer: peer.one_change, self.ours.one_change),
            "one_change_alone": self._times(
                lambda peer: peer.one_change_alone, self.ours.one_change
            ),
        }

    def _times(self, seconds: Callable[[PeerFigures], float], ours: float) -> float:
        return min(map(seconds, self.peers)) / ours


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    comparisons: tuple[Comparison, ...]
    growth: Growth | None
    load: tuple[float, float, float]

    def as_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "times_as_fast": {one.ours.contacts: one.times_as_fast() for one in self.comparisons},
            "growth_ratio": None if self.growth is None else self.growth.ratio,
        }


async def measured(sizes: Sizes, steps: Steps) -> Report:
    peers: dict[int, list[PeerFigures]] = {}
    for count in sizes.peers:
        for name in NAMES:
            steps.begin(f"vdirsyncer with {name}, {count:,} contacts")
            peers.setdefault(count, []).append(await measure(name, count))
    with tempfile.TemporaryDirectory() as folder:
        async with Users.of_a_new_system(Path(folder), steps) as users:
            compared = [
                Comparison(await users.measure(count), tuple(peers.get(count, ())))
                for count in sizes.compared
            ]
            growth = None if sizes.growth is None else await users.growth(*sizes.growth)
    return Report(tuple(compared), growth, os.getloadavg())


def show(report: Report) -> None:
    console = Console()
    for one in report.comparisons:
        console.print(compared(one))
    if report.growth is not None:
        console.print(grown(report.growth))
    load = ", ".join(f"{each:.1f}" for each in report.load)
    console.print(f"Load of the machine in the last 1, 5, 15 minutes: {load}.")


def grown(growth: Growth) -> Table:
    table = Table(title="one change by the size of the book, seconds")
    for column in ("contacts", "one change", "first upload", "contacts/s"):
        table.add_column(column, justify="right")
    for figures in (growth.small, growth.large):
        table.add_row(
            f"{figures.contacts:,}",
            f"{figures.one_change:.3f}",
            f"{figures.upload:.1f}",
            f"{figures.contacts / figures.upload:,.0f}",
        )
    table.add_row("times", judged(growth.ratio, reached=growth.ratio <= GROWTH_MARK))
    return table


def compared(one: Comparison) -> Table:
    table = Table(title=f"syncing a book of {one.ours.contacts:,} contacts, seconds")
    for column in ("", "first upload", "without start", "one change", "without start"):
        table.add_column(column, justify="right" if column else "left")
    for peer in one.peers:
        table.add_row(
            f"vdirsyncer, {peer.server}",
            f"{peer.upload:.2f}",
            f"{peer.upload_alone:.2f}",
            f"{peer.one_change:.3f}",
            f"{peer.one_change_alone:.3f}",
        )
    table.add_row("ContactMesh", f"{one.ours.upload:.2f}", "", f"{one.ours.one_change:.3f}", "")
    times = one.times_as_fast()
    if times:
        table.add_row(
            "times as fast as the faster",
            judged(times["upload"], reached=times["upload"] >= UPLOAD_MARK),
            f"{times['upload_alone']:.1f}",
            judged(times["one_change"], reached=times["one_change"] >= ONE_CHANGE_MARK),
            f"{times['one_change_alone']:.1f}",
        )
    return table


def judged(ratio: float, *, reached: bool) -> str:
    return f"{ratio:.2f} {'✓' if reached else '✗'}"


def chosen(arguments: Sequence[str] | None) -> tuple[Sizes, bool]:
    """The sizes that are asked for, and whether the report is for scripts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    parser.add_argument("--smoke", action="store_true", help="a small run that only shows it works")
    numbers = partial(parser.add_argument, type=int, metavar="N")
    numbers("--sizes", nargs="*", default=Sizes.compared, help="contacts in the books uploaded")
    numbers("--peers-at", nargs="*", help="those that the peers upload too; all if not given")
    numbers("--growth", nargs=2, default=Sizes.growth, help="the small and the large book")
    parser.add_argument("--no-growth", action="store_true", help="do without these two")
    options = parser.parse_args(arguments)
    if options.smoke:
        return SMOKE, options.json
    compared = tuple(options.sizes)
    peers = compared if options.peers_at is None else tuple(options.peers_at)
    if not set(peers) <= set(compared):
        parser.error("--peers-at has a size that --sizes has not")
    return Sizes(
        compared, peers, None if options.no_growth else tuple(options.growth)
    ), options.json


def main(arguments: Sequence[str] | None = None) -> None:
    sizes, as_json = chosen(arguments)
    # Standard output is the report's.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    with Steps(sizes.steps) as steps:
        report = asyncio.run(measured(sizes, steps))
    if as_json:
        json.dump(report.as_json(), sys.stdout)
        sys.stdout.write("\n")
    else:
        show(report)


if __name__ == "__main__":
    main()
