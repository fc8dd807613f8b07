"""Choosing among the terminals of a machine."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.terminal.conftest import Run

from contactmesh.cli.exit_codes import ExitCode


def test_without_a_terminal_it_says_how_to_enrol(run: Run) -> None:
    result = run("contacts")
    assert result.exit_code == ExitCode.FAILED
    assert "contactmesh terminal enrol CODE" in result.stderr


def test_the_only_one_needs_no_name(run: Run, enrolled: Callable[[str], None]) -> None:
    enrolled("alice")
    assert run("contacts").exit_code == ExitCode.OK


def test_of_two_one_has_to_be_named(run: Run, enrolled: Callable[[str], None]) -> None:
    enrolled("alice")
    enrolled("bob")
    result = run("contacts")
    assert result.exit_code == ExitCode.USAGE
    assert "alice, bob" in result.stderr
    assert run("contacts", "--as", "bob").exit_code == ExitCode.OK
    assert "alice, bob" in run("contacts", "--as", "carol").stderr


def test_the_environment_may_name_it(
    run: Run, enrolled: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    enrolled("alice")
    enrolled("bob")
    monkeypatch.setenv("CONTACTMESH_AS", "bob")
    assert run("contacts").exit_code == ExitCode.OK
    monkeypatch.delenv("CONTACTMESH_AS")
    monkeypatch.setenv("CONTACTMESH_TERMINAL", str(data / "terminals" / "alice"))
    assert run("contacts").exit_code == ExitCode.OK


@pytest.mark.parametrize("name", ["../alice", "", "a/b", "."])
def test_a_name_is_no_path(run: Run, name: str) -> None:
    assert run("contacts", "--as", name).exit_code == ExitCode.USAGE


def test_a_name_and_a_folder_are_one_too_many(run: Run, data: Path) -> None:
    assert run("contacts", "--as", "alice", "--terminal", str(data)).exit_code == ExitCode.USAGE


def test_a_terminal_enrols_once(run: Run, enrolled: Callable[[str], None]) -> None:
    enrolled("alice")
    result = run("enrol", "CODE", "--as", "alice", "--identity-url", "http://127.0.0.1:9")
    assert result.exit_code == ExitCode.FAILED
    assert "--as NAME" in result.stderr


def test_nobody_to_enrol_with_is_one_line(run: Run) -> None:
    result = run("enrol", "AAAA-BBBB", "--identity-url", "http://127.0.0.1:9")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert result.stderr.count("\n") == 1
    assert run("enrol", "AAAA-BBBB", "--region", "Zz").exit_code == ExitCode.USAGE
    assert "contactmesh up" in run("enrol", "AAAA-BBBB").stderr
