"""One phonebook over two SIM cards, at the command line."""

import pytest
from tests.e2e.cli.person import Person
from tests.e2e.cli.sims import FIRST, MOBILE, UNICOM, bring, numbers, sims, waiting

ANN, BO = "+14155550100", "+14155550101"


@pytest.mark.claim("M4")
@pytest.mark.claim("M5")
@pytest.mark.claim("M6")
@pytest.mark.usefixtures("both")
async def test_what_one_sim_stores_comes_in_at_the_other_when_it_is_accepted(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN), ("张伟", BO))
    stored = await li_wei.run("sim", "store", MOBILE)
    assert stored.out == "2 written, 0 removed, 0 the same\n"
    assert (await li_wei.told("sim", "store", MOBILE))["same"] == 2

    updated = await tablet.run("sim", "update", UNICOM, "--from", MOBILE)
    assert updated.out == f"2 contacts wait for {UNICOM}.\n"
    assert f"sim accept {UNICOM}" in updated.err
    diff = (await tablet.run("sim", "pending", UNICOM, "--diff")).out
    assert "Ann: adds it\n" in diff
    assert f"+ {ANN}" in diff
    assert await numbers(tablet) == {}

    accepted = await tablet.run("sim", "accept", UNICOM, "张伟")
    assert accepted.out == "1 added, 0 changed, 0 removed, 0 the same\n"
    assert await numbers(tablet) == {"张伟": BO}
    await tablet.run("sim", "accept", UNICOM)
    assert await numbers(tablet) == await numbers(li_wei)
    assert "Nothing waits" in (await tablet.run("sim", "pending", UNICOM)).err
    assert (await tablet.told("sim", "update", UNICOM))["waiting"] == 0


@pytest.mark.claim("M6")
@pytest.mark.usefixtures("both")
async def test_what_was_changed_on_both_sides_is_merged_and_the_loss_is_told(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN), ("Bo", BO), ("Cy", BO))
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, UNICOM, 3)
    await tablet.run("sim", "accept", UNICOM)

    await bring(li_wei, ("Ann", "+14155550111"))
    await bring(tablet, ("Ann", "+14155550122"))
    await tablet.run("note", "Ann", "mine")
    await tablet.run("note", "Bo", "mine")
    await li_wei.run("delete", "Bo", "--yes")
    await li_wei.run("delete", "Cy", "--yes")
    await li_wei.run("sim", "store", MOBILE)
    found = {each["display_name"]: each for each in await waiting(tablet, UNICOM, 3)}
    assert {name: (each["change"], each["changed_here"]) for name, each in found.items()} == {
        "Ann": ("changed", True),
        "Bo": ("removed", True),
        "Cy": ("removed", False),
    }
    (change,) = found["Ann"]["changes"]
    assert (change["old"], change["new"]) == ("+14155550122", "+14155550111")
    shown = (await tablet.run("sim", "pending", UNICOM)).out
    assert "+14155550122 → +14155550111" in shown
    assert "keeps it: removed there, changed here" in shown
    early = await tablet.run("sim", "store", UNICOM)
    assert "left out because a change to them waits" in early.out
    assert f"sim pending {UNICOM}" in early.err

    accepted = (await tablet.run("sim", "accept", UNICOM)).out
    assert "0 added, 1 changed, 1 removed, 0 the same, 1 kept" in accepted
    assert "+14155550122" in accepted, "the value that goes is shown"
    assert await numbers(tablet) == {"Ann": "+14155550111", "Bo": BO}
    (ann,) = await tablet.told("contacts", "Ann")
    assert [note["note"] for note in ann["card"]["notes"].values()] == ["mine"]


@pytest.mark.claim("M6")
@pytest.mark.usefixtures("both")
async def test_what_was_declined_does_not_come_back(li_wei: Person, tablet: Person) -> None:
    await bring(li_wei, ("Ann", ANN), ("Bo", BO))
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, UNICOM, 2)
    missing = await tablet.run("sim", "decline", UNICOM, "Anna", status=1)
    assert "Did you mean Ann?" in missing.err
    assert (await tablet.run("sim", "decline", UNICOM, "Ann")).out == "1 contact declined.\n"
    await tablet.run("sim", "accept", UNICOM)
    assert await numbers(tablet) == {"Bo": BO}
    assert (await tablet.told("sim", "update", UNICOM))["waiting"] == 0


@pytest.mark.claim("M6")
@pytest.mark.usefixtures("both")
async def test_what_is_decided_on_by_its_revision_is_what_was_looked_at(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN))
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, UNICOM, 1)
    looked_at = now = (await tablet.told("sim", "pending", UNICOM))["pending_rev"]
    await bring(li_wei, ("Ann", BO))
    await li_wei.run("sim", "store", MOBILE)
    for _ in range(200):
        now = (await tablet.told("sim", "pending", UNICOM))["pending_rev"]
        if now != looked_at:
            break
    for decide in ("accept", "decline"):
        refused = await tablet.run("sim", decide, UNICOM, "--rev", str(looked_at), status=1)
        assert "Look at it again" in refused.err
    assert await numbers(tablet) == {}
    await tablet.run("sim", "accept", UNICOM, "Ann", "--rev", str(now))
    assert await numbers(tablet) == {"Ann": BO}


