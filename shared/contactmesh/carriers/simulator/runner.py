"""Playing simulated days to a registry, as fast as it takes them or at a given pace."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from typing import Final

from contactmesh.carriers.feeding import FeedReport, Send, feed
from contactmesh.carriers.simulator.days import Days, play
from contactmesh.carriers.simulator.happenings import Happening, Kind
from contactmesh.contracts.carrier.feed import MOST_ENTRIES, FeedEntry

Played = Callable[[list[Happening]], None]
"""Is told of what has been fed."""

_BEATS_A_SECOND: Final = 4
_AT_ONCE: Final = MOST_ENTRIES


async def feed_days(
    days: Days,
    send: Mapping[str, Send],
    report: FeedReport,
    *,
    speed: float | None = None,
    played: Played = lambda _: None,
) -> None:
    """Feed what happens, each fact by the carrier that it is of.

    Args:
        days: what to play.
        send: sends a feed as a terminal of a carrier, by carrier id.
        report: what became of the facts is counted here.
        speed: how many simulated seconds pass in a second, none for as fast as possible. What had
            happened before the days begin is fed at once.
        played: told after every step.
    """
    if speed is None:
        for step in _by_count(play(days)):
            await _feed_step(step, send, report)
            played(step)
        return
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for number, step in _by_time(days, timedelta(seconds=speed / _BEATS_A_SECOND)):
        await asyncio.sleep(begun + number / _BEATS_A_SECOND - loop.time())
        await _feed_step(step, send, report)
        played(step)


async def _feed_step(
    step: Iterable[Happening], send: Mapping[str, Send], report: FeedReport
) -> None:
    entries: defaultdict[str, list[FeedEntry]] = defaultdict(list)
    for happening in step:
        for fact in happening.facts:
            entries[fact.carrier_id].append(fact.entry)
    async with asyncio.TaskGroup() as feeds:
        for carrier_id, facts in entries.items():
            feeds.create_task(feed(facts, send[carrier_id], report))


def _by_count(happenings: Iterable[Happening]) -> Iterator[list[Happening]]:
    step: list[Happening] = []
    for happening in happenings:
        step.append(happening)
        if len(step) == _AT_ONCE:
            yield step
            step = []
    if step:
        yield step


def _by_time(days: Days, beat: timedelta) -> Iterator[tuple[int, list[Happening]]]:
    """What happens by the beat, with the number of each."""

    def number(happening: Happening) -> int:
        if happening.kind is Kind.BEGUN:
            return 0
        return 1 + (happening.at - days.start) // beat

    for beat_number, happenings in groupby(play(days), number):
        yield beat_number, list(happenings)
