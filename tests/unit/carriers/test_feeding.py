"""Feeding the registry: in commands as large as they may be, and again after a failure."""

from datetime import UTC, datetime

import pytest

from contactmesh.carriers.backend import CarrierUnavailable, Changes
from contactmesh.carriers.feeding import FeedReport, feed, feed_changes
from contactmesh.carriers.simulator.carrier import SimulatedCarrier
from contactmesh.carriers.simulator.days import Days, play
from contactmesh.contracts.carrier.feed import (
    MOST_ENTRIES,
    EntryOutcome,
    Fed,
    Feed,
    FeedEntry,
    StateSeen,
)
from contactmesh.contracts.carrier.records import NetworkState
from contactmesh.contracts.errors import ErrorBody, ErrorCode

NOW = datetime(2026, 11, 29, tzinfo=UTC)


class Registry:
    """What a registry would have taken in."""

    def __init__(self) -> None:
        self.commands: list[Feed] = []

    async def takes(self, command: Feed) -> Fed:
        self.commands.append(command)
        outcomes = tuple(
            EntryOutcome(index=index, outcome="applied") for index in range(len(command.entries))
        )
        return Fed(outcomes=outcomes)

    @property
    def entries(self) -> list[FeedEntry]:
        return [entry for command in self.commands for entry in command.entries]


def states(count: int) -> list[FeedEntry]:
    return [
        StateSeen(registration_seq=str(seq + 1), state=NetworkState.BUSY, at=NOW)
        for seq in range(count)
    ]


async def test_facts_go_out_in_order_in_as_few_commands_as_they_fit() -> None:
    registry, report = Registry(), FeedReport()
    await feed(states(MOST_ENTRIES + 1), registry.takes, report)
    assert [len(command.entries) for command in registry.commands] == [MOST_ENTRIES, 1]
    assert registry.entries == states(MOST_ENTRIES + 1)
    assert report.outcomes == {"applied": MOST_ENTRIES + 1}


async def test_nothing_to_say_says_nothing() -> None:
    registry = Registry()
    await feed([], registry.takes, FeedReport())
    assert registry.commands == []


async def test_what_was_rejected_is_kept_with_its_reason() -> None:
    error = ErrorBody(code=ErrorCode.CONFLICT, message="It began otherwise.")

    async def rejecting(command: Feed) -> Fed:
        return Fed(
            outcomes=(
                EntryOutcome(index=0, outcome="same"),
                EntryOutcome(index=1, outcome="rejected", error=error),
            )
        )

    report = FeedReport()
    await feed(states(2), rejecting, report)
    assert report.outcomes == {"same": 1, "rejected": 1}
    ((entry, outcome),) = report.rejected
    assert (entry, outcome.error) == (states(2)[1], error)


async def test_a_carrier_is_fed_from_where_the_last_run_ended() -> None:
    days = Days(people=300, seed=5, start=NOW)
    facts = [(happening.at, fact) for happening in play(days) for fact in happening.facts]
    carrier, registry = SimulatedCarrier("cn-mobile", facts), Registry()
    carrier.now = days.start
    cursor = await feed_changes(carrier, registry.takes, FeedReport())
    carrier.now = days.end
    await feed_changes(carrier, registry.takes, FeedReport(), cursor)
    assert registry.entries == [fact.entry for _, fact in facts if fact.carrier_id == "cn-mobile"]


async def test_a_carrier_that_fails_in_between_leaves_what_was_fed() -> None:
    class Failing(SimulatedCarrier):
        async def changes(self, cursor: str | None, limit: int) -> Changes:
            if cursor is not None:
                raise CarrierUnavailable("away")
            return Changes(tuple(states(3)), "3", has_more=True)

    registry, report = Registry(), FeedReport()
    with pytest.raises(CarrierUnavailable):
        await feed_changes(Failing("cn-mobile", []), registry.takes, report)
    assert report.outcomes == {"applied": 3}
