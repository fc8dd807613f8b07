"""Wrong clocks: none wins for ever, none loses for ever, and none makes a reader miss anything."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.sync_service.books import LAPTOP, PHONE, START, TABLET, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.sync.commands import Exchange, SetPolicy
from contactmesh.contracts.sync.records import Change, Outcome, Policy
from sync_service.domain.documents import Limits
from sync_service.domain.times import corrected, micros

HOUR = timedelta(hours=1)
WRONG = [
    timedelta(),
    HOUR,
    -HOUR,
    datetime(2099, 1, 1, tzinfo=UTC) - START,
    datetime(1970, 1, 1, tzinfo=UTC) - START,
    datetime(1, 1, 2, tzinfo=UTC) - START,
]


@pytest.mark.claim("Y1")
@pytest.mark.claim("Y4")
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("wrong_is_later", [True, False])
@pytest.mark.parametrize("wrong_first", [True, False])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_clock_is_corrected(
    policy: Policy, wrong_is_later: bool, wrong_first: bool, wrong: timedelta
) -> None:
    server = Server()
    server.does(SetPolicy(policy=policy))
    server, phone, tablet = shared("an", server=server)
    all_sync([phone, tablet])
    tablet.wrong = wrong
    for terminal in (phone, tablet) if wrong_is_later else (tablet, phone):
        server.passes()
        terminal.edits("an", name={"full": terminal.terminal_id})
    server.passes()
    all_sync([tablet, phone] if wrong_first else [phone, tablet])
    later = TABLET if wrong_is_later else PHONE
    assert server.holds()["an"]["name"] == {"full": later}


@pytest.mark.claim("Y1")
def test_a_clock_that_is_set_between_the_edit_and_the_sync_wins_no_longer_than_till_the_sync() -> (
    None
):
    server, phone, tablet = shared("an")
    laptop = Terminal(server, LAPTOP).begins()
    tablet.wrong = datetime(2099, 1, 1, tzinfo=UTC) - START
    tablet.edits("an", name={"full": "from 2099"})
    tablet.wrong = timedelta()
    server.passes()
    tablet.syncs()
    assert server.entry("an").updated_at == micros(server.now)
    server.passes()
    laptop.edits("an", name={"full": "afterwards"})
    server.passes()
    laptop.syncs()
    assert server.holds()["an"]["name"] == {"full": "afterwards"}
    phone.syncs()
    phone.edits("an", name={"full": "still later"})
    phone.syncs()
    assert server.holds()["an"]["name"] == {"full": "still later"}
    assert server.entry("an").updated_at <= micros(server.now) + 1


@pytest.mark.claim("Y1")
def test_an_edit_is_not_before_the_moment_when_its_terminal_had_nothing_to_send() -> None:
    server, phone, tablet = shared("an")
    phone.edits("an", name={"full": "earlier"})
    server.passes()
    tablet.syncs()
    server.passes()
    tablet.wrong = datetime(1970, 1, 1, tzinfo=UTC) - START
    tablet.edits("an", name={"full": "later"})
    tablet.wrong = timedelta()
    server.passes()
    all_sync([phone, tablet])
    assert server.holds()["an"]["name"] == {"full": "later"}


@pytest.mark.claim("Y1")
def test_what_waits_for_its_page_keeps_the_time_of_its_edit() -> None:
    server, phone, tablet = shared("an", "bo")
    tablet.edits("bo", kind="individual")
    tablet.edits("an", name={"full": "earlier"})
    server.passes()
    phone.edits("an", name={"full": "later"})
    phone.syncs()
    server.passes()
    assert set(tablet.waiting()) == {"an", "bo"}
    tablet.syncs(most=1)
    assert server.holds()["an"]["name"] == {"full": "later"}


@pytest.mark.claim("Y1")
@pytest.mark.claim("Y4")
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("first", [PHONE, TABLET])
@pytest.mark.parametrize("known_too", [True, False])
def test_of_what_two_terminals_make_the_later_wins_whoever_syncs_first(
    policy: Policy, first: str, known_too: bool
) -> None:
    server = Server()
    server.does(SetPolicy(policy=policy))
    server, phone, tablet = shared("bo", server=server)
    all_sync([phone, tablet])
    for terminal in (phone, tablet):
        server.passes()
        terminal.makes("an", terminal.terminal_id)
        if known_too:
            terminal.edits("bo", name={"full": terminal.terminal_id})
    server.passes()
    all_sync([phone, tablet] if first == PHONE else [tablet, phone])
    assert server.holds()["an"]["name"] == {"full": TABLET}


@pytest.mark.claim("Y1")
def test_what_there_was_no_room_for_keeps_the_time_of_its_edit() -> None:
    server, phone, tablet = shared("an", "bo", server=Server(Limits(reply_bytes=100)))
    for uid in ("an", "bo"):
        tablet.edits(uid, name={"full": "earlier"}, kind="individual")
    server.passes()
    for uid in ("an", "bo"):
        phone.edits(uid, name={"full": "later"}, language="en")
    phone.syncs()
    server.passes()
    reply = tablet.exchanges()
    assert reply is not None
    assert {one.outcome for one in reply.results} == {Outcome.CONFLICT, Outcome.REJECTED}
    server.passes()
    tablet.syncs()
    assert {one["name"]["full"] for one in server.holds().values()} == {"later"}


@pytest.mark.claim("Y1")
def test_only_a_terminal_that_says_so_has_sent_all_its_changes() -> None:
    server, phone, _ = shared("an")
    edited, token = server.now, phone.token
    for sent_all in (False, True):
        server.passes()
        command = Exchange(token=token, sent_at=server.now, sent_all=sent_all)
        token = server.exchanges(command).token
        sent = server.now
        server.passes()
        change = Change(uid=f"bo {sent_all}", updated_at=edited, card=card(f"bo {sent_all}"))
        command = Exchange(token=token, changes=(change,), sent_at=server.now)
        token = server.exchanges(command).token
        assert server.entry(change.uid).updated_at == micros(sent if sent_all else edited)


@pytest.mark.claim("Y1")
def test_a_time_without_a_zone_counts_from_when_it_was_sent() -> None:
    server, _, tablet = shared("an")
    local = (server.now + 8 * HOUR).replace(tzinfo=None)
    edited = (local - timedelta(minutes=5)).isoformat()
    change = Change.model_validate({"uid": "bo", "updated_at": edited, "card": card("bo")})
    command = Exchange.model_validate(
        {"token": tablet.token, "changes": [change.payload()], "sent_at": local.isoformat()}
    )
    server.exchanges(command)
    assert server.entry("bo").updated_at == micros(server.now - timedelta(minutes=5))


@pytest.mark.parametrize(
    ("updated_at", "sent_at", "after", "expected"),
    [
        (100, 200, 0, 900),
        (100, 200, 950, 950),
        (300, 200, 0, 1_000),
        (300, 200, 950, 1_000),
        (-10_000, 200, 0, 0),
        (900, 1_000, 0, 900),
    ],
)
def test_an_update_is_corrected_by_the_difference_of_the_clocks(
    updated_at: int, sent_at: int, after: int, expected: int
) -> None:
    epoch, micro = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
    found = corrected(
        epoch + updated_at * micro, epoch + sent_at * micro, received=1_000, after=after
    )
    assert found == expected


@pytest.mark.claim("Y3")
@pytest.mark.claim("Y6")
def test_a_server_whose_clock_steps_back_between_two_writes_gives_both() -> None:
    server, phone, tablet = shared("an")
    phone.makes("bo")
    phone.syncs()
    tablet.syncs()
    server.passes(timedelta(seconds=-2))
    phone.makes("chen")
    phone.edits("bo", name={"full": "Bo"})
    phone.syncs()
    tablet.syncs()
    assert tablet.holds() == server.holds()
    assert set(tablet.holds()) == {"an", "bo", "chen"}
    revs = [entry.rev for entry in sorted(server.stored.entries.values(), key=lambda one: one.rev)]
    assert revs == sorted(set(revs))
    assert server.holds()["bo"]["name"] == {"full": "Bo"}
    assert server.conflicts() == []


@pytest.mark.claim("Y4")
def test_a_later_edit_wins_over_the_one_that_it_was_made_from_whatever_the_clocks_say() -> None:
    server, phone, tablet = shared("an")
    laptop = Terminal(server, LAPTOP).begins()
    phone.edits("an", name={"full": "first"})
    server.passes()
    phone.syncs()
    server.passes(timedelta(seconds=-5))
    tablet.syncs()
    tablet.edits("an", name={"full": "second"})
    tablet.syncs()
    server.passes(timedelta(seconds=1))
    laptop.edits("an", kind="individual")
    all_sync([laptop, phone, tablet])
    assert server.holds()["an"]["name"] == {"full": "second"}
    assert server.holds()["an"]["kind"] == "individual"
    times = server.entry("an").times
    assert times["name/full"].terminal_id == TABLET
    assert times["name/full"].at > server.history("an")[1].times["name/full"].at
    assert server.history("an")[1].times["name/full"].terminal_id == PHONE
