"""The main job at the command line: two people, one changes their number."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli.person import Person

from contactmesh.local.stack import Stack

OLD = "+8613800138000"
NEW = "+8613900139000"
NEWER = "+8613700137000"
NEWEST = "+8613600136000"

PHONEBOOK = """\
BEGIN:VCARD
VERSION:3.0
FN:李伟
TEL;TYPE=CELL:１３８００１３８０００
NOTE:老同学
END:VCARD
BEGIN:VCARD
VERSION:2.1
N:Smith;Ann
TEL;CELL:+14155550100
END:VCARD
BEGIN:VCARD
VERSION:3.0
FN:Nobody
"""


async def befriend(inviter: Person, invited: Person) -> None:
    """Both become members of a group of the inviter's."""
    await inviter.run("group", "create", "家人")
    await inviter.run("group", "invite", "家人", invited.name)
    await invited.run("group", "accept", "家人")


async def numbers(person: Person, name: str) -> list[str]:
    """The numbers under which a phonebook has somebody."""
    return [
        phone["number"]
        for contact in await person.told("contacts", name)
        for phone in contact["card"].get("phones", {}).values()
    ]


def is_change(update: dict[str, Any]) -> bool:
    return bool(update["update"] == "contact_updated" and update["changes"])


async def test_enrolment_is_shown_and_happens_once(stack: Stack, li_wei: Person) -> None:
    shown = await li_wei.told("show")
    assert shown["user_id"] == "li-wei"
    assert shown["display_name"] == "李伟"
    assert shown["terminal_id"].startswith("li-wei_")
    assert shown["connection"] == "works"
    assert "secret" not in shown
    for_people = (await li_wei.run("show")).out
    assert shown["queue"] in for_people
    assert "there and back" in for_people

    refused = await li_wei.run("enrol", "AAAA-BBBB-CCCC", status=1)
    assert "--as NAME" in refused.err
    another = Person("another", stack.settings.data)
    wrong = await another.run("enrol", "AAAA-BBBB-CCCC", status=1)
    assert wrong.err.count("\n") == 1


@pytest.mark.timeout(300)  # each command loads Python anew
async def test_a_number_changed_once_arrives_in_the_other_phonebook(
    stack: Stack, tmp_path: Path
) -> None:
    li_wei = Person("li-wei", stack.settings.data, processes=True)
    bob = Person("bob", stack.settings.data, processes=True)
    await asyncio.gather(li_wei.enrol("李伟", "--region", "CN"), bob.enrol("Bob"))

    # Bob knows Li Wei already; what cannot be read is told, and the rest is taken.
    imported = await bob.run("import", "-", "--json", stdin=PHONEBOOK.encode(), status=1)
    outcome = json.loads(imported.out)
    assert (outcome["added"], outcome["updated"], outcome["unchanged"]) == (2, 0, 0)
    (damaged,) = outcome["damaged"]
    assert damaged["line"] > 10
    assert damaged["reason"]
    assert damaged["hint"]

    await befriend(bob, li_wei)
    first = await li_wei.run("publish", "--number", OLD, status=2)
    assert "--card me.vcf" in first.err
    card = tmp_path / "我.vcf"
    card.write_text(
        f"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:李伟\r\nTEL:{OLD}\r\nEND:VCARD\r\n", encoding="utf-8"
    )
    (published,) = await li_wei.told("publish", "--card", str(card))
    assert published["outcome"] == "published"

    async with bob.watching() as watching:
        await watching.until(lambda update: update["update"] == "contact_added")
        (changed,) = await li_wei.told("publish", "--number", f"{OLD}={NEW}")
        assert (changed["name"], changed["outcome"]) == ("家人", "published")
        update = await watching.until(is_change)
        assert update["display_name"] == "李伟"
        (change,) = update["changes"]
        assert (change["old"], change["new"]) == (OLD, NEW)

        busy = await bob.run("pull", status=1)
        assert "Another process" in busy.err
        # Reading goes on beside it.
        assert NEW in await numbers(bob, "李伟")
        assert [group["members"] for group in await bob.told("group", "list")] == [2]
        shown = await bob.told("group", "show", "家人")
        assert [member["user_id"] for member in shown["members"]] == ["li-wei"]
        assert await watching.interrupted() == 0

    (again,) = await li_wei.told("publish", "--number", f"{OLD}={NEW}")
    assert again["outcome"] == "unchanged"
    everyone = (await bob.run("contacts")).out
    assert "Smith" in everyone


async def test_a_block_withholds_and_lifting_it_brings_the_number_of_today(
    li_wei: Person, bob: Person
) -> None:
    await befriend(li_wei, bob)
    await li_wei.run("publish", "--name", "李伟", "--number", OLD)
    pulled = await bob.told("pull")
    assert [update["update"] for update in pulled].count("contact_added") == 1
    assert await numbers(bob, "李伟") == [OLD]

    await li_wei.run("block", "bob", "--group", "家人")
    assert list((await li_wei.told("blocks"))["in_groups"].values()) == [["bob"]]
    await li_wei.run("publish", "--number", NEWER)
    await li_wei.run("publish", "--number", f"{NEWER}={NEWEST}")
    assert not [update for update in await bob.told("pull") if "contact" in update["update"]]
    assert await numbers(bob, "李伟") == [OLD]

    lifted = await li_wei.run("lift", "bob", "--group", "家人")
    assert "No block on bob any more in: 家人." in lifted.out
    again = await li_wei.run("lift", "bob", "--group", "家人")
    assert again.out == ""
    assert "Nothing to lift" in again.err
    (update,) = [update for update in await bob.told("pull") if is_change(update)]
    (change,) = update["changes"]
    # What was between is never told.
    assert (change["old"], change["new"]) == (OLD, NEWEST)
    assert await numbers(bob, "李伟") == [NEWEST]


