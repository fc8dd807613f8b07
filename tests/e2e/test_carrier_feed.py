"""From a carrier's word to every phonebook, with every process real."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.e2e.town import Carrier, Town, begun, now, numbers, over, ref
from tests.unit.terminal.cards import card
from typer.testing import CliRunner

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.carrier.feed import Feed, StateSeen
from contactmesh.contracts.carrier.records import (
    EndReason,
    NetworkState,
    ShownState,
)
from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.terminal import CommandRefused, ContactUpdated, Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD, NEW, NEWER = "+8613800138000", "+8613900139000", "+8613700137000"
DEADLINE = 30.0


async def until_shown(viewers: Sequence[Terminal], person: Terminal, wanted: set[str]) -> None:
    """Wait until every phonebook shows exactly these numbers of a person."""

    async def shown(viewer: Terminal) -> None:
        updates = viewer.updates()
        while await numbers(viewer.phonebook, person) != wanted:
            await anext(updates)

    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*(shown(viewer) for viewer in viewers))


async def family(town: Town, person: Terminal, *members: Terminal) -> str:
    """A group in which everybody shows the person's old number."""
    group_id = await person.create_group("family", [each.user_id for each in members])
    (published,) = await person.publish(card(person.user_id, "Ada", phones={"mobile": OLD}))
    assert published.error is None
    await until_shown(members, person, {OLD})
    return group_id


async def refusal(viewer: Terminal, contact_id: str, identity_id: str | None = None) -> ErrorBody:
    with pytest.raises(CommandRefused) as refused:
        await viewer.check(contact_id, identity_id)
    return refused.value.error


@pytest.mark.claim("C2")
async def test_c2_a_number_changed_in_the_feed_is_right_in_every_members_phonebook(
    town: Town, mobile: Carrier
) -> None:
    ada, bo, mei = await town.person("ada"), await town.person("bo"), await town.person("mei")
    first, second = town.next_seq(), town.next_seq()
    await mobile.says(begun(ada, first, OLD))
    await family(town, ada, bo, mei)
    await mobile.says(
        over(first, EndReason.REPLACED), begun(ada, second, NEW, ref("cn-mobile", first))
    )
    await until_shown([bo, mei], ada, {NEW})
    checked = await bo.check((await bo.phonebook.contacts())[0].contact_id)
    assert {line.number for line in checked.known.lines} == {NEW}, "registry and group agree"
    assert [change.code for change in checked.changes] == [ChangeCode.UNCHANGED]


@pytest.mark.claim("C2")
async def test_c2_a_change_told_by_two_carriers_one_after_the_other_arrives_all_the_same(
    town: Town, mobile: Carrier, unicom: Carrier
) -> None:
    ada, bo = await town.person("ada"), await town.person("bo")
    first, second = town.next_seq(), town.next_seq()
    await mobile.says(begun(ada, first, OLD))
    await family(town, ada, bo)
    await mobile.says(over(first, EndReason.PORTED_OUT))
    await unicom.says(begun(ada, second, NEWER, ref("cn-mobile", first)))
    await until_shown([bo], ada, {NEWER})


@pytest.mark.claim("C1")
async def test_c1_a_check_finds_a_change_before_and_without_the_group(
    town: Town, mobile: Carrier
) -> None:
    ada, bo = await town.person("ada"), await town.person("bo")
    first, second = town.next_seq(), town.next_seq()
    await mobile.says(begun(ada, first, OLD))
    await ada.grant(bo.user_id, details=True, state=True)
    await bo.import_cards(f"BEGIN:VCARD\nVERSION:4.0\nUID:a\nFN:Ada\nTEL:{OLD}\nEND:VCARD".encode())
    (contact,) = await bo.contacts()
    await mobile.says(
        over(first, EndReason.REPLACED),
        begun(ada, second, NEW, ref("cn-mobile", first)),
        StateSeen(registration_seq=str(second), state=NetworkState.POWERED_OFF, at=now()),
    )
    updates = bo.updates()
    checked = await bo.check(contact.contact_id, ada.user_id)
    assert [change.code for change in checked.changes] == [ChangeCode.NUMBER_CHANGED]
    (line,) = checked.known.lines
    assert (line.number, line.state) == (NEW, ShownState.UNREACHABLE)
    assert [phone.number for phone in (checked.contact.card.phones or {}).values()] == [NEW]
    assert isinstance(await anext(updates), ContactUpdated)
    again = await bo.check(contact.contact_id)
    assert [change.code for change in again.changes] == [ChangeCode.UNCHANGED], "told once"
    (look, *_) = (await ada.looks()).looks
    assert (look.viewer_id, look.allowed) == (bo.user_id, True)


