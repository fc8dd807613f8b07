"""What the README shows is run here, word for word."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from contactmesh.contacts import Card
from contactmesh.local.stack import Stack
from contactmesh.local.waiting import until
from contactmesh.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SECONDS = 60


def environment(home: Path) -> dict[str, str]:
    """A newcomer's environment: an empty home, and the command on the path."""
    keep = ("LANG", "LC_ALL", "TMPDIR")
    return {
        **{name: os.environ[name] for name in keep if name in os.environ},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "CONTACTMESH_HOME": str(home),
    }


async def enrolment_code(stack: Stack, user_id: str) -> str:
    """Register a user and mint a code, as an operator does."""
    token = stack.operator_token_file.read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(stack.identity_url, headers=headers) as session:
        body = {"user_id": user_id, "display_name": user_id}
        async with session.post("/v1/users", json=body) as registered:
            registered.raise_for_status()
        async with session.post(f"/v1/users/{user_id}/enrolment-codes") as minted:
            return str((await minted.json())["code"])


async def integrator(stack: Stack, name: str) -> dict[str, str]:
    """Add an integrator, as the operator's command does; gives what that prints."""
    token = stack.operator_token_file.read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(stack.identity_url, headers=headers) as session:
        body = {"name": name, "scopes": ["card"]}
        async with session.post("/v1/integrators", json=body) as added:
            granted = await added.json()
    url = URL(granted["broker_url"]).with_user(granted["account"])
    return {"amqp_url": str(url.with_password(granted["secret"])), "queue": granted["queue"]}


@asynccontextmanager
async def running(*command: str, home: Path) -> AsyncIterator[asyncio.StreamReader]:
    """Run an example; its standard output, line by line."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, env=environment(home)
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def next_line(lines: asyncio.StreamReader) -> str:
    """The next line that an example prints."""
    async with asyncio.timeout(SECONDS):
        return (await lines.readline()).decode().strip()


async def bob(stack: Stack, folder: Path) -> Terminal:
    """Another user's terminal."""
    return await Terminal.enrol(
        folder,
        identity_url=stack.identity_url,
        code=await enrolment_code(stack, "bob"),
        name="phone",
    )


def card(number: int) -> Card:
    """Bob's card."""
    return Card.model_validate(
        {
            "uid": "urn:example:bob",
            "name": {"full": "Bob"},
            "phones": {"mobile": {"number": f"+44770090{number:04d}"}},
        }
    )


async def test_the_readme_shows_the_examples_and_the_tests_as_they_are() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(ROOT / "docs" / "render_readme.py"), "--check"
    )
    assert await process.wait() == 0


async def test_the_terminal_example_prints_what_others_change(stack: Stack, tmp_path: Path) -> None:
    code = await enrolment_code(stack, "zhang-wei")
    example = (sys.executable, str(EXAMPLES / "terminal.py"))
    async with await bob(stack, tmp_path / "bob") as other:
        updates = other.updates()
        command = (*example, stack.identity_url, code, str(tmp_path / "example"))
        async with running(*command, home=tmp_path) as lines:
            async with asyncio.timeout(SECONDS):
                async for update in updates:
                    if getattr(update, "display_name", None) == "张伟":
                        break
            await other.publish(card(1))
            await other.publish(card(2))
            assert await next_line(lines) == "Bob phones/mobile/number"


async def test_the_integrator_example_prints_every_change(stack: Stack, tmp_path: Path) -> None:
    granted = tmp_path / "crm.json"
    granted.write_text(json.dumps(await integrator(stack, "crm")))
    example = (sys.executable, str(EXAMPLES / "integrator.py"), str(granted))
    async with (
        await bob(stack, tmp_path / "bob") as terminal,
        running(*example, home=tmp_path) as lines,
    ):
        await terminal.create_group("Family")
        await terminal.publish(card(1))
        assert (await next_line(lines)).startswith("contact.changed bob ")


async def test_ctrl_c_ends_the_terminal_example_without_a_traceback(
    stack: Stack, tmp_path: Path
) -> None:
    await enrolment_code(stack, "bob")
    folder = tmp_path / "example"
    arguments = (stack.identity_url, await enrolment_code(stack, "zhang-wei"), str(folder))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLES / "terminal.py"), *arguments),
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )

    async def runs() -> bool:
        return (folder / "phonebook.sqlite3").exists()

    await until(runs, seconds=SECONDS)
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(SECONDS):
        _, errors = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in errors


@pytest.mark.timeout(300)  # two dozen commands, each of which loads Python anew
@pytest.mark.parametrize("shell", ["sh"])
async def test_the_example_of_two_people(stack: Stack, tmp_path: Path, shell: str) -> None:
    home = stack.settings.data
    for _ in range(2):  # it can be run again
        async with running(shell, str(EXAMPLES / "people.sh"), home=home) as lines:
            async with asyncio.timeout(2 * SECONDS):
                printed = (await lines.read()).decode()
        last = printed.strip().splitlines()[-1]
        assert "李伟" in last
        assert "139 0013 9000" in last or "13900139000" in last


@pytest.mark.timeout(300)  # as above
async def test_the_example_of_two_sims(stack: Stack) -> None:
    printed = []
    for _ in range(2):  # it can be run again
        async with running("sh", str(EXAMPLES / "sims.sh"), home=stack.settings.data) as lines:
            async with asyncio.timeout(2 * SECONDS):
                printed.append((await lines.read()).decode())
    assert "张伟: adds it" in printed[0]
    assert "1 added, 0 changed, 0 removed, 0 the same" in printed[0]
    for each in printed:
        last = each.strip().splitlines()[-1]
        assert "张伟" in last
        assert "13800138000" in last


@pytest.mark.timeout(600)  # as above
async def test_the_example_of_two_terminals_in_step(stack: Stack) -> None:
    for _ in range(2):  # it can be run again
        async with running("sh", str(EXAMPLES / "sync.sh"), home=stack.settings.data) as lines:
            async with asyncio.timeout(4 * SECONDS):
                printed = (await lines.read()).decode()
        assert "张伟 is back" in printed
        last = printed.strip().splitlines()[-1]
        assert "13800138000 (老板)" in last
        assert "喜欢喝茶" in last


async def test_the_operator_example(tmp_path: Path) -> None:
    async with running("sh", str(EXAMPLES / "operator.sh"), home=tmp_path) as lines:
        async with asyncio.timeout(SECONDS):
            printed = (await lines.read()).decode()
    for part in ("group_service#2", "ready", "li-wei", "李伟"):
        assert part in printed


def test_the_asyncapi_document_is_printed(tmp_path: Path) -> None:
    printed = subprocess.run(
        ["contactmesh", "asyncapi"],
        env=environment(tmp_path),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    document = json.loads(printed)
    assert document["asyncapi"] == "3.0.0"
    assert "group.publish_card" in {
        message["name"] for message in document["components"]["messages"].values()
    }
