"""What is suggested can be run as it is printed."""

import re
from collections.abc import Callable

import pytest
from tests.unit.cli.terminal.conftest import Run

from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.terminal import sim_texts, texts
from contactmesh.local.settings import default_data_folder
from contactmesh.terminal import TerminalFolder

SUGGESTIONS = {
    name: text
    for module in (texts, sim_texts)
    for name, text in vars(module).items()
    if isinstance(text, str)
    and re.search(r"contactmesh terminal (?!watch')", text)
    and not name.startswith(("HELP_", "EXAMPLE"))
}


@pytest.mark.parametrize("name", SUGGESTIONS)
def test_every_command_has_room_for_the_terminals_name(name: str) -> None:
    text = SUGGESTIONS[name]
    assert text.count("{which}") == text.count("contactmesh terminal ")


def test_of_several_terminals_the_one_that_was_named_is_suggested(
    run: Run, enrolled: Callable[[str], None]
) -> None:
    enrolled("alice")
    assert run("contacts").stderr.rstrip().endswith("import FILE.vcf")
    assert run("contact", "Ann").stderr.rstrip().endswith("contactmesh terminal contacts")
    enrolled("bob")
    assert run("contacts", "--as", "bob").stderr.rstrip().endswith("import FILE.vcf --as bob")
    assert run("contact", "Ann", "--as", "bob").stderr.rstrip().endswith("contacts --as bob")


@pytest.mark.parametrize("command", [("list",), ("invitations",)])
def test_what_the_phonebook_holds_is_read_beside_a_process_that_runs_the_terminal(
    run: Run, enrolled: Callable[[str], None], command: tuple[str, ...]
) -> None:
    enrolled("alice")
    with TerminalFolder(default_data_folder() / "terminals" / "alice").locked():
        result = run("group", *command)
        assert result.exit_code == ExitCode.OK
        assert "another process runs it" in result.stderr
        assert run("group", *command, "--json").stdout == "[]\n"
        assert "None of your groups" in run("group", "show", "家人").stderr
        assert "Another process" in run("group", "create", "家人").stderr
