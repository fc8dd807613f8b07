"""The CAMARA adapter against a simulated carrier that speaks CAMARA over HTTP."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from contactmesh.carriers.backend import (
    CarrierUnavailable,
    Connectivity,
    NumberUnknown,
    QuestionRefused,
)
from contactmesh.carriers.camara import shapes
from contactmesh.carriers.camara.client import CamaraCarrier
from contactmesh.carriers.camara.shapes import EventType
from contactmesh.carriers.camara.simulation import CamaraSimulation
from contactmesh.carriers.camara.sink import notification_route
from contactmesh.carriers.feeding import FeedReport, feed_changes
from contactmesh.carriers.simulator.carrier import SimulatedCarrier
from contactmesh.carriers.simulator.happenings import Fact
from contactmesh.contracts.carrier.feed import (
    Began,
    Ended,
    EntryOutcome,
    Fed,
    Feed,
    FeedEntry,
    StateSeen,
    UsageSeen,
)
from contactmesh.contracts.carrier.records import (
    DataVolume,
    EndReason,
    NetworkState,
    RegistrationRef,
)

ADAS, BOS, NOBODYS = "+8613800000001", "+8613800000002", "+8613800000009"
DAY0 = datetime(2026, 6, 1, 12, tzinfo=UTC)
TOKEN, SINK_TOKEN = "access", "sink"


def day(number: float) -> datetime:
    return DAY0 + timedelta(days=number)


def began(seq: int, who: str, number: str, at: datetime, replaces: int | None = None) -> Began:
    ref = None
    if replaces is not None:
        ref = RegistrationRef(carrier_id="cn-mobile", registration_seq=str(replaces))
    return Began(
        registration_seq=str(seq), identity_id=who, msisdn=number, valid_from=at, replaces=ref
    )


def ended(seq: int, at: datetime, reason: EndReason) -> Ended:
    return Ended(registration_seq=str(seq), valid_to=at, reason=reason)


def state(seq: int, seen: NetworkState, at: datetime) -> StateSeen:
    return StateSeen(registration_seq=str(seq), state=seen, at=at)


STORY: list[tuple[datetime, FeedEntry]] = [
    (day(0), began(1, "ada", ADAS, day(0))),
    (day(1), began(2, "mei", BOS, day(1))),
    (day(2), state(1, NetworkState.ONLINE_SMS_ONLY, day(2))),
    (
        day(3),
        UsageSeen(registration_seq="1", remaining=DataVolume.BELOW_1_GIB, at=day(3)),
    ),
    (day(4), ended(2, day(4), EndReason.CANCELLED)),
    (day(95), ended(2, day(95), EndReason.RECYCLED)),
    (day(95), began(3, "bo", BOS, day(95))),
    (day(96), state(3, NetworkState.POWERED_OFF, day(96))),
    (day(100), ended(1, day(100), EndReason.REPLACED)),
    (day(100), began(4, "ada", ADAS, day(100), replaces=1)),
    (day(101), state(4, NetworkState.ONLINE_DATA, day(101))),
]
"""Ada gets another card; Mei's number is given up and given to Bo."""


@dataclass
class Place:
    """A carrier that speaks CAMARA, the adapter that asks it, and where its events arrive."""

    carrier: SimulatedCarrier
    simulation: CamaraSimulation
    camara: CamaraCarrier
    session: ClientSession
    api_root: str
    sink: str
    taken: list[FeedEntry] = field(default_factory=list)

    async def post(self, path: str, body: object, **headers: str) -> tuple[int, Any, str | None]:
        authorized = {"Authorization": f"Bearer {TOKEN}", **headers}
        async with self.session.post(self.api_root + path, json=body, headers=authorized) as answer:
            return answer.status, await answer.json(), answer.headers.get("x-correlator")


@pytest_asyncio.fixture
async def place() -> AsyncIterator[Place]:
    carrier = SimulatedCarrier("cn-mobile", [(at, Fact("cn-mobile", fact)) for at, fact in STORY])
    carrier.now = day(110)
    simulation = CamaraSimulation(carrier, TOKEN, SINK_TOKEN)
    taken: list[FeedEntry] = []

    async def take(entries: Sequence[FeedEntry]) -> None:
        taken.extend(entries)

    app = web.Application()
    app.add_routes(simulation.routes())
    app.add_routes([notification_route("/sink", carrier, take, token=SINK_TOKEN)])
    async with TestServer(app) as server, ClientSession() as session:
        root = str(server.make_url("")).rstrip("/")
        camara = CamaraCarrier("cn-mobile", root, TOKEN, carrier, session)
        yield Place(carrier, simulation, camara, session, root, f"{root}/sink", taken)