@pytest.mark.usefixtures("both")
async def test_a_contact_with_an_odd_uid_is_stored_like_any_other(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN), ("O" * 500, BO))
    stored = await li_wei.run("sim", "store", MOBILE)
    assert stored.out == "2 written, 0 removed, 0 the same\n"
    await waiting(tablet, UNICOM, 2)


@pytest.mark.claim("M3")
@pytest.mark.usefixtures("both")
async def test_a_contact_stored_as_private_is_shared_no_more(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN), ("Bo", BO))
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, UNICOM, 2)
    private = await li_wei.run("sim", "store", MOBILE, "Bo", "--private")
    assert private.out == "1 written, 0 removed, 0 the same, 1 no longer shared\n"
    (left,) = await waiting(tablet, UNICOM, 1)
    assert left["display_name"] == "Ann"
    again = await li_wei.run("sim", "store", MOBILE)
    assert again.out == "0 written, 0 removed, 1 the same, 1 left out because they are private\n"
    (account, _) = (await li_wei.told("sim", "list"))["accounts"]
    assert (account["shared"]["contacts"], account["private"]["contacts"]) == (1, 1)


@pytest.mark.usefixtures("both")
async def test_large_removals_are_asked_back_on_both_sides(li_wei: Person, tablet: Person) -> None:
    people = [(f"Person {number}", f"+1415555{number:04d}") for number in range(12)]
    await bring(li_wei, *people)
    await li_wei.run("sim", "store", MOBILE)
    await waiting(tablet, UNICOM, 12)
    await tablet.run("sim", "accept", UNICOM)

    for name, _ in people:
        await li_wei.run("delete", name, "--yes")
    await bring(li_wei, ("Ann", ANN))
    asked = await li_wei.run("sim", "store", MOBILE, status=2)
    assert "remove 12 of the 12 contacts stored there" in asked.err
    assert "--yes" in asked.err
    stored = await li_wei.told("sim", "store", MOBILE, "--yes")
    assert (stored["written"], stored["removed"]) == (1, 12)

    await waiting(tablet, UNICOM, 13)
    asked = await tablet.run("sim", "accept", UNICOM, status=2)
    assert "remove 12 of the" in asked.err
    assert asked.out == "1 added, 0 changed, 0 removed, 0 the same\n", "all but the removals"
    assert len(await numbers(tablet)) == 13
    assert (await tablet.told("sim", "accept", UNICOM, "--yes"))["removed"] == 12
    assert await numbers(tablet) == {"Ann": ANN}


@pytest.mark.usefixtures("both")
async def test_while_watching_what_comes_in_is_told_or_accepted_by_itself(
    li_wei: Person, tablet: Person
) -> None:
    await bring(li_wei, ("Ann", ANN))
    async with tablet.watching() as watching:
        await li_wei.run("sim", "store", MOBILE)
        update = await watching.until(lambda update: update["update"] == "sim_contacts_waiting")
        assert (update["waiting"], update["filling"]) == (1, False)
    assert await numbers(tablet) == {}
    await bring(li_wei, ("Bo", BO))
    await li_wei.run("sim", "store", MOBILE)
    assert "2 contacts wait for one of your SIMs" in (await tablet.run("pull")).out

    await tablet.run("sim", "auto-accept", UNICOM, "on")
    assert (await sims(tablet))[UNICOM]["auto_accept"] is True
    async with tablet.watching() as watching:
        for _ in range(2):
            await watching.until(lambda update: update["update"] == "contact_added")
    assert await numbers(tablet) == {"Ann": ANN, "Bo": BO}
    await tablet.run("sim", "auto-accept", UNICOM, "off")
    assert (await sims(tablet))[UNICOM]["auto_accept"] is False


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("store", "nowhere"), "No SIM of yours is called 'nowhere'"),
        (("store", MOBILE, "Nobody"), "No contact is called 'Nobody'"),
        (("update", MOBILE, "--from", "cn-tower"), "no account at 'cn-tower'"),
        (("update", MOBILE, "--from", UNICOM), "consent"),
        (("accept", MOBILE, "Nobody"), "No contact called 'Nobody' waits"),
        (("accept", UNICOM), f"sim move {UNICOM}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("both")
async def test_what_cannot_be_stored_or_accepted_is_told_in_one_line(
    li_wei: Person, command: tuple[str, ...], reason: str
) -> None:
    refused = await li_wei.run("sim", *command, status=1)
    assert refused.out == ""
    assert reason in refused.err
    assert refused.err.count("\n") == 1


async def test_what_a_group_alone_brought_is_neither_stored_nor_deleted(
    li_wei: Person, bob: Person
) -> None:
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    await bob.run("group", "create", "家人", "--member", "li-wei")
    await bob.run("publish", "--name", "Bob", "--number", ANN)
    await li_wei.run("pull")
    stored = await li_wei.run("sim", "store", MOBILE)
    assert (
        stored.out
        == "0 written, 0 removed, 0 the same, 1 left out because only a group shows them\n"
    )
    assert (await li_wei.run("delete", "Bob", "--yes", status=1)).err.count("\n") == 1
    await li_wei.run("note", "Bob", "mine")
    assert (await li_wei.told("sim", "store", MOBILE))["written"] == 1
    assert "What groups show of bob stays" in (await li_wei.run("delete", "Bob", "--yes")).out
    assert await numbers(li_wei) == {"Bob": ANN}
