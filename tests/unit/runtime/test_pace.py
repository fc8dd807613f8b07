"""A flood by one terminal is refused, and nobody else notices."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.runtime.pace import REMEMBERED, Pace, PaceKeeper

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sent(keeper: PaceKeeper, terminal_id: str, times: int, now: datetime = NOW) -> int:
    """How many of so many commands pass."""
    passed = 0
    for _ in range(times):
        try:
            keeper.spend(terminal_id, now)
        except Refusal:
            continue
        passed += 1
    return passed


def test_a_burst_passes_and_what_is_beyond_it_is_told_when_to_come_again() -> None:
    keeper = PaceKeeper(Pace(burst=10, per_second=2))
    assert sent(keeper, "lin_aaaaaaaa", 25) == 10
    with pytest.raises(Refusal) as refused:
        keeper.spend("lin_aaaaaaaa", NOW)
    assert refused.value.body.code is ErrorCode.RATE_LIMITED
    assert float(str(refused.value.body.details["retry_after_seconds"])) > 0
    assert sent(keeper, "lin_aaaaaaaa", 25, NOW + timedelta(seconds=3)) == 6


def test_one_terminals_flood_leaves_the_others_as_they_were() -> None:
    keeper = PaceKeeper(Pace(burst=10, per_second=2))
    sent(keeper, "lin_aaaaaaaa", 1_000)
    assert sent(keeper, "bo_aaaaaaaa", 10) == 10


@given(st.lists(st.integers(-100, 100), max_size=30))
def test_a_clock_that_jumps_back_and_forth_never_gives_more_than_a_burst_at_once(
    jumps: list[int],
) -> None:
    keeper = PaceKeeper(Pace(burst=5, per_second=1))
    for seconds in jumps:
        assert sent(keeper, "lin_aaaaaaaa", 50, NOW + timedelta(seconds=seconds)) <= 5


def test_accounts_of_terminals_long_unseen_are_let_go() -> None:
    keeper = PaceKeeper(Pace(burst=1, per_second=0.001))
    keeper.spend("first_aaaaaaaa", NOW)
    with pytest.raises(Refusal):
        keeper.spend("first_aaaaaaaa", NOW)
    for number in range(REMEMBERED):
        keeper.spend(f"t{number}_aaaaaaaa", NOW)
    keeper.spend("first_aaaaaaaa", NOW)