@pytest.mark.claim("C5")
async def test_c5_reachability_is_told_with_the_time_of_its_confirmation(place: Place) -> None:
    found = await place.camara.reachability(ADAS)
    assert (found.reachable, found.last_status_time) == (True, day(101))
    assert found.connectivity == {Connectivity.DATA, Connectivity.SMS}
    away = await place.camara.reachability(BOS)
    assert (away.reachable, away.connectivity, away.last_status_time) == (
        False,
        frozenset(),
        day(96),
    )


async def test_sim_change_and_recycling_and_volume_are_told(place: Place) -> None:
    assert (await place.camara.latest_sim_change(ADAS)).at == day(100)
    assert (await place.camara.latest_sim_change(BOS)).at is None
    assert await place.camara.swapped(ADAS, within_hours=11 * 24)
    assert not await place.camara.swapped(ADAS, within_hours=24)
    assert await place.camara.recycled(BOS, day(2).date())
    assert not await place.camara.recycled(BOS, day(96).date())
    place.carrier.now = day(3)
    volume = await place.camara.data_volume(ADAS)
    assert (volume.remaining, volume.last_status_time) == (DataVolume.BELOW_1_GIB, day(3))


async def test_what_a_carrier_does_not_answer_is_told_by_its_kind(place: Place) -> None:
    with pytest.raises(NumberUnknown):
        await place.camara.reachability(NOBODYS)
    with pytest.raises(QuestionRefused) as refused:
        await place.camara.recycled(BOS, date(1999, 1, 1))
    assert refused.value.code == "OUT_OF_RANGE"
    with pytest.raises(QuestionRefused) as refused:
        await place.camara.data_volume(ADAS)
    assert refused.value.code == "SERVICE_NOT_APPLICABLE"
    stranger = CamaraCarrier("cn-mobile", place.api_root, "wrong", place.carrier, place.session)
    with pytest.raises(QuestionRefused) as refused:
        await stranger.reachability(ADAS)
    assert refused.value.code == "UNAUTHENTICATED"


async def test_a_carrier_that_is_away_is_told_from_one_that_refuses(place: Place) -> None:
    away = CamaraCarrier("cn-mobile", "http://127.0.0.1:9", TOKEN, place.carrier, place.session)
    with pytest.raises(CarrierUnavailable):
        await away.reachability(ADAS)
    elsewhere = CamaraCarrier(
        "cn-mobile", f"{place.api_root}/nothing-here", TOKEN, place.carrier, place.session
    )
    with pytest.raises(CarrierUnavailable):
        await elsewhere.reachability(ADAS)


