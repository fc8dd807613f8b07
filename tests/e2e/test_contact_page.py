"""`contactmesh terminal`: a contact's page, one's own numbers, and who may look at them."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.e2e.town import Carrier, Town, begun, now, over, ref
from typer.testing import CliRunner, Result

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.contracts.carrier.feed import StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import DataVolume, EndReason, NetworkState
from contactmesh.terminal import TerminalFolder

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD, NEW, SECOND = "+8613800138000", "+8613900139000", "+8615912345678"
DEADLINE = 30.0
SHOWN_AS = {
    NetworkState.POWERED_OFF: "unreachable",
    NetworkState.NO_SERVICE: "unreachable",
    NetworkState.NO_PAGING_RESPONSE: "unreachable",
    NetworkState.BUSY: "busy",
    NetworkState.IN_CALL: "in a call",
    NetworkState.ONLINE_DATA: "online",
}


@dataclass
class Person:
    """A person at the command line."""

    folder: Path

    @property
    def user_id(self) -> str:
        return TerminalFolder(self.folder).read().credentials.user_id

    async def says(self, *arguments: str, stdin: bytes | None = None) -> Result:
        """Run `contactmesh terminal`; in another thread, where it has an event loop of its own."""
        line = ["terminal", *arguments, "--terminal", str(self.folder)]
        return await asyncio.to_thread(CliRunner().invoke, app, line, input=stdin)

    async def does(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run a command that has to succeed; returns what it printed."""
        done = await self.says(*arguments, stdin=stdin)
        assert done.exit_code == ExitCode.OK, done.output
        return done.stdout

    async def page(self, *arguments: str) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(await self.does("show", *arguments, "--json"))
        return shown


@dataclass
class Two:
    """Ada, with a number at a carrier, and Bo, who has her in his phonebook and may look."""

    ada: Person
    bo: Person
    seq: int


@pytest_asyncio.fixture(loop_scope="module")
async def two(town: Town, mobile: Carrier, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Two]:
    monkeypatch.setenv("COLUMNS", "200")
    ada, bo = Person(await town.stay_at_home("ada")), Person(await town.stay_at_home("bo"))
    seq = town.next_seq()
    await mobile.says(begun(ada.user_id, seq, OLD))
    await ada.does("grant", bo.user_id, "--state", "--usage")
    cards = f"BEGIN:VCARD\nVERSION:4.0\nUID:a\nFN:Ada\nTEL:{OLD}\nEND:VCARD\n".encode()
    await bo.does("import", "-", stdin=cards)
    await bo.does("show", "Ada", "--identity", ada.user_id)
    yield Two(ada, bo, seq)


@pytest.mark.claim("C1")
async def test_c1_opening_a_page_puts_a_changed_number_right(
    town: Town, mobile: Carrier, two: Two
) -> None:
    seq = town.next_seq()
    await mobile.says(
        over(two.seq, EndReason.REPLACED),
        begun(two.ada.user_id, seq, NEW, ref("cn-mobile", two.seq)),
    )
    shown = await two.bo.does("show", "Ada")
    assert f"{OLD} is now {NEW}" in shown
    assert NEW in await two.bo.does("contacts"), "it is in the phonebook for good"
    again = await two.bo.page("Ada")
    assert (again["asked"], again["changes"]) == (True, [])
    assert [number["number"] for number in again["numbers"]] == [NEW]


@pytest.mark.parametrize("state", SHOWN_AS)
@pytest.mark.claim("C5")
async def test_c5_state_is_shown_in_words_with_its_time(
    mobile: Carrier, two: Two, state: NetworkState
) -> None:
    at = now()
    await mobile.says(StateSeen(registration_seq=str(two.seq), state=state, at=at))
    shown = await two.bo.does("show", "Ada")
    assert f"{SHOWN_AS[state]}, {at.astimezone():%Y-%m-%d %H:%M}" in shown


@pytest.mark.claim("C5")
async def test_c5_what_is_left_of_the_plan_is_shown_roughly_with_its_time(
    mobile: Carrier, two: Two
) -> None:
    at = now()
    await mobile.says(
        UsageSeen(registration_seq=str(two.seq), remaining=DataVolume.BELOW_1_GIB, at=at)
    )
    shown = await two.bo.does("show", "Ada")
    assert f"less than 1 GiB, {at.astimezone():%Y-%m-%d %H:%M}" in shown


@pytest.mark.claim("C5")
async def test_c5_what_no_carrier_reported_is_said_to_be_not_known(two: Two) -> None:
    for who, page in ((two.bo, ("show", "Ada")), (two.ada, ("line", "list"))):
        assert (await who.does(*page)).count("not known") == 2, "state and plan"
    (number,) = (await two.bo.page("Ada"))["numbers"]
    assert (number["state"], number["remaining"]) == (None, None)


@pytest.mark.claim("M1")
async def test_the_sim_of_ones_own_number_goes_when_the_number_is_given_on(
    mobile: Carrier, two: Two
) -> None:
    await two.ada.does("sim", "add", "--yes", "cn-mobile", "89860012345678901238", "--number", OLD)
    elsewhere = ("cn-unicom", "89860198765432109875", "--name", "other")
    await two.ada.does("sim", "add", "--yes", *elsewhere, "--number", OLD)
    await mobile.says(over(two.seq, EndReason.RECYCLED))
    left = {"cn-mobile", "other"}
    async with asyncio.timeout(DEADLINE):
        while left != {"other"}:
            accounts = json.loads(await two.ada.does("sim", "list", "--json"))["accounts"]
            left = {sim["name"] for account in accounts for sim in account["sims"]}
            assert "other" in left, "the number is none of that carrier's"


