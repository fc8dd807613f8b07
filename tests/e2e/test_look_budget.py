"""Somebody who asks about too many people is told so, and when to come back (row C7)."""

import asyncio
from pathlib import Path

import pytest
from tests.backends import Backends
from tests.wire import running_system
from typer.testing import CliRunner, Result

from contactmesh.cli.app import app
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.terminal import Terminal


@pytest.mark.claim("C7")
async def test_c7_a_spent_budget_is_a_clear_error_and_the_page_is_shown_all_the_same(
    backends: Backends, tmp_path: Path
) -> None:
    meagre = {"carrier_registry_service": {"CONTACTMESH_IDENTITIES_PER_DAY": "2"}}
    async with running_system(backends, tmp_path / "system", environment=meagre) as system:
        user_id = system.new_user("bo")
        await system._post("/v1/users", {"user_id": user_id, "display_name": "Bo"})
        code = (await system._post(f"/v1/users/{user_id}/enrolment-codes"))["code"]
        url = system.stack.identity_url
        await Terminal.enrol(tmp_path / "bo", identity_url=url, code=code, name="phone")

        async def run(*arguments: str, stdin: bytes | None = None) -> Result:
            line = ["terminal", *arguments, "--terminal", str(tmp_path / "bo")]
            return await asyncio.to_thread(CliRunner().invoke, app, line, input=stdin)

        cards = b"BEGIN:VCARD\nVERSION:4.0\nUID:a\nFN:Ada\nTEL:+8613800138000\nEND:VCARD\n"
        assert (await run("import", "-", stdin=cards)).exit_code == ExitCode.OK
        for identity in ("somebody", "somebody-else"):
            page = await run("show", "Ada", "--identity", identity)
            assert (page.exit_code, "Contact update failed" in page.stderr) == (ExitCode.OK, True)
        page = await run("show", "Ada", "--identity", "one-too-many")
    assert page.exit_code == ExitCode.FAILED
    assert "+8613800138000" in page.stdout
    assert page.stderr.splitlines()[-1].startswith("error: ")
    assert "Try again in" in page.stderr