async def test_errors_name_no_number(place: Place) -> None:
    with pytest.raises(NumberUnknown) as unknown:
        await place.camara.data_volume(NOBODYS)
    assert NOBODYS not in str(unknown.value)


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        (
            shapes.REACHABILITY,
            {"device": {"phoneNumber": ADAS}, "more": 1},
            400,
            "INVALID_ARGUMENT",
        ),
        (shapes.REACHABILITY, {"device": {"phoneNumber": "138"}}, 400, "INVALID_ARGUMENT"),
        (shapes.REACHABILITY, {"device": {}}, 400, "INVALID_ARGUMENT"),
        (shapes.REACHABILITY, {}, 422, "MISSING_IDENTIFIER"),
        (
            shapes.REACHABILITY,
            {"device": {"ipv6Address": "2001:db8::1"}},
            422,
            "UNSUPPORTED_IDENTIFIER",
        ),
        (shapes.REACHABILITY, {"device": {"phoneNumber": NOBODYS}}, 404, "IDENTIFIER_NOT_FOUND"),
        (shapes.SIM_SWAP_DATE, {}, 422, "MISSING_IDENTIFIER"),
        (shapes.SIM_SWAP_CHECK, {"phoneNumber": ADAS, "maxAge": 2401}, 400, "INVALID_ARGUMENT"),
        (shapes.NUMBER_RECYCLING, {"phoneNumber": ADAS}, 400, "INVALID_ARGUMENT"),
        (
            shapes.NUMBER_RECYCLING,
            {"phoneNumber": ADAS, "specifiedDate": "2999-01-01"},
            400,
            "OUT_OF_RANGE",
        ),
    ],
)
async def test_bodies_are_strict_and_errors_are_camaras(
    place: Place, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    answered, error, _ = await place.post(path, body)
    assert answered == status
    assert (error["status"], error["code"]) == (status, code)
    assert set(error) == {"status", "code", "message"}


async def test_answers_are_spelt_as_camara_spells_them(place: Place) -> None:
    body = {"device": {"phoneNumber": ADAS}}
    _, answer, correlator = await place.post(shapes.REACHABILITY, body, **{"x-correlator": "a-1"})
    assert correlator == "a-1"
    assert answer["reachable"] is True
    assert sorted(answer["connectivity"]) == ["DATA", "SMS"]
    assert datetime.fromisoformat(answer["lastStatusTime"]) == day(101)
    _, answer, _ = await place.post(shapes.REACHABILITY, {"device": {"phoneNumber": BOS}})
    assert "connectivity" not in answer
    _, answer, _ = await place.post(shapes.SIM_SWAP_DATE, {"phoneNumber": BOS})
    assert answer == {"latestSimChange": None, "monitoredPeriod": 120}
    asked = {"phoneNumber": BOS, "specifiedDate": "2026-06-03"}
    _, answer, _ = await place.post(shapes.NUMBER_RECYCLING, asked)
    assert answer == {"phoneNumberRecycled": True}


async def test_a_round_over_all_numbers_gives_feed_entries(place: Place) -> None:
    found: list[FeedEntry] = []
    cursor, more = None, True
    while more:
        page = await place.camara.changes(cursor, 5)
        found += page.entries
        cursor, more = page.cursor, page.has_more
    assert found == [
        ended(1, day(100), EndReason.REPLACED),
        began(4, "ada", ADAS, day(100), replaces=1),
        state(4, NetworkState.ONLINE_DATA, day(101)),
        ended(2, day(95), EndReason.RECYCLED),
        state(3, NetworkState.NO_SERVICE, day(96)),
    ]
    assert (await place.camara.changes(cursor, 500)).entries == tuple(found), "and round again"


async def test_a_carrier_behind_camara_is_fed_like_any_other(place: Place) -> None:
    said: list[FeedEntry] = []

    async def send(command: Feed) -> Fed:
        said.extend(command.entries)
        indexes = range(len(command.entries))
        return Fed(outcomes=tuple(EntryOutcome(index=one, outcome="applied") for one in indexes))

    report = FeedReport()
    cursor = await feed_changes(place.camara, send, report)
    assert report.outcomes == {"applied": 5}
    assert said == list((await place.camara.changes(cursor, 500)).entries)


async def test_events_are_fed_as_they_come(place: Place) -> None:
    place.carrier.now = day(95.5)
    for event in (
        EventType.REACHABILITY_DATA,
        EventType.REACHABILITY_SMS,
        EventType.REACHABILITY_DISCONNECTED,
        EventType.SIM_SWAPPED,
    ):
        for number in (ADAS, BOS):
            assert await place.camara.subscribe(number, event, place.sink)
    assert await place.simulation.advance(day(110), place.session) == [204, 204, 204]
    assert place.taken == [
        state(3, NetworkState.NO_SERVICE, day(96)),
        ended(1, day(100), EndReason.REPLACED),
        began(4, "ada", ADAS, day(100), replaces=1),
        state(4, NetworkState.ONLINE_DATA, day(101)),
    ]


async def test_a_late_event_is_of_whoever_had_the_number_then(place: Place) -> None:
    event = {
        "id": "1",
        "source": "https://carrier.example",
        "type": EventType.REACHABILITY_SMS.value,
        "specversion": "1.0",
        "time": day(3).isoformat(),
        "data": {"subscriptionId": "s", "device": {"phoneNumber": BOS}},
    }
    status = await notify(place, event)
    assert (status, place.taken) == (204, [state(2, NetworkState.ONLINE_SMS_ONLY, day(3))])


@pytest.mark.parametrize(
    ("change", "token", "status"),
    [
        (
            {"type": "org.camaraproject.sim-swap-subscriptions.v0.subscription-ended"},
            SINK_TOKEN,
            204,
        ),
        ({"data": {"subscriptionId": "s", "phoneNumber": NOBODYS}}, SINK_TOKEN, 204),
        ({"time": None}, SINK_TOKEN, 400),
        ({}, "wrong", 401),
    ],
)
async def test_what_is_no_news_or_no_event_feeds_nothing(
    place: Place, change: dict[str, Any], token: str, status: int
) -> None:
    event = {
        "id": "1",
        "source": "https://carrier.example",
        "type": EventType.SIM_SWAPPED.value,
        "specversion": "1.0",
        "time": day(101).isoformat(),
        "data": {"subscriptionId": "s", "phoneNumber": ADAS},
        **change,
    }
    assert (await notify(place, event, token), place.taken) == (status, [])


async def notify(place: Place, event: dict[str, Any], token: str = SINK_TOKEN) -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": shapes.CLOUDEVENTS_JSON}
    async with place.session.post(place.sink, json=event, headers=headers) as answer:
        return answer.status
