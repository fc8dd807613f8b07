"""Help teaches: every command explains itself with an example."""

import re
from collections.abc import Iterator

import pytest
import typer
from tests.unit.cli.terminal.conftest import Run
from typer.core import TyperCommand, TyperGroup

from contactmesh.cli.terminal.app import app


def commands(group: TyperGroup, *above: str) -> Iterator[tuple[str, ...]]:
    """The words that name each command."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, *above, name)
        elif isinstance(command, TyperCommand):
            yield (*above, name)


ROOT = typer.main.get_group(app)
ALL = list(commands(ROOT))


def test_there_is_a_command_for_each_thing() -> None:
    assert {" ".join(words) for words in ALL} >= {
        "enrol", "show", "import", "export", "contacts", "contact", "link", "unlink", "note",
        "label", "publish", "block", "lift", "blocks", "pull", "watch", "group create",
        "group list", "group show", "group invite", "group invitations", "group accept",
        "group decline", "group withdraw", "group leave", "group remove", "group hand-over",
        "group dissolve", "group subscribe", "group unsubscribe", "sim add", "sim list",
        "sim move", "sim replace", "sim remove", "sim info", "sim consent", "sim follow-book",
        "sim store", "sim update", "sim pending", "sim accept", "sim decline", "sim auto-accept",
        "sync", "history", "restore", "conflicts", "duplicates", "own-card", "sync-policy", "erase",
    }  # fmt: skip


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_explains_with_an_example(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words, "--help")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert re.search(rf"^ .*contactmesh terminal {' '.join(words)}\b", shown, re.MULTILINE)
    assert "Which terminal" in shown
    assert "--as" in shown


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_that_a_script_would_read_speaks_json(
    run: Run, words: tuple[str, ...]
) -> None:
    if words != ("export",):
        assert "--json" in run(*words, "--help").stdout
