"""How fast vCards are read and written, beside vobject on the same files in the same run.

Run as `python -m tests.benchmarks.bench_vcard [--json]`. Times are of the processor, the median of
several rounds with both taking turns, so that a busy machine slows both alike. A turn reads a file,
or writes its cards, several times over, as many for either: it is about as much as a phonebook.

What else there is to know about these times is shown beside them:

- The first time after other work takes longer, since the processor's caches hold something else.
  That is about as much for any file, and so weighs most on who is done soonest.
- We remember the heads of lines, which repeat from card to card. A file that is read again and
  again gains more by it than most: what it costs with nothing remembered, and the first time.
- A card that is read makes its typed parts, and a UID if it has none, when they are asked for: what
  it costs to read and have all parts at once, and to write cards that have them.
- Reading and writing in one go, each card once, pays for everything it needs, UIDs included.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import vobject
from rich.console import Console
from rich.table import Table

from contactmesh.contacts import Card, read_vcards, write_vcards
from contactmesh.contacts.vcard import forms, from_jscontact, to_jscontact

SAMPLES = Path(__file__).parents[1] / "data" / "vcf"
ROUNDS = 30
IN_A_TURN = 10
GROWTH = (1, 4, 16)
STREAMED = (4, 32)
"""Megabytes of the files whose reading is watched for memory."""


@dataclass(frozen=True)
class Comparison:
    """Microseconds for all cards of a file; None for what vobject cannot do with it."""

    file: str
    cards: int
    read: float
    read_vobject: float | None
    write: float
    write_vobject: float | None
    read_first: float
    read_first_vobject: float | None
    write_first: float
    write_first_vobject: float | None
    read_anew: float
    write_anew: float
    read_with_parts: float
    write_with_parts: float
    converted: float


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    files: list[Comparison]
    read_ratio: float
    write_ratio: float
    both_ratio: float
    read_first_ratio: float
    write_first_ratio: float
    read_anew_ratio: float
    write_anew_ratio: float
    read_with_parts_ratio: float
    write_with_parts_ratio: float
    converted_ratio: float
    cards_per_second_read: float
    cards_per_second_written: float
    microseconds_per_card_by_size: dict[int, float]
    peak_kib_by_megabytes: dict[int, float]


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Processor time without the collector's, which strikes either side by chance."""
    gc.disable()
    start = time.process_time()
    for _ in range(times):
        work()
    spent = time.process_time() - start
    gc.enable()
    return spent / times


def turns(
    ours: Callable[[], object], theirs: Callable[[], object], times: int
) -> tuple[float, float | None]:
    """Microseconds of each, the median of several turns, each of so many times."""
    try:
        theirs()
    except Exception:  # noqa: BLE001 - whatever a library does with a file it cannot take
        return median(seconds(ours, times) for _ in range(ROUNDS)) * 1e6, None
    pairs = [(seconds(ours, times), seconds(theirs, times)) for _ in range(ROUNDS)]
    return median(ours for ours, _ in pairs) * 1e6, median(theirs for _, theirs in pairs) * 1e6


def alone(ours: Callable[[], object]) -> float:
    """Microseconds of ours alone, in turns as above."""
    return median(seconds(ours, IN_A_TURN) for _ in range(ROUNDS)) * 1e6


def anew(ours: Callable[[], object], theirs: Callable[[], object] | None) -> float:
    """Microseconds of ours with nothing remembered, the first time after other work."""

    def once() -> float:
        forget()
        if theirs is not None:
            theirs()
        return seconds(ours)

    return median(once() for _ in range(ROUNDS)) * 1e6


def forget() -> None:
    """Remember nothing of cards before."""
    to_jscontact._plans.clear()
    from_jscontact._orders.clear()
    forms._forms.clear()


def with_parts(cards: list[Card]) -> list[Card]:
    """The same cards, with all their typed parts made."""
    for card in cards:
        vars(card)
    return cards


def cards_in(data: bytes) -> list[Card]:
    return [item for item in read_vcards(data) if isinstance(item, Card)]


def read_with_vobject(text: str) -> list[vobject.base.Component]:
    return list(vobject.readComponents(text, ignoreUnreadable=True, allowQP=True))


def compared(path: Path) -> Comparison:
    data = path.read_bytes()
    text = data.decode()
    cards = cards_in(data)
    read_ours = lambda: list(read_vcards(data))  # noqa: E731
    write_ours = lambda: list(write_vcards(cards, version="3.0"))  # noqa: E731
    read_theirs = lambda: read_with_vobject(text)  # noqa: E731
    read, read_vobject = turns(read_ours, read_theirs, IN_A_TURN)
    components = read_with_vobject(text) if read_vobject is not None else None

    def write_theirs() -> None:
        for component in components or ():
            component.serialize(validate=False)

    write, write_vobject = turns(write_ours, write_theirs, IN_A_TURN)
    if components is None:
        write_vobject = None
    made = with_parts(cards_in(data))
    return Comparison(
        path.stem,
        len(cards),
        read,
        read_vobject,
        write,
        write_vobject,
        *turns(read_ours, read_theirs, 1),
        *turns(write_ours, write_theirs, 1),
        anew(read_ours, read_theirs if read_vobject is not None else None),
        anew(write_ours, write_theirs if write_vobject is not None else None),
        alone(lambda: with_parts(cards_in(data))),
        alone(lambda: list(write_vcards(made, version="3.0"))),
        alone(lambda: list(write_vcards(cards_in(data), version="3.0"))),
    )


