"""`contactmesh operator` against a running identity_service."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode

from .conftest import Identity

Operator = Callable[..., Awaitable[Result]]


@pytest.fixture
def operator(
    identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Operator]:
    """Run `contactmesh operator` with these arguments."""
    monkeypatch.setenv("CONTACTMESH_IDENTITY_URL", str(identity.url))
    monkeypatch.setenv("CONTACTMESH_OPERATOR_TOKEN_FILE", str(tmp_path / "operator-token"))
    monkeypatch.setenv("COLUMNS", "200")

    async def run(*arguments: str) -> Result:
        # In another thread, where the command has an event loop of its own.
        return await asyncio.to_thread(CliRunner().invoke, app, ["operator", *arguments])

    with capture_logs():  # the service writes to the same standard output
        yield run


async def test_user_is_added_and_listed(operator: Operator) -> None:
    added = await operator("user", "add", "li-wei", "--name", "李伟")
    assert added.exit_code == ExitCode.OK
    assert added.stdout == "李伟 is registered as li-wei.\n"
    assert "contactmesh operator user code li-wei" in added.stderr
    listed = await operator("user", "list")
    assert re.search(r"^li-wei +李伟 +0 *$", listed.stdout, re.MULTILINE)
    as_json = await operator("user", "list", "--json")
    assert json.loads(as_json.stdout) == [
        {"user_id": "li-wei", "display_name": "李伟", "terminals": 0}
    ]


async def test_nobody_is_listed_with_a_hint(operator: Operator) -> None:
    listed = await operator("user", "list")
    assert (listed.exit_code, listed.stdout) == (ExitCode.OK, "")
    assert "contactmesh operator user add" in listed.stderr
    assert (await operator("user", "list", "--json")).stdout == "[]\n"


async def test_code_is_minted_and_the_user_told_what_to_do(
    operator: Operator, identity: Identity
) -> None:
    await operator("user", "add", "ada", "--name", "Ada")
    shown = (await operator("user", "code", "ada")).stdout
    code = shown.splitlines()[0]
    assert f"contactmesh terminal enrol {code}" in shown
    assert (await identity.try_enrol(code)).status == 201


async def test_terminal_is_listed_and_revoked(operator: Operator, identity: Identity) -> None:
    ada = await identity.enrolled("ada")
    listed = json.loads((await operator("terminal", "list", "ada", "--json")).stdout)
    assert [row["terminal_id"] for row in listed] == [ada.terminal_id]
    revoked = await operator("terminal", "revoke", ada.terminal_id)
    assert revoked.stdout == f"{ada.terminal_id} is shut out.\n"
    (row,) = json.loads((await operator("terminal", "list", "ada", "--json")).stdout)
    assert row["revoked_at"] is not None
    assert ada.terminal_id in (await operator("terminal", "list", "ada")).stdout


async def test_carrier_is_added_listed_and_gets_a_code(
    operator: Operator, identity: Identity
) -> None:
    assert "contactmesh operator carrier add" in (await operator("carrier", "list")).stderr
    added = await operator("carrier", "add", "cn-mobile", "--name", "中国移动")
    assert added.stdout == "中国移动 may tell of its numbers as cn-mobile.\n"
    assert "contactmesh operator carrier code cn-mobile" in added.stderr
    code = (await operator("carrier", "code", "cn-mobile")).stdout.splitlines()[0]
    assert (await identity.try_enrol(code)).status == 201
    listed = await operator("carrier", "list")
    assert re.search(r"^cn-mobile +中国移动 +1 *$", listed.stdout, re.MULTILINE)
    as_json = await operator("carrier", "list", "--json")
    assert json.loads(as_json.stdout) == [
        {"carrier_id": "cn-mobile", "name": "中国移动", "terminals": 1}
    ]


async def test_what_is_no_carrier_id_is_told(operator: Operator) -> None:
    refused = await operator("carrier", "add", "China Mobile", "--name", "x")
    assert refused.exit_code == ExitCode.USAGE
    assert "as in cn-mobile" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("carrier", "code", "nobody"),
        ("user", "code", "nobody"),
        ("user", "code", "../users"),
        ("terminal", "list", "nobody"),
        ("terminal", "revoke", "nobody_aaaaaaaa"),
        ("terminal", "revoke", "%2e%2e/%00"),
    ],
)
async def test_refusal_is_one_line(operator: Operator, arguments: tuple[str, ...]) -> None:
    refused = await operator(*arguments)
    assert refused.exit_code == ExitCode.FAILED
    assert refused.stderr.startswith("error: There is no ")
    assert refused.stderr.count("\n") == 1


async def test_wrong_token_is_told(operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "operator-token").write_text("wrong")
    refused = await operator("user", "list")
    assert refused.exit_code == ExitCode.FAILED
    assert refused.stderr == "error: Identify yourself with the operator's token (bearer).\n"
