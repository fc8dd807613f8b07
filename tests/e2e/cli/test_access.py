"""A person changes a terminal's secret, and reads what happened to the terminals."""

import json
from pathlib import Path

from tests.e2e.cli.person import Person

from contactmesh.terminal import TerminalFolder


async def test_a_changed_secret_works_at_once_and_stands_in_the_log(
    li_wei: Person, tablet: Person
) -> None:
    folder = (await li_wei.told("show"))["folder"]
    before = TerminalFolder(Path(folder)).read().credentials.secret
    assert "the old one is void" in (await li_wei.run("rotate-secret")).out
    assert TerminalFolder(Path(folder)).read().credentials.secret != before
    assert (await li_wei.told("show"))["connection"] == "works"

    await li_wei._run("operator", "integrator", "add", "crm", "--scope", "card")
    told = await tablet.told("access-log")
    assert [row["kind"] for row in told["entries"]] == [
        "rotated",
        "rotation_begun",
        "enrolled",
        "code_minted",
        "enrolled",
        "code_minted",
    ]
    assert [(one["name"], one["scopes"]) for one in told["integrators"]] == [("crm", ["card"])]
    shown = (await tablet.run("access-log")).out
    assert "a terminal's secret changed" in shown
    assert "The program crm gets all changes of these scopes" in shown


async def test_the_operator_makes_a_terminal_change_its_secret(li_wei: Person) -> None:
    terminal = await li_wei.told("show")
    ended = await li_wei._run("operator", "terminal", "rotate-secret", terminal["terminal_id"])
    assert "changes its secret before it does anything else" in ended.out
    listed = await li_wei._run("operator", "terminal", "list", "li-wei", "--json")
    assert [row["must_rotate"] for row in json.loads(listed.out)] == [True]
    # The broker may still believe the old secret for some seconds; either way the command works.
    await li_wei.run("group", "list")
    kinds = [row["kind"] for row in (await li_wei.told("access-log"))["entries"]]
    assert "rotation_demanded" in kinds
