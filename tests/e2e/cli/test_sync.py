"""The address book at the command line: two terminals of one person, in step and back in time."""

import base64
import json

import pytest
import pytest_asyncio
from tests.e2e.cli.person import Person

BOOK = """\
BEGIN:VCARD
VERSION:4.0
UID:urn:example:zhang
FN:张伟
TEL;TYPE=cell:13800138000
END:VCARD
BEGIN:VCARD
VERSION:4.0
UID:urn:example:wang
FN:王芳
TEL;TYPE=cell:13900139000
END:VCARD
"""


@pytest_asyncio.fixture
async def tablet(li_wei: Person) -> Person:
    """Li Wei's other terminal; both have the same book."""
    tablet = await li_wei.with_another("tablet", "--region", "CN")
    await li_wei.run("import", "-", stdin=BOOK.encode())
    assert (await li_wei.told("sync"))["sent"] == 2
    # Whether they were pushed before, or come with the sync itself.
    assert (await tablet.told("sync"))["received"] == 2
    return tablet


async def shown(person: Person) -> dict[str, list[str]]:
    """What each contact of a phonebook says, by its name."""
    return {
        contact["display_name"]: [
            field["label"] or field["value"]
            for field in (await person.told("contact", contact["contact_id"]))["fields"]
        ]
        for contact in await person.told("contacts")
    }


async def test_a_sync_tells_what_came_also_by_push(li_wei: Person, tablet: Person) -> None:
    await li_wei.run("delete", "王芳", "--yes")
    await li_wei.run("note", "张伟", "喜欢喝茶")
    await li_wei.run("sync")
    told = (await tablet.run("sync")).out.splitlines()
    assert told[0] == "0 sent, 2 received (1 deleted)"
    assert set(told[1:]) == {"张伟 changed", "王芳 was deleted"}
    assert "All is the same" in (await tablet.run("sync")).err


async def test_a_new_terminal_is_told_to_sync_only_if_there_is_a_book(li_wei: Person) -> None:
    assert "terminal import" in (await li_wei.let_in_again("first")).err
    await li_wei.run("import", "-", stdin=BOOK.encode())
    await li_wei.run("sync")
    hint = (await li_wei.let_in_again("second")).err
    assert "(2 contacts): contactmesh terminal sync" in hint
    assert "import" not in hint


@pytest.mark.claim("Y4")
async def test_what_two_terminals_change_is_joined_and_what_lost_is_taken_from_the_conflicts(
    li_wei: Person, tablet: Person
) -> None:
    await li_wei.run("label", "张伟", "13800138000", "老板")
    await li_wei.run("note", "张伟", "喜欢喝茶")
    # No edit counts as later than its receipt, so the tablet's is the later one.
    await li_wei.run("sync")
    await tablet.run("label", "张伟", "13800138000", "同事")
    met = await tablet.run("sync")
    assert "1 contact in conflict" in met.out
    assert "contactmesh terminal conflicts" in met.err
    await li_wei.run("sync")
    assert await shown(tablet) == await shown(li_wei)
    assert (await shown(tablet))["张伟"] == ["同事", "喜欢喝茶"]

    (conflict,) = await tablet.told("conflicts")
    table = (await tablet.run("conflicts")).out
    assert conflict["id"] in table
    assert "老板" in table
    taken = await tablet.run("conflicts", "--take", conflict["id"])
    assert "老板" in taken.out
    assert (await shown(tablet))["张伟"] == ["老板", "喜欢喝茶"]
    assert "No conflict" in (await li_wei.run("conflicts")).err
    await li_wei.run("conflicts", "--keep", conflict["id"], status=1)