def ratio(pairs: Iterator[tuple[float, float | None]]) -> float:
    both = [(ours, theirs) for ours, theirs in pairs if theirs is not None]
    return sum(theirs for _, theirs in both) / sum(ours for ours, _ in both)


class Repeated(io.RawIOBase):
    """A file that is one piece again and again, and is never in memory."""

    def __init__(self, piece: bytes, size: int) -> None:
        self._piece = piece
        self._left = size // len(piece)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        del size
        if not self._left:
            return b""
        self._left -= 1
        return self._piece


def peak_kib(piece: bytes, megabytes: int) -> float:
    tracemalloc.start()
    for _ in read_vcards(Repeated(piece, megabytes << 20)):  # type: ignore[arg-type]
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1024


def measured() -> Report:
    paths = sorted(SAMPLES.glob("*.vcf"))
    files = [compared(path) for path in paths]
    whole = b"".join(path.read_bytes().rstrip() + b"\r\n" for path in paths)
    cards = len(cards_in(whole))
    growth = {
        times: min(seconds(lambda: sum(1 for _ in read_vcards(whole * times))) for _ in range(3))  # noqa: B023
        / (cards * times)
        * 1e6
        for times in GROWTH
    }
    own = [each for each in files if each.read_vobject is not None]
    return Report(
        files,
        ratio((each.read, each.read_vobject) for each in files),
        ratio((each.write, each.write_vobject) for each in files),
        ratio(
            (each.read + each.write, each.read_vobject + each.write_vobject)
            for each in own
            if each.read_vobject is not None and each.write_vobject is not None
        ),
        ratio((each.read_first, each.read_first_vobject) for each in files),
        ratio((each.write_first, each.write_first_vobject) for each in own),
        ratio((each.read_anew, each.read_first_vobject) for each in files),
        ratio((each.write_anew, each.write_first_vobject) for each in own),
        ratio((each.read_with_parts, each.read_vobject) for each in files),
        ratio((each.write_with_parts, each.write_vobject) for each in files),
        ratio(
            (each.converted, each.read_vobject + each.write_vobject)
            for each in own
            if each.read_vobject is not None and each.write_vobject is not None
        ),
        sum(each.cards for each in files) / sum(each.read for each in files) * 1e6,
        sum(each.cards for each in files) / sum(each.write for each in files) * 1e6,
        growth,
        {size: peak_kib(whole, size) for size in STREAMED},
    )


def times_as_fast(ours: float, theirs: float | None) -> str:
    return "cannot" if theirs is None else f"{theirs / ours:.1f}"


def show(report: Report) -> None:
    console = Console()
    table = Table(title="vCards beside vobject, microseconds for all cards of a file")
    for column in ("file", "cards", "read", "vobject", "times", "write", "vobject", "times"):
        table.add_column(column, justify="left" if column == "file" else "right")
    for each in report.files:
        table.add_row(
            each.file,
            str(each.cards),
            f"{each.read:,.0f}",
            "cannot" if each.read_vobject is None else f"{each.read_vobject:,.0f}",
            times_as_fast(each.read, each.read_vobject),
            f"{each.write:,.0f}",
            "cannot" if each.write_vobject is None else f"{each.write_vobject:,.0f}",
            times_as_fast(each.write, each.write_vobject),
        )
    console.print(table)
    totals = Table(title="all files", show_header=False)
    totals.add_row("cards read in a second", f"{report.cards_per_second_read:,.0f}")
    totals.add_row("cards written in a second", f"{report.cards_per_second_written:,.0f}")
    totals.add_row("reading, times as fast as vobject", f"{report.read_ratio:.1f}")
    totals.add_row("writing, times as fast as vobject", f"{report.write_ratio:.1f}")
    totals.add_row("both, times as fast as vobject", f"{report.both_ratio:.1f}")
    totals.add_row("reading, the first time after other work", f"{report.read_first_ratio:.1f}")
    totals.add_row("writing, the first time after other work", f"{report.write_first_ratio:.1f}")
    totals.add_row("reading, with nothing remembered", f"{report.read_anew_ratio:.1f}")
    totals.add_row("writing, with nothing remembered", f"{report.write_anew_ratio:.1f}")
    totals.add_row("reading, with all typed parts made", f"{report.read_with_parts_ratio:.1f}")
    totals.add_row("writing cards that have their parts", f"{report.write_with_parts_ratio:.1f}")
    totals.add_row("read and written in one go", f"{report.converted_ratio:.1f}")
    for times, cost in report.microseconds_per_card_by_size.items():
        totals.add_row(f"microseconds to read a card, file × {times}", f"{cost:.0f}")
    for size, peak in report.peak_kib_by_megabytes.items():
        totals.add_row(f"peak memory while streaming {size} MB", f"{peak:,.0f} KiB")
    console.print(totals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    arguments = parser.parse_args()
    report = measured()
    if arguments.json:
        sys.stdout.write(json.dumps(asdict(report)) + "\n")
    else:
        show(report)


if __name__ == "__main__":
    main()
