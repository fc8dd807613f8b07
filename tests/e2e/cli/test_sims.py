"""SIM cards at the command line: two terminals of one person, at two carriers."""

import pytest
from tests.e2e.cli.person import Person
from tests.e2e.cli.sims import (
    FIRST,
    MOBILE,
    RENEWED,
    SECOND,
    UNICOM,
    bring,
    sims,
    waiting,
)

from contactmesh.contracts.multi_sim.commands import AccountList
from contactmesh.contracts.multi_sim.records import UserInformation
from contactmesh.terminal import Terminal


@pytest.mark.claim("M1")
@pytest.mark.claim("M2")
async def test_the_first_sim_makes_an_account_and_prints_its_code(
    li_wei: Person, tablet: Person
) -> None:
    first = (await li_wei.run("sim", "add", "--yes", MOBILE, FIRST, "--number", "13800138000")).out
    assert f"Your account at {MOBILE} is new." in first
    listing = await tablet.told("sim", "list")
    (account,) = listing["accounts"]
    assert account["identification_code"] in first
    assert listing["information"] == {"name": "李伟", "note": ""}
    (sim,) = account["sims"]
    assert (sim["name"], sim["msisdn"], sim["here"]) == (MOBILE, "+8613800138000", False)

    second = await tablet.run("sim", "add", "--yes", MOBILE, SECOND, "--name", "工作")
    assert "is new" not in second.out
    assert account["identification_code"] in second.out
    shown = (await tablet.run("sim", "list")).out.splitlines()
    (here,) = [row for row in shown if "this one" in row]
    assert here.startswith("工作")
    (there,) = [row for row in shown if row.startswith(MOBILE) and FIRST in row]
    assert li_wei.name in there.split()


@pytest.mark.claim("M1")
async def test_all_accounts_say_the_same_of_their_user(li_wei: Person, tablet: Person) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    await tablet.run("sim", "add", "--yes", UNICOM, SECOND)
    assert "李伟 (two SIMs)" in (await tablet.run("sim", "info", "--note", "two SIMs")).out
    assert await li_wei.told("sim", "info", "Li Wei") == {"name": "Li Wei", "note": "two SIMs"}
    assert await tablet.told("sim", "info") == {"name": "Li Wei", "note": "two SIMs"}


@pytest.mark.claim("M1")
async def test_adding_a_sim_takes_back_nothing_that_was_set_meanwhile(
    li_wei: Person, tablet: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    look = Terminal.accounts

    async def overtaken(terminal: Terminal) -> AccountList:
        known = await look(terminal)
        await terminal.set_information(UserInformation(name="Li Wei"))
        return known

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Terminal, "accounts", overtaken)
        await tablet.run("sim", "add", "--yes", UNICOM, SECOND)
    assert await tablet.told("sim", "info") == {"name": "Li Wei", "note": ""}


async def test_a_sim_is_moved_renewed_and_removed(li_wei: Person, tablet: Person) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST, "--number", "13800138000")
    away = await tablet.run("sim", "pending", "1238", status=1)
    assert "contactmesh terminal sim move cn-mobile" in away.err
    await tablet.run("sim", "move", "138 0013 8000")
    assert (await sims(tablet))[MOBILE]["here"] is True
    await tablet.run("sim", "replace", MOBILE, RENEWED)
    assert (await sims(tablet))[MOBILE]["iccid"] == RENEWED
    asked = await tablet.run("sim", "remove", MOBILE, status=2)
    assert "--yes" in asked.err
    await tablet.run("sim", "remove", MOBILE, "--yes")
    assert await sims(tablet) == {}
    assert "sim add" in (await tablet.run("sim", "list")).err


async def test_consent_and_following_are_set_by_carrier(li_wei: Person) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    await li_wei.run("sim", "consent", MOBILE, "on")
    await li_wei.run("sim", "follow-book", MOBILE, "on")
    (account,) = (await li_wei.told("sim", "list"))["accounts"]
    assert (account["consent"], account["follows_book"]) == (True, True)
    await li_wei.run("sim", "consent", MOBILE, "off")
    (account,) = (await li_wei.told("sim", "list"))["accounts"]
    assert (account["consent"], account["follows_book"]) == (False, True)
    near = await li_wei.run("sim", "consent", "cn-mobil", "on", status=1)
    assert "Did you mean cn-mobile?" in near.err


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("add", "CN Mobile", FIRST), "small letters"),
        (("add", MOBILE, "1234"), "no ICCID"),
        (("add", MOBILE, FIRST, "--number", "call me"), "no phone number"),
        (("add", MOBILE, FIRST, "--yes", "--name", "\n"), "1 to 100 characters"),
        (("info", "--note", "no name yet"), "give a name"),
        (("consent", MOBILE, "perhaps"), "perhaps"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_sim_carrier_or_name_is_told_in_one_line(
    li_wei: Person, command: tuple[str, ...], reason: str
) -> None:
    refused = await li_wei.run("sim", *command, status=2)
    assert reason in refused.err
    assert refused.err.count("\n") == 1
    assert await li_wei.told("sim", "list") == {"accounts": []}


async def test_a_check_digit_that_does_not_fit_is_asked_back(li_wei: Person) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    slip = f"{SECOND[:-1]}0"
    for command in (("add", MOBILE, slip), ("replace", MOBILE, slip)):
        asked = await li_wei.run("sim", *command, status=2)
        assert "check digit" in asked.err
        assert "--yes" in asked.err
    assert [sim["iccid"] for sim in (await sims(li_wei)).values()] == [FIRST]
    assert (await li_wei.told("sim", "add", "--yes", MOBILE, slip))["created"] is False


async def test_a_carrier_of_which_nothing_is_known_is_asked_about(li_wei: Person) -> None:
    first = await li_wei.run("sim", "add", "cn-mobil", FIRST, status=2)
    assert "Make an account at cn-mobil?" in first.err
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    slip = await li_wei.run("sim", "add", "cn-mobil", SECOND, status=2)
    assert f"but at {MOBILE}" in slip.err
    assert set(await sims(li_wei)) == {MOBILE}
    # Where there is an account, nothing new is made.
    await li_wei.run("sim", "add", MOBILE, SECOND)


async def test_moving_a_sim_tells_what_waits_there(li_wei: Person, tablet: Person) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    await tablet.run("sim", "add", "--yes", MOBILE, SECOND, "--name", "other")
    await bring(li_wei, ("Ann", "13800138001"))
    nothing = await tablet.run("sim", "accept", "other")
    assert "Nothing waits for other" in nothing.err
    assert nothing.out == ""
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, "other", 1)
    moved = await li_wei.run("sim", "move", "other")
    assert "1 contact waits for other" in moved.out
    assert "sim pending other" in moved.err