async def test_each_group_keeps_the_card_it_was_given(li_wei: Person, bob: Person) -> None:
    await li_wei.run("group", "create", "家人", "--member", "bob")
    await li_wei.run("group", "create", "Work", "--member", "bob")
    await li_wei.run("publish", "--name", "李伟", "--number", OLD, "--group", "家人")
    # A group that was never given a card is not given one by the way.
    told = await li_wei.told("publish", "--number", f"{OLD}={NEW}")
    assert {each["name"]: each["outcome"] for each in told} == {
        "家人": "published",
        "Work": "skipped",
    }
    (shared,) = await li_wei.told("publish", "--group", "work")
    assert shared["outcome"] == "published"
    shown = await li_wei.told("group", "show", "WORK")
    assert shown["card_rev"] == shared["rev"]


async def test_what_is_ones_own_stays_when_the_member_changes(li_wei: Person, bob: Person) -> None:
    await befriend(li_wei, bob)
    await bob.run("publish", "--name", "Bob Miller", "--number", OLD)
    await li_wei.run("pull")
    await li_wei.run("note", "bob", "喜欢喝茶")
    await li_wei.run("label", "Bob Miller", "138 0013 8000", "老板")
    await bob.run("publish", "--number", f"{OLD}={NEW}")
    await li_wei.run("pull")

    contact = await li_wei.told("contact", "bob miller")
    by_value = {field["value"]: field for field in contact["fields"]}
    assert by_value["喜欢喝茶"]["of"] == "owner"
    assert by_value[NEW]["of"] == "member"
    assert by_value[NEW]["label"] == "老板"
    assert OLD not in by_value

    await li_wei.run("unlink", contact["contact_id"])
    assert (await li_wei.told("contact", contact["contact_id"]))["user_id"] is None
    await li_wei.run("link", contact["contact_id"], "bob")
    assert (await li_wei.told("contact", contact["contact_id"]))["user_id"] == "bob"


async def test_exported_cards_import_as_the_same(li_wei: Person, tmp_path: Path) -> None:
    first = await li_wei.run("import", "-", stdin=PHONEBOOK.encode(), status=1)
    assert "2 new" in first.out
    file = tmp_path / "全部.vcf"
    await li_wei.run("export", str(file))
    again = await li_wei.run("import", str(file))
    assert "2 the same" in again.out
    one = await li_wei.run("export", "--version", "3.0", "--contact", "李伟")
    assert one.out.count("BEGIN:VCARD") == 1
    assert "VERSION:3.0" in one.out


async def test_a_group_from_beginning_to_end(li_wei: Person, bob: Person) -> None:
    created = await li_wei.told("group", "create", "家人")
    sent = await li_wei.told("group", "invite", created["group_id"][:8], "bob")
    (waiting,) = await bob.told("group", "invitations")
    assert waiting["invitation_id"] == sent[0]["invitation_id"]
    await li_wei.run("group", "withdraw", "bob")
    assert await bob.told("group", "invitations") == []

    await li_wei.run("group", "invite", "家人", "bob")
    await bob.run("group", "decline", "家人")
    await li_wei.run("group", "invite", "家人", "bob")
    await bob.run("group", "accept", "家人")
    await bob.run("group", "unsubscribe", "家人")
    assert (await bob.told("group", "show", "家人"))["push"] is False
    await bob.run("group", "subscribe", "家人")
    assert (await bob.told("group", "show", "家人"))["push"] is True

    stuck = await li_wei.run("group", "leave", "家人", "--yes", status=1)
    assert stuck.err.startswith("error: ")
    await li_wei.run("group", "hand-over", "家人", "bob")
    asked = await bob.run("group", "remove", "家人", "li-wei", status=2)
    assert "--yes" in asked.err
    await bob.run("group", "remove", "家人", "li-wei", "--yes")
    assert await li_wei.told("group", "list") == []
    await bob.run("group", "dissolve", "家人", "--yes")
    assert await bob.told("group", "list") == []


async def test_the_interval_stays(li_wei: Person) -> None:
    await li_wei.run("pull", "--every", "300")
    assert (await li_wei.told("show"))["pull_interval_seconds"] == 300


@pytest.mark.parametrize("command", [("publish", "--name", "Li"), ("group", "create", "\n")])
async def test_what_cannot_be_done_is_one_line(li_wei: Person, command: tuple[str, ...]) -> None:
    refused = await li_wei.run(*command, status=2)
    assert refused.out == ""
    assert refused.err.startswith("error: ")
    assert refused.err.count("\n") == 1


async def test_lifting_without_a_group_says_which_blocks_went(li_wei: Person, bob: Person) -> None:
    await befriend(li_wei, bob)
    await li_wei.run("block", "bob", "--group", "家人")
    assert "家人" in (await li_wei.run("lift", "bob")).out
    assert "Nothing to lift" in (await li_wei.run("lift", "bob")).err
    assert (await li_wei.told("lift", "bob"))["lifted"] == []


@pytest.mark.parametrize("end", ["leave", "dissolve"])
async def test_a_block_is_lifted_by_its_groups_id_where_one_is_no_member_any_more(
    li_wei: Person, bob: Person, end: str
) -> None:
    await befriend(li_wei, bob)
    await li_wei.run("block", "bob", "--group", "家人")
    (group_id,) = (await li_wei.told("blocks"))["in_groups"]
    if end == "leave":
        await li_wei.run("group", "hand-over", "家人", "bob")
    await li_wei.run("group", end, "家人", "--yes")
    assert group_id in (await li_wei.run("blocks")).out
    assert (await li_wei.told("lift", "bob", "--group", group_id))["lifted"] == [group_id]
    assert (await li_wei.told("blocks"))["in_groups"] == {}