@pytest.mark.claim("C6")
async def test_c6_labels_and_dial_order_are_the_owners_until_the_viewer_sets_their_own(
    town: Town, mobile: Carrier, two: Two
) -> None:
    seq = town.next_seq()
    await mobile.says(begun(two.ada.user_id, seq, SECOND))
    assert "evenings" in await two.ada.does("line", "label", SECOND, "work", "evenings")
    await two.ada.does("line", "priority", SECOND, "1")
    listed = json.loads(await two.ada.does("line", "list", "--json"))
    described = {each["line"]["msisdn"]: each["line"] for each in listed}
    assert (described[SECOND]["labels"], described[SECOND]["dial_priority"]) == (
        ["work", "evenings"],
        1,
    )
    page = await two.bo.page("Ada")
    assert [number["number"] for number in page["numbers"]] == [SECOND, OLD]
    assert page["numbers"][0]["shared_labels"] == ["work", "evenings"]
    await two.bo.does("dial-order", "Ada", "+86 138 0013 8000")
    page = await two.bo.page("Ada")
    assert [number["number"] for number in page["numbers"]] == [OLD, SECOND]
    await two.bo.does("dial-order", "Ada")
    page = await two.bo.page("Ada")
    assert [number["number"] for number in page["numbers"]] == [SECOND, OLD]


def refused(looks: list[dict[str, Any]]) -> int:
    """How many looks were refused."""
    return sum(look["count"] for look in looks if not look["allowed"])


@pytest.mark.claim("C7")
async def test_c7_a_revoked_viewer_keeps_what_they_knew_and_is_told_no_more(two: Two) -> None:
    assert two.bo.user_id in await two.ada.does("grants")
    await two.ada.does("revoke", two.bo.user_id)
    page = await two.bo.says("show", "Ada")
    assert page.exit_code == ExitCode.OK
    assert "Contact update failed" in page.stderr
    assert "As of " in page.stderr
    assert OLD in page.stdout
    looks = json.loads(await two.ada.does("looks", "--json"))
    # Refused by its references, the page has asked once more by numbers.
    assert (looks[0]["allowed"], looks[-1]["allowed"], refused(looks)) == (False, True, 2)
    assert {look["viewer_id"] for look in looks} == {two.bo.user_id}
    await two.bo.does("show", "Ada")
    assert refused(json.loads(await two.ada.does("looks", "--json"))) == 3
    listed = await two.ada.says("looks", "--limit", "1")
    assert "There are older looks" in listed.stderr


@pytest.mark.claim("C1")
async def test_c1_without_a_connection_the_page_shows_what_is_known_and_from_when(
    two: Two,
) -> None:
    folder = TerminalFolder(two.bo.folder)
    enrolment = folder.read()
    credentials = enrolment.credentials.model_copy(update={"broker_url": "amqp://127.0.0.1:9/x"})
    folder.write(
        enrolment.model_copy(
            update={"credentials": credentials, "identity_url": "http://127.0.0.1:9"}
        )
    )
    page = await two.bo.says("show", "Ada")
    assert page.exit_code == ExitCode.OK, page.output
    assert "could not be reached" in page.stderr
    assert "As of " in page.stderr
    assert OLD in page.stdout


async def test_a_contact_whom_nobody_named_is_shown_with_a_hint(two: Two) -> None:
    cards = b"BEGIN:VCARD\nVERSION:4.0\nUID:x\nFN:Somebody\nTEL:+8610086\nEND:VCARD\n"
    await two.bo.does("import", "-", stdin=cards)
    page = await two.bo.says("show", "Somebody")
    assert page.exit_code == ExitCode.OK
    assert "--identity" in page.stderr
    assert "+8610086" in page.stdout
    (of_ada,), (number,) = [(await two.bo.page(who))["numbers"] for who in ("Ada", "Somebody")]
    assert of_ada.keys() == number.keys(), "a script finds each field at every number"
    assert number["carrier_id"] is None


async def test_a_person_without_a_live_number_is_told_so(town: Town, two: Two) -> None:
    cy = Person(await town.stay_at_home("cy"))
    await cy.does("grant", two.bo.user_id)
    cards = b"BEGIN:VCARD\nVERSION:4.0\nUID:c\nFN:Cy\nTEL:+8613012345678\nEND:VCARD\n"
    await two.bo.does("import", "-", stdin=cards)
    page = await two.bo.says("show", "Cy", "--identity", cy.user_id)
    assert page.exit_code == ExitCode.OK
    assert "no live number" in page.stderr
    assert (await two.bo.page("Cy"))["identity_id"] == cy.user_id


async def test_without_a_contact_the_terminal_shows_itself(two: Two) -> None:
    shown = json.loads(await two.bo.does("show", "--json"))
    assert (shown["user_id"], shown["connection"]) == (two.bo.user_id, "works")


async def test_what_is_no_number_of_ones_own_is_told(two: Two) -> None:
    refused = await two.ada.says("line", "label", "+8613999999999", "x")
    assert refused.exit_code == ExitCode.FAILED
    assert refused.stderr.startswith("error: None of your numbers is")
    refused = await two.bo.says("dial-order", "Ada", "+8613999999999")
    assert refused.exit_code == ExitCode.FAILED