@pytest.mark.claim("Y4")
async def test_a_contact_is_as_one_of_its_versions_again(li_wei: Person, tablet: Person) -> None:
    await li_wei.run("label", "张伟", "13800138000", "老板")
    await li_wei.run("sync")
    await li_wei.run("note", "张伟", "喜欢喝茶")
    # What was not synced yet is the last change all the same.
    undone = await li_wei.run("restore", "张伟")
    assert "喜欢喝茶" in undone.out
    assert (await shown(li_wei))["张伟"] == ["老板"]
    versions = await tablet.told("history", "张伟")
    assert [each["version"] for each in versions] == [4, 3, 2, 1]
    assert [each["made"] for each in versions] == [False, False, False, True]
    await li_wei.run("import", "-", stdin=b"BEGIN:VCARD\nVERSION:4.0\nFN:Ann\nEND:VCARD\n")
    unsynced = await li_wei.run("history", "Ann", status=1)
    assert "not in your address book on the server yet" in unsynced.err
    assert "(stands)" in (await tablet.run("history", "张伟")).out.splitlines()[1]
    await tablet.run("restore", "张伟", "--to", "3")
    await li_wei.run("sync")
    assert (await shown(li_wei))["张伟"] == ["老板", "喜欢喝茶"]
    missing = await tablet.run("restore", "张伟", "--to", "9", status=1)
    assert "contactmesh terminal history" in missing.err


async def test_what_was_deleted_is_back_alone_or_with_the_whole_book(
    li_wei: Person, tablet: Person
) -> None:
    before = await shown(tablet)
    await li_wei.run("delete", "张伟", "--yes")
    not_yet = await li_wei.run("restore", "--deleted")
    assert "not synced yet" in not_yet.err
    assert "is back" in (await li_wei.run("restore", "--deleted", "张伟")).out

    stands, *_ = await tablet.told("history", "张伟")
    for name in before:
        await li_wei.run("delete", name, "--yes")
    await li_wei.run("sync")
    listed = await li_wei.told("restore", "--deleted")
    assert {each["name"] for each in listed} == set(before)
    await tablet.run("restore", "--book", "--at", stands["at"], status=2)
    restored = await tablet.run("restore", "--book", "--at", stands["at"], "--yes")
    assert "2 contacts restored" in restored.out
    await li_wei.run("sync")
    assert await shown(tablet) == await shown(li_wei) == before
    taking_back = next(line for line in restored.err.splitlines() if "restore --book --at" in line)
    _, at, *_ = taking_back.split("'")
    assert "2 contacts restored" in (await tablet.run("restore", "--book", "--at", at, "--yes")).out
    assert await shown(tablet) == {}


async def test_one_contact_that_is_not_taken_holds_up_no_other(
    li_wei: Person, tablet: Person
) -> None:
    photo = base64.b64encode(bytes(400_000)).decode()
    large = (
        f"BEGIN:VCARD\nVERSION:4.0\nFN:大图\nPHOTO:data:image/jpeg;base64,{photo}\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:4.0\nFN:Ann\nEND:VCARD\n"
    )
    await li_wei.run("import", "-", stdin=large.encode())
    refused = await li_wei.run("sync", status=1)
    assert "1 sent" in refused.out
    (row,) = [line for line in refused.out.splitlines() if line.startswith("大图")]
    assert "limit" in row
    again = json.loads((await li_wei.run("sync", "--json", status=1)).out)
    assert [each["display_name"] for each in again["rejected"]] == ["大图"]
    await tablet.run("sync")
    assert "Ann" in await shown(tablet)
    await li_wei.run("delete", "大图", "--yes")
    assert (await li_wei.told("sync"))["rejected"] == []


async def test_much_is_not_deleted_without_being_agreed_to(li_wei: Person) -> None:
    names = [f"Friend {number}" for number in range(11)]
    cards = "".join(f"BEGIN:VCARD\nVERSION:4.0\nFN:{name}\nEND:VCARD\n" for name in names)
    await li_wei.run("import", "-", stdin=cards.encode())
    await li_wei.run("sync")
    for name in names:
        await li_wei.run("delete", name, "--yes")
    asked = await li_wei.run("sync", status=2)
    assert "11 of your 11 contacts" in asked.err
    stopped = await li_wei.run("restore", "--deleted", names[0], status=1)
    assert "sync --yes" in stopped.err
    assert (await li_wei.told("sync", "--yes"))["sent"] == len(names)


