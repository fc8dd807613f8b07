"""`contactmesh operator`, as far as no system is needed."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode

COMMANDS = [
    ["user", "add"],
    ["user", "list"],
    ["user", "code"],
    ["terminal", "list"],
    ["terminal", "revoke"],
    ["parked", "list"],
]


@pytest.fixture(autouse=True)
def _no_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "CONTACTMESH_IDENTITY_URL",
        "CONTACTMESH_OPERATOR_TOKEN_FILE",
        "CONTACTMESH_BROKER_MANAGEMENT_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONTACTMESH_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_explains_with_an_example(command: list[str]) -> None:
    result = CliRunner().invoke(app, ["operator", *command, "--help"], prog_name="contactmesh")
    assert result.exit_code == ExitCode.OK
    shown = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert f"Example:  contactmesh operator {' '.join(command)}" in shown


def test_help_tells_the_exit_statuses() -> None:
    result = CliRunner().invoke(app, ["--help"], prog_name="contactmesh")
    assert {str(code.value) for code in ExitCode} <= set(re.findall(r"\d+", result.stdout))


def test_version_is_shown() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", result.stdout)


@pytest.mark.parametrize("group", ["user", "parked"])
def test_without_a_system_it_says_how_to_start_one(tmp_path: Path, group: str) -> None:
    result = CliRunner().invoke(app, ["operator", group, "list", "--data", str(tmp_path)])
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "contactmesh up" in result.stderr


def test_nobody_at_the_address_is_one_line(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("token\n")
    where = ["--identity-url", "http://127.0.0.1:1", "--operator-token-file", str(token)]
    result = CliRunner().invoke(app, ["operator", "user", "list", *where])
    assert result.exit_code == ExitCode.UNREACHABLE
    assert result.stderr.startswith("error: identity_service at http://127.0.0.1:1 does not answer")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["user", "list", "--identity-url", "http://127.0.0.1:1"], ExitCode.USAGE),
        (["user", "add", "Li Wei", "--name", "李伟"], ExitCode.USAGE),
        (["user", "add", "li-wei", "--name", " "], ExitCode.USAGE),
        (["user", "add", "li-wei"], ExitCode.USAGE),
        (["user", "delete"], ExitCode.USAGE),
    ],
)
def test_wrong_arguments_are_told_in_one_line(arguments: list[str], status: ExitCode) -> None:
    result = CliRunner().invoke(app, ["operator", *arguments], prog_name="contactmesh")
    assert result.exit_code == status
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_empty_token_file_is_told(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.touch()
    where = ["--identity-url", "http://127.0.0.1:1", "--operator-token-file", str(token)]
    result = CliRunner().invoke(app, ["operator", "user", "list", *where])
    assert result.exit_code == ExitCode.USAGE
    assert str(token) in result.stderr