@pytest.mark.claim("C7")
async def test_c7_a_blocked_viewer_learns_by_a_check_what_a_stranger_learns(
    town: Town, mobile: Carrier
) -> None:
    ada, bo, stranger = (
        await town.person("ada"),
        await town.person("bo"),
        await town.person("stranger"),
    )
    first, second = town.next_seq(), town.next_seq()
    await mobile.says(begun(ada, first, OLD))
    group_id = await family(town, ada, bo)
    (contact,) = await bo.contacts()
    await bo.check(contact.contact_id)
    await ada.block(bo.user_id, group_id)
    await mobile.says(
        over(first, EndReason.REPLACED), begun(ada, second, NEW, ref("cn-mobile", first))
    )
    async with asyncio.timeout(DEADLINE):
        # The registry learns of the block by an event, like everybody else.
        while True:
            try:
                await bo.check(contact.contact_id)
            except CommandRefused:
                break
    await stranger.import_cards(b"BEGIN:VCARD\nVERSION:4.0\nUID:a\nFN:Ada\nEND:VCARD")
    (unknown,) = await stranger.contacts()
    of_blocked = await refusal(bo, contact.contact_id)
    assert of_blocked == await refusal(stranger, unknown.contact_id, ada.user_id)
    assert of_blocked == await refusal(stranger, unknown.contact_id, "nobody-at-all")
    assert of_blocked.code is ErrorCode.NOT_FOUND
    assert await numbers(bo.phonebook, ada) == {OLD}, "what was known stays"


@pytest.mark.claim("C2")
async def test_c2_a_recycled_number_is_not_shown_as_the_old_contact(
    town: Town, mobile: Carrier
) -> None:
    ada, bo, heir = await town.person("ada"), await town.person("bo"), await town.person("heir")
    first, second = town.next_seq(), town.next_seq()
    await mobile.says(begun(ada, first, OLD))
    await family(town, ada, bo)
    await mobile.says(over(first, EndReason.CANCELLED))
    await until_shown([bo], ada, set())
    await mobile.says(over(first, EndReason.RECYCLED), begun(heir, second, OLD))
    (contact,) = await bo.contacts()
    checked = await bo.check(contact.contact_id)
    assert checked.known.lines == ()
    assert await numbers(bo.phonebook, ada) == set()
    await bo.import_cards(f"BEGIN:VCARD\nVERSION:4.0\nUID:h\nFN:?\nTEL:{OLD}\nEND:VCARD".encode())
    (unknown,) = (each for each in await bo.contacts() if each.user_id is None)
    error = await refusal(bo, unknown.contact_id, heir.user_id)
    assert error.code is ErrorCode.NOT_FOUND, "who had the number before gives no access"


async def test_a_user_cannot_feed_and_a_carrier_cannot_look(town: Town, mobile: Carrier) -> None:
    ada = await town.person("ada")
    with pytest.raises(CommandRefused) as refused:
        await ada.request(Feed(entries=(begun(ada, 99, OLD),)))
    assert refused.value.code is ErrorCode.PERMISSION_DENIED
    with pytest.raises(CommandRefused) as refused:
        await mobile.terminal.own_lines()
    assert refused.value.code is ErrorCode.PERMISSION_DENIED


async def test_simulated_days_are_taken_in_whole_and_playing_them_again_changes_nothing(
    town: Town, tmp_path: Path, mobile: Carrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTACTMESH_IDENTITY_URL", town.system.stack.identity_url)
    monkeypatch.setenv(
        "CONTACTMESH_OPERATOR_TOKEN_FILE", str(town.system.stack.operator_token_file)
    )
    command = ["simulate", "carrier", "--people", "30", "--seed", "7", "--json"]
    arguments = [*command, "--data", str(tmp_path)]
    played = await asyncio.to_thread(CliRunner().invoke, app, arguments)
    assert played.exit_code == ExitCode.OK, played.output
    first = json.loads(played.stdout)
    assert first["happenings"]["begun"] == 30
    assert (first["outcomes"]["same"], first["outcomes"]["rejected"]) == (0, 0)
    again = await asyncio.to_thread(CliRunner().invoke, app, arguments)
    second = json.loads(again.stdout)
    facts = sum(first["outcomes"].values())
    assert second["outcomes"] == {"applied": 0, "same": facts, "rejected": 0}
    assert second["happenings"] == first["happenings"]
    people = ["simulate", "carrier", "--people", "5", "--hours", "6", "--speed", "100000"]
    told = await asyncio.to_thread(CliRunner().invoke, app, [*people, "--data", str(tmp_path)])
    assert told.exit_code == ExitCode.OK, told.output
    assert "a person's first number" in told.stdout
    assert " 0 rejected." in told.stdout