@pytest.mark.claim("Y1")
async def test_with_a_schedule_a_terminal_that_watches_syncs_by_itself(
    li_wei: Person, tablet: Person
) -> None:
    told = await tablet.run("sync", "--every", "15m")
    assert "every 15m while 'contactmesh terminal watch' runs" in told.err
    assert "every 15m" in (await tablet.run("show")).out
    await tablet.run("note", "张伟", "喜欢喝茶")
    async with li_wei.watching() as watching:
        async with tablet.watching():
            update = await watching.until(lambda update: update["update"] == "contact_updated")
        assert update["display_name"] == "张伟"
        assert update["changes"][0]["new"] == "喜欢喝茶"
    assert (await tablet.told("sync", "--off"))["schedule"] == {"every_seconds": None, "at": None}


async def test_the_own_card_is_a_contact_that_the_groups_follow(
    li_wei: Person, bob: Person
) -> None:
    await li_wei.run("group", "create", "家人", "--member", "bob")
    await li_wei.run("import", "-", stdin=BOOK.replace("张伟", "李伟").encode())
    unsynced = await li_wei.run("own-card", "李伟", status=1)
    assert "contactmesh terminal sync" in unsynced.err
    await li_wei.run("sync")
    assert "CONTACT" in (await li_wei.run("own-card")).err
    async with bob.watching() as watching:
        assert "李伟 is your own card" in (await li_wei.run("own-card", "李伟")).out
        update = await watching.until(lambda update: update["update"] == "contact_added")
    assert update["display_name"] == "李伟"
    assert (await li_wei.told("own-card"))["uid"] == "urn:example:zhang"
    assert await li_wei.told("own-card", "--none") == {"uid": None, "contact_id": None}


async def test_the_policy_is_one_for_all_terminals(li_wei: Person, tablet: Person) -> None:
    assert await li_wei.told("sync-policy") == {"policy": "merge"}
    await li_wei.run("sync-policy", "latest-wins")
    assert await tablet.told("sync-policy") == {"policy": "latest-wins"}
    # No edit counts as later than its receipt, so the tablet's is the later one.
    await li_wei.run("label", "张伟", "13800138000", "老板")
    await li_wei.run("sync")
    await tablet.run("note", "张伟", "喜欢喝茶")
    await tablet.run("sync")
    (conflict,) = await li_wei.told("conflicts")
    assert conflict["kind"] == "whole"
    assert "the whole contact" in (await li_wei.run("conflicts")).out
    assert (await shown(tablet))["张伟"] == ["mobile", "喜欢喝茶"]
    await tablet.run("conflicts", "--take", "张伟")
    assert (await shown(tablet))["张伟"] == ["老板"]

    await li_wei.run("sync")
    await li_wei.run("label", "张伟", "13800138000", "同事")
    await li_wei.run("sync")
    await tablet.run("delete", "张伟", "--yes")
    await tablet.run("sync")
    (row,) = [line for line in (await tablet.run("conflicts")).out.splitlines() if "张伟" in line]
    assert "that it is deleted" in row
    assert "13800138000" in row
    await tablet.run("conflicts", "--take", "张伟")
    assert (await shown(tablet))["张伟"] == ["同事"]


async def test_what_is_erased_is_nowhere_any_more(li_wei: Person, tablet: Person) -> None:
    asked = await li_wei.run("erase", "张伟", "王芳", status=2)
    assert "张伟, 王芳" in asked.err
    await li_wei.run("erase", "张伟", "--yes")
    await tablet.run("sync")
    assert list(await shown(tablet)) == ["王芳"]
    assert await tablet.told("restore", "--deleted") == []
    await tablet.run("history", "张伟", status=1)
