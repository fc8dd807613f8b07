"""How fast a book is synced, beside vdirsyncer with Radicale and with Xandikos on this machine.

Run as `python -m tests.benchmarks.bench_sync [--json]`; the servers of others take minutes. Every
time is from the start of a sync until all of it is acknowledged: theirs of the vdirsyncer process,
as its user waits for it, and again without what a sync of nothing takes; ours of `Terminal.sync` in
a running program. Theirs is measured before our system is started. Every sync is checked.

Then one change in a large book beside one in a small book, by turns.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.benchmarks.book_terminals import Figures, Growth, Users
from tests.benchmarks.peers.measuring import PeerFigures, measure
from tests.benchmarks.peers.servers import NAMES

UPLOAD_MARK = 50.0
ONE_CHANGE_MARK = 10.0
GROWTH_MARK = 1.5


@dataclass(frozen=True)
class Sizes:
    """How many contacts: in the books that are compared, and in the small and the large book."""

    compared: tuple[int, ...] = (2_000,)
    small: int = 1_000
    large: int = 50_000


LARGER = Sizes(compared=(2_000, 10_000))
SMOKE = Sizes(compared=(20,), small=10, large=40)


@dataclass(frozen=True)
class Comparison:
    """Ours beside the faster peer; how many times as fast."""

    ours: Figures
    peers: tuple[PeerFigures, ...]

    @property
    def upload(self) -> float:
        return min(peer.upload for peer in self.peers) / self.ours.upload

    @property
    def upload_alone(self) -> float:
        return min(peer.upload_alone for peer in self.peers) / self.ours.upload

    @property
    def one_change(self) -> float:
        return min(peer.one_change for peer in self.peers) / self.ours.one_change

    @property
    def one_change_alone(self) -> float:
        return min(peer.one_change_alone for peer in self.peers) / self.ours.one_change


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    comparisons: tuple[Comparison, ...]
    growth: Growth
    load: tuple[float, float, float]

    def as_json(self) -> dict[str, Any]:
        ratios = ("upload", "upload_alone", "one_change", "one_change_alone")
        return {
            **asdict(self),
            "times_as_fast": {
                one.ours.contacts: {name: getattr(one, name) for name in ratios}
                for one in self.comparisons
            },
            "growth_ratio": self.growth.ratio,
        }


async def measured(sizes: Sizes) -> Report:
    peers = {
        count: tuple([await measure(name, count) for name in NAMES]) for count in sizes.compared
    }
    with tempfile.TemporaryDirectory() as folder:
        async with Users.of_a_new_system(Path(folder)) as users:
            compared = [
                Comparison(await users.measure(count), peers[count]) for count in sizes.compared
            ]
            growth = await users.growth(sizes.small, sizes.large)
    return Report(tuple(compared), growth, os.getloadavg())


def show(report: Report) -> None:
    console = Console()
    for one in report.comparisons:
        console.print(compared(one))
    growth = Table(title="one change by the size of the book, seconds")
    for column in ("contacts", "one change", "first upload", "contacts/s"):
        growth.add_column(column, justify="right")
    for figures in (report.growth.small, report.growth.large):
        growth.add_row(
            f"{figures.contacts:,}",
            f"{figures.one_change:.3f}",
            f"{figures.upload:.1f}",
            f"{figures.contacts / figures.upload:,.0f}",
        )
    growth.add_row("times", judged(report.growth.ratio, report.growth.ratio <= GROWTH_MARK))
    console.print(growth)
    load = ", ".join(f"{each:.1f}" for each in report.load)
    console.print(f"Load of the machine in the last 1, 5, 15 minutes: {load}.")


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
    table.add_row(
        "times as fast as the faster",
        judged(one.upload, one.upload >= UPLOAD_MARK),
        f"{one.upload_alone:.1f}",
        judged(one.one_change, one.one_change >= ONE_CHANGE_MARK),
        f"{one.one_change_alone:.1f}",
    )
    return table


def judged(ratio: float, reached: bool) -> str:
    return f"{ratio:.2f} {'✓' if reached else '✗'}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    parser.add_argument("--smoke", action="store_true", help="a small run that only shows it works")
    parser.add_argument("--larger", action="store_true", help="also 10,000 contacts: half an hour")
    options = parser.parse_args(arguments)
    sizes = SMOKE if options.smoke else LARGER if options.larger else Sizes()
    report = asyncio.run(measured(sizes))
    if options.json:
        json.dump(report.as_json(), sys.stdout)
        sys.stdout.write("\n")
    else:
        show(report)


if __name__ == "__main__":
    main()
