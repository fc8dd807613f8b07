"""Feeding the registry: facts of one carrier, in commands as large as they may be."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from contactmesh.carriers.backend import CarrierBackend
from contactmesh.contracts.carrier.feed import MOST_ENTRIES, EntryOutcome, Fed, Feed, FeedEntry

Send = Callable[[Feed], Awaitable[Fed]]
"""Sends a command as a terminal of the carrier and gives the registry's answer."""


@dataclass(slots=True)
class FeedReport:
    """What became of facts that were fed.

    Attributes:
        outcomes: how many were `applied`, the `same` as known, and `rejected`.
        rejected: those that contradict what the registry knows, with its reason.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    rejected: list[tuple[FeedEntry, EntryOutcome]] = field(default_factory=list)

    def add(self, entries: Sequence[FeedEntry], answer: Fed) -> None:
        """Count one answer in."""
        for outcome in answer.outcomes:
            self.outcomes[outcome.outcome] += 1
            if outcome.outcome == "rejected":
                self.rejected.append((entries[outcome.index], outcome))


async def feed(entries: Sequence[FeedEntry], send: Send, report: FeedReport) -> None:
    """Feed facts in their order; feeding them again changes nothing.

    Args:
        entries: the facts, all of one carrier.
        send: sends them.
        report: what became of them is counted here.
    """
    for batch in _batches(entries):
        report.add(batch, await send(Feed(entries=batch)))


async def feed_changes(
    backend: CarrierBackend, send: Send, report: FeedReport, cursor: str | None = None
) -> str:
    """Feed all that a carrier tells since `cursor`.

    A cursor is returned only when what came before it has been taken in, so that whoever dies
    in between goes on from the last one kept, and at worst says some facts again.

    Args:
        backend: the carrier.
        send: sends its facts.
        report: what became of them is counted here.
        cursor: where the last run ended, none for the beginning.

    Returns:
        The cursor to go on from.

    Raises:
        CarrierUnavailable: the carrier does not tell now; what was fed so far is fed.
    """
    while True:
        page = await backend.changes(cursor, MOST_ENTRIES)
        await feed(page.entries, send, report)
        cursor = page.cursor
        if not page.has_more:
            return cursor


def _batches(entries: Sequence[FeedEntry]) -> Iterator[tuple[FeedEntry, ...]]:
    rest = iter(entries)
    while batch := tuple(islice(rest, MOST_ENTRIES)):
        yield batch
