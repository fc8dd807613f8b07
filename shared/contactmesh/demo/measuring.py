"""What terminals really applied, and how long it took."""

import asyncio
import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families


class Arrival(NamedTuple):
    """A number of somebody that one terminal shows since an update."""

    terminal: str
    owner: str
    number: str


class Arrivals:
    """When each arrival was first seen, in seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._seen: dict[Arrival, float] = {}
        self._more = asyncio.Condition()

    async def note(self, arrivals: Collection[Arrival], at: float) -> None:
        """Take arrivals down."""
        async with self._more:
            for arrival in arrivals:
                self._seen.setdefault(arrival, at)
            self._more.notify_all()

    async def missing(self, wanted: Collection[Arrival], *, seconds: float) -> set[Arrival]:
        """Wait for arrivals; gives those that were not seen in time."""
        missing = set(wanted)

        def complete() -> bool:
            missing.difference_update(self._seen)
            return not missing

        try:
            async with asyncio.timeout(seconds), self._more:
                await self._more.wait_for(complete)
        except TimeoutError:
            return missing
        return set()

    def seconds_since(self, start: float, arrival: Arrival) -> float | None:
        """How long after `start` an arrival was seen, none if it was not."""
        at = self._seen.get(arrival)
        return None if at is None else at - start

    def count(self, owner_numbers: Collection[tuple[str, str]]) -> int:
        """How many arrivals of these owners' numbers were seen, on all terminals together."""
        return sum((one.owner, one.number) in owner_numbers for one in self._seen)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed (nearest rank).

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("no values")
    rank = max(1, math.ceil(share * len(values)))
    return sorted(values)[rank - 1]


def metric_total(exposition: str, name: str, **labels: str) -> int:
    """The sum of a counter's samples with these labels, in Prometheus' text format.

    Args:
        exposition: what `/metrics` gave.
        name: the sample's name, with `_total`.
        labels: the labels that a sample must have.
    """
    return round(
        sum(
            sample.value
            for family in text_string_to_metric_families(exposition)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )
    )
