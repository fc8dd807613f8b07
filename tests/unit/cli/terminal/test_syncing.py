"""What the commands of the address book say where no system runs: usage, times, and failures."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from time import tzset

import pytest
from tests.unit.cli.terminal.conftest import Run

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.terminal.syncing import _show
from contactmesh.cli.terminal.times import (
    read_clock,
    read_interval,
    read_moment,
    told,
    told_exactly,
    told_interval,
)
from contactmesh.terminal import Arrival, Arrived, SyncOutcome, SyncState, Terminal

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
PROBLEM = "sync.exchange got no reply within 20 seconds."


@pytest.fixture
def alice(enrolled: Callable[[str], None], run: Run, data: Path) -> Run:
    """A terminal of a system that does not run."""
    enrolled("alice")
    (data / "ports.json").write_text(json.dumps({"identity_service#1": 9}))
    return run


@pytest.fixture
def failed(data: Path) -> Callable[[timedelta], None]:
    """Lets the sync have failed since so long ago."""

    def fail(ago: timedelta) -> None:
        async def keep() -> None:
            async with Terminal.phonebook_of(data / "terminals" / "alice") as phonebook:
                await phonebook.sync_failed(datetime.now(UTC) - ago, PROBLEM)

        asyncio.run(keep())

    return fail


def state_of(data: Path) -> SyncState:
    async def read() -> SyncState:
        async with Terminal.phonebook_of(data / "terminals" / "alice") as phonebook:
            return await phonebook.sync_state()

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("sync", "--every", "15m", "--at", "03:00"), "one of --every, --at and --off"),
        (("sync", "--every", "often"), "as in 15m"),
        (("sync", "--every", "1s"), "at least 1m"),
        (("sync", "--every", "31d"), "at most 30d"),
        (("sync", "--at", "24:00"), "as in 03:00"),
        (("restore",), "Say a contact"),
        (("restore", "--book"), "belong together"),
        (("restore", "张伟", "--at", "2026-11-30"), "belong together"),
        (("restore", "张伟", "--book", "--at", "2026-11-30"), "belong together"),
        (("restore", "--deleted", "张伟", "--to", "2"), "--to belongs"),
        (("restore", "--to", "2"), "--to belongs"),
        (("restore", "张伟", "--to", "0"), "--to"),
        (("restore", "--book", "--at", "yesterday", "--yes"), "as in '2026-11-30 14:00'"),
        (("restore", "--book", "--at", "9998-01-01", "--yes"), "has not come yet"),
        (("restore", "--book", "--at", "2020-01-01 00:00"), "longer ago than versions are kept"),
        (("own-card", "李伟", "--none"), "Say either"),
        (("sync-policy", "first-wins"), "latest-wins"),
        (("duplicates", "--join", "1", "--undo", "1"), "Say either"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_does_not_fit_together_is_told_before_anything_is_done(
    alice: Run, command: tuple[str, ...], reason: str
) -> None:
    result = alice(*command)
    assert result.exit_code == ExitCode.USAGE
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_restoring_the_book_is_asked_about_where_it_is_possible(alice: Run) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    asked = alice("restore", "--book", "--at", yesterday)
    assert asked.exit_code == ExitCode.USAGE
    assert "Nothing was done, for nobody is there to ask" in asked.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("15m", 900), ("60s", 60), ("2 h", 7_200), ("１Ｄ", 86_400)]
)
def test_an_interval_is_read_and_told(text: str, seconds: int) -> None:
    assert read_interval(text) == seconds
    assert read_interval(told_interval(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "15", "m", "-5m", "1.5h", "59s", "31d", "9" * 30 + "d"])
def test_what_is_no_interval(text: str) -> None:
    with pytest.raises(WrongUsage):
        read_interval(text)


@pytest.mark.parametrize(
    ("text", "at"), [("03:00", time(3)), ("3:05", time(3, 5)), ("２３：５９", time(23, 59))]
)
def test_a_time_of_the_day_is_read(text: str, at: time) -> None:
    assert read_clock(text) == at


@pytest.mark.parametrize("text", ["", "3", "24:00", "12:60", "12:5", "noon"])
def test_what_is_no_time_of_the_day(text: str) -> None:
    with pytest.raises(WrongUsage):
        read_clock(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30 14:00", datetime(2026, 11, 30, 14).astimezone()),
        ("2026-11-29", datetime(2026, 11, 29).astimezone()),
        ("2026-11-30T14:00:00+08:00", datetime(2026, 11, 30, 6, tzinfo=UTC)),
        ("٢٠٢٦-11-30 14:00:01", datetime(2026, 11, 30, 14, 0, 1).astimezone()),
        ("２０２６-11-30　14：00：01", datetime(2026, 11, 30, 14, 0, 1).astimezone()),
    ],
)
def test_a_time_without_a_zone_is_by_the_clock_here(text: str, moment: datetime) -> None:
    assert read_moment(text, moment + timedelta(seconds=1)) == moment


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize(
    "text", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31", "0001-01-01"]
)
def test_a_time_that_cannot_be_shown_here_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, zone: str, text: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    tzset()
    try:
        with suppress(WrongUsage):
            told(read_moment(text, NOW))
    finally:
        monkeypatch.undo()
        tzset()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("ahead", [timedelta(), timedelta(minutes=5)], ids=["past", "the server's"])
def test_a_time_that_was_told_is_read_again(
    monkeypatch: pytest.MonkeyPatch, zone: str, ahead: timedelta
) -> None:
    monkeypatch.setenv("TZ", zone)
    tzset()
    try:
        moment = NOW + ahead + timedelta(seconds=3, microseconds=7)
        assert read_moment(told(moment), NOW) == moment.replace(second=0, microsecond=0)
        assert read_moment(told_exactly(moment), NOW) == moment
        assert told_exactly(moment).startswith(told(moment)[:16])
    finally:
        monkeypatch.undo()
        tzset()


@pytest.mark.parametrize("text", ["", "14:00", "2026-13-01", "2026-12-01 14:01Z"])
def test_what_is_no_time_in_the_past(text: str) -> None:
    with pytest.raises(WrongUsage):
        read_moment(text, NOW)


def test_a_sync_that_cannot_reach_the_system_is_kept_as_failing(alice: Run, data: Path) -> None:
    assert alice("sync").exit_code == ExitCode.UNREACHABLE
    state = state_of(data)
    assert state.failing_since is not None
    assert "No stack runs" in (state.problem or "")


@pytest.mark.parametrize("command", ["contacts", "sync"])
def test_a_sync_that_has_failed_for_a_day_is_told_beside_the_result(
    alice: Run, failed: Callable[[timedelta], None], command: str
) -> None:
    failed(timedelta(hours=25))
    result = alice(command, "--json")
    assert PROBLEM in result.stderr
    assert "could not be synced since" in result.stderr
    assert "contactmesh terminal sync" in result.stderr
    assert PROBLEM not in result.stdout


def test_one_that_has_failed_for_an_hour_is_not(
    alice: Run, failed: Callable[[timedelta], None]
) -> None:
    failed(timedelta(hours=1))
    assert alice("contacts", "--json").stderr == ""


NAMED = "张伟 is new\n王芳 was deleted\n"


def arrived(*names: str) -> tuple[Arrived, ...]:
    return tuple(Arrived(name, name, Arrival.ADDED) for name in names)


@pytest.mark.parametrize(
    ("outcome", "told", "noted"),
    [
        (SyncOutcome(), "", "All is the same here and in your address book on the server."),
        (SyncOutcome(full=True), "", "The whole book was compared"),
        (
            SyncOutcome(full=True, received=2, arrived=arrived("张伟", "王芳")),
            "0 sent, 2 received\n张伟 is new\n王芳 is new\n",
            "",
        ),
        (
            SyncOutcome(
                received=2,
                arrived=(*arrived("张伟"), Arrived("w", "王芳", Arrival.DELETED)),
                conflicts=1,
            ),
            f"0 sent, 2 received (1 deleted), 1 contact in conflict\n{NAMED}",
            "contactmesh terminal conflicts",
        ),
        (
            SyncOutcome(sent=1, received=6, arrived=arrived(*"abcdef")),
            "1 sent, 6 received\n",
            "",
        ),
    ],
    ids=["nothing", "the same", "all is new", "little", "much"],
)
def test_what_a_sync_did_is_told(
    capsys: pytest.CaptureFixture[str], outcome: SyncOutcome, told: str, noted: str
) -> None:
    _show(outcome)
    out, err = capsys.readouterr()
    assert out == told
    assert noted in err
    assert err or not noted
    assert ("compared" in err) == (outcome.full and not outcome.received)


TWICE = """\
BEGIN:VCARD
VERSION:4.0
FN:王芳
TEL;TYPE=cell:13900139000
EMAIL:wf@example.com
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Wang Fang
TEL;TYPE=cell:+8613900139000
EMAIL:wf@example.com
END:VCARD
"""


def test_two_entries_of_one_person_are_made_one_and_parted_again(alice: Run) -> None:
    alice("import", "-", stdin=TWICE)
    assert "the same mobile number" in alice("duplicates").stdout
    (pair,) = json.loads(alice("duplicates", "--json").stdout)["pairs"]
    asked = alice("duplicates", "--join", pair["id"])
    assert asked.exit_code == ExitCode.USAGE
    assert "王芳 (13900139000)" in asked.stderr

    joined = json.loads(alice("duplicates", "--join", pair["id"], "--yes", "--json").stdout)
    (contact,) = json.loads(alice("contacts", "--json").stdout)
    assert contact["contact_id"] == joined["contact_id"] == pair["first"]["contact_id"]
    gone = alice("duplicates", "--join", pair["id"], "--yes")
    assert gone.exit_code == ExitCode.FAILED
    (join,) = json.loads(alice("duplicates", "--json").stdout)["joins"]
    assert alice("duplicates", "--undo", join["join_id"][-8:]).exit_code == ExitCode.OK
    contacts = json.loads(alice("contacts", "--json").stdout)
    assert {each["display_name"] for each in contacts} == {"王芳", "Wang Fang"}
