"""Playing days to a registry: every fact by its own carrier, at whatever pace."""

from datetime import UTC, datetime

import pytest

from contactmesh.carriers.feeding import FeedReport, Send
from contactmesh.carriers.simulator.days import Days, play
from contactmesh.carriers.simulator.happenings import Happening
from contactmesh.carriers.simulator.registry import PREFIXES
from contactmesh.carriers.simulator.runner import feed_days
from contactmesh.contracts.carrier.feed import EntryOutcome, Fed, Feed, FeedEntry

DAYS = Days(people=60, seed=11, start=datetime(2026, 11, 29, tzinfo=UTC))
A_DAY_AT_ONCE = 10.0**7


class Registry:
    """Takes what each carrier says."""

    def __init__(self) -> None:
        self.said: dict[str, list[FeedEntry]] = {carrier_id: [] for carrier_id in PREFIXES}

    def of(self, carrier_id: str) -> Send:
        async def take(command: Feed) -> Fed:
            self.said[carrier_id] += command.entries
            indexes = range(len(command.entries))
            return Fed(
                outcomes=tuple(EntryOutcome(index=index, outcome="applied") for index in indexes)
            )

        return take


@pytest.mark.parametrize("speed", [None, A_DAY_AT_ONCE])
async def test_every_fact_is_fed_once_in_order_and_by_its_own_carrier(speed: float | None) -> None:
    registry, report, played = Registry(), FeedReport(), list[Happening]()
    send = {carrier_id: registry.of(carrier_id) for carrier_id in PREFIXES}
    await feed_days(DAYS, send, report, speed=speed, played=played.extend)
    happened = list(play(DAYS))
    assert played == happened
    assert len(happened) <= DAYS.chances
    for carrier_id, said in registry.said.items():
        assert said == [
            fact.entry
            for happening in happened
            for fact in happening.facts
            if fact.carrier_id == carrier_id
        ]
    assert report.outcomes.total() == sum(len(said) for said in registry.said.values())
