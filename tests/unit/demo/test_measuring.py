"""Arrivals, percentiles and counters."""

import asyncio

import pytest

from contactmesh.demo.measuring import Arrival, Arrivals, metric_total, percentile

AT_BEN = Arrival("ben phone", "alice", "+44 7700 900001")
AT_LIN = Arrival("lin phone", "alice", "+44 7700 900001")


def arrivals() -> Arrivals:
    return Arrivals()


async def test_waiting_ends_when_everything_has_arrived() -> None:
    seen = arrivals()
    waiting = asyncio.create_task(seen.missing({AT_BEN, AT_LIN}, seconds=10))
    await seen.note([AT_BEN], at=1.0)
    assert not waiting.done()
    await seen.note([AT_LIN], at=2.0)

    assert await waiting == set()


async def test_what_does_not_arrive_is_named() -> None:
    seen = arrivals()
    await seen.note([AT_BEN], at=1.0)

    assert await seen.missing({AT_BEN, AT_LIN}, seconds=0.01) == {AT_LIN}


async def test_the_first_time_counts() -> None:
    seen = arrivals()
    await seen.note([AT_BEN], at=2.0)
    await seen.note([AT_BEN], at=3.0)

    assert seen.seconds_since(1.5, AT_BEN) == 0.5
    assert seen.seconds_since(1.5, AT_LIN) is None
    assert seen.count({("alice", "+44 7700 900001")}) == 1
    assert seen.count({("alice", "+44 7700 900002")}) == 0


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50), (0.99, 99), (0.991, 100), (1.0, 100), (0.0, 1)]
)
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert percentile([float(value) for value in range(100, 0, -1)], share) == expected


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_counter_is_summed_over_its_other_labels() -> None:
    exposition = """\
# HELP held_total Held.
# TYPE held_total counter
held_total{reason="block",group="a"} 4.0
held_total{reason="block",group="b"} 2.0
held_total{reason="late",group="a"} 8.0
held_created{reason="block",group="a"} 1.7e+09
"""
    assert metric_total(exposition, "held_total", reason="block") == 6
    assert metric_total(exposition, "other_total", reason="block") == 0
