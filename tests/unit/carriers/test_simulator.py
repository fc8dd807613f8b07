"""Simulated days: the same from the same seed, and such as carriers could have had them."""

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from contactmesh.carriers.simulator.carrier import SimulatedCarrier
from contactmesh.carriers.simulator.days import Days, play
from contactmesh.carriers.simulator.happenings import Fact, Kind
from contactmesh.carriers.simulator.registry import PREFIXES
from contactmesh.contracts.carrier.feed import Began, Ended, FeedEntry, StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import EndReason, RegistrationRef

START = datetime(2026, 11, 29, tzinfo=UTC)
SEEDS = st.integers(0, 2**32)


def facts(days: Days) -> list[tuple[datetime, Fact]]:
    return [(happening.at, fact) for happening in play(days) for fact in happening.facts]


def ref(fact: Fact) -> RegistrationRef:
    seq = fact.entry.registration_seq
    return RegistrationRef(carrier_id=fact.carrier_id, registration_seq=seq)


def test_the_same_seed_and_start_give_the_same_days() -> None:
    days = Days(people=40, seed=7, start=START)
    assert list(play(days)) == list(play(days))
    assert list(play(days)) != list(play(Days(people=40, seed=8, start=START)))


def test_a_day_of_some_people_shows_everything_that_can_happen() -> None:
    kinds = Counter(happening.kind for happening in play(Days(people=200, seed=1, start=START)))
    assert set(kinds) == set(Kind)
    assert kinds[Kind.BEGUN] == 200


@given(SEEDS)
def test_days_are_in_the_order_of_time_and_not_in_the_future(seed: int) -> None:
    days = Days(people=10, seed=seed, start=START, hours=48)
    times = [happening.at for happening in play(days)]
    assert times == sorted(times)
    assert times[-1] <= days.end


@given(SEEDS)
def test_no_sequence_number_is_given_twice_also_over_several_days(seed: int) -> None:
    days = [Days(people=10, seed=seed, start=START.replace(day=day)) for day in (28, 29)]
    given_out = [
        ref(fact) for each in days for _, fact in facts(each) if isinstance(fact.entry, Began)
    ]
    assert len(given_out) == len(set(given_out))


@given(SEEDS)
def test_a_number_is_one_persons_at_a_time_and_ends_say_what_came_after(seed: int) -> None:
    live: dict[RegistrationRef, Began] = {}
    over: dict[RegistrationRef, Began] = {}
    for happening in play(Days(people=12, seed=seed, start=START, hours=72)):
        for fact in happening.facts:
            match fact.entry:
                case Began() as began:
                    assert began.msisdn not in {other.msisdn for other in live.values()}
                    if began.replaces is not None:
                        assert over[began.replaces].identity_id == began.identity_id
                    live[ref(fact)] = began
                case Ended(reason=EndReason.RECYCLED):
                    assert ref(fact) in over, "a number is given on after it was given up"
                case Ended():
                    over[ref(fact)] = live.pop(ref(fact))
                case StateSeen() | UsageSeen():
                    assert ref(fact) in live
        if happening.kind is Kind.RECYCLED:
            end, begin = happening.facts
            assert isinstance(begin.entry, Began)
            assert over[ref(end)].identity_id != begin.entry.identity_id
            assert over[ref(end)].msisdn == begin.entry.msisdn
        if happening.kind is Kind.PORTED:
            end, begin = happening.facts
            assert isinstance(begin.entry, Began)
            assert (begin.entry.msisdn, begin.carrier_id != end.carrier_id) == (
                over[ref(end)].msisdn,
                True,
            )


async def test_a_carrier_tells_its_own_facts_page_by_page() -> None:
    everything = facts(Days(people=30, seed=3, start=START))
    for carrier_id in PREFIXES:
        carrier = SimulatedCarrier(carrier_id, everything)
        carrier.now = everything[-1][0]
        told: list[FeedEntry] = []
        cursor, more = None, True
        while more:
            page = await carrier.changes(cursor, 10)
            assert len(page.entries) <= 10
            told += page.entries
            cursor, more = page.cursor, page.has_more
        assert told == [fact.entry for _, fact in everything if fact.carrier_id == carrier_id]
        assert (await carrier.changes(cursor, 10)).entries == ()


async def test_a_carrier_knows_nothing_of_what_comes() -> None:
    everything = facts(Days(people=30, seed=3, start=START))
    carrier = SimulatedCarrier("cn-mobile", everything)
    carrier.now = START
    page = await carrier.changes(None, 10_000)
    assert all(isinstance(entry, Began) for entry in page.entries)
