"""`contactmesh demo` as people run it: piped, for scripts, kept, and interrupted."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.backends import drop_databases
from tests.integration.local.processes import processes_naming

from contactmesh.demo import texts
from contactmesh.local.stack import StackSettings

COMMAND = "from contactmesh.cli.entry import main; main()"
FIGURES = {"members", "changes", "delivered", "withheld_by_block"} | {
    *("leaked", "lost", "p50_ms", "p99_ms"),
}


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the demo makes its temporary folder."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(stack_settings: StackSettings, temporary: Path) -> Iterator[dict[str, str]]:
    """The worker's broker and database, which are up already."""
    urls = {
        "AMQP_URL": stack_settings.amqp_url,
        "MONGODB_URL": stack_settings.mongodb_url,
        "CONTACTMESH_BROKER_MANAGEMENT_URL": stack_settings.broker_management_url,
    }
    given = {name: url.get_secret_value() for name, url in urls.items() if url is not None}
    services = {
        name: url.get_secret_value() for name, url in stack_settings.service_amqp_urls.items()
    }
    yield {
        **os.environ,
        **given,
        "CONTACTMESH_SERVICE_AMQP_URLS": json.dumps(services),
        "CONTACTMESH_IDENTITY_PORT": str(stack_settings.identity_port),
        "CONTACTMESH_TERMINAL_MQTT_URL": stack_settings.terminal_mqtt_url or "",
        "TMPDIR": str(temporary),
        "COLUMNS": "80",
    }
    drop_databases(given["MONGODB_URL"], "demo_")


async def start(environment: Mapping[str, str], *arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, "demo", *arguments),
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
    )


def assert_nothing_is_left(temporary: Path) -> None:
    assert list(temporary.iterdir()) == []
    # The environment of every service names the demo's folder as its data.
    assert processes_naming(f"{temporary}/contactmesh-demo-") == {}


@pytest.mark.claim("C2")
@pytest.mark.claim("C7")
@pytest.mark.claim("G1")
@pytest.mark.claim("G1b")
@pytest.mark.claim("G1c")
@pytest.mark.claim("G3")
@pytest.mark.claim("G4")
async def test_everyone_who_may_has_the_new_numbers_and_nobody_else(
    environment: dict[str, str], temporary: Path
) -> None:
    process = await start(environment)
    out, err = await process.communicate()

    lines = out.decode().splitlines()
    counted = json.loads(lines[-1])
    assert (process.returncode, err.decode()) == (0, "")
    assert counted.keys() == FIGURES
    assert (counted["members"], counted["leaked"], counted["lost"]) == (23, 0, 0)
    assert counted["changes"] == 14
    # One in one group, two in each of two groups, and one that stays blocked.
    assert counted["withheld_by_block"] == 1 + 2 * 2 + 1
    assert counted["delivered"] > 14 * 8
    assert 0 < counted["p50_ms"] <= counted["p99_ms"]
    assert max(cell_len(line) for line in lines[:-1]) <= 80
    assert texts.ALL_RIGHT in out.decode()
    assert ("speaks MQTT" in out.decode()) == bool(environment["CONTACTMESH_TERMINAL_MQTT_URL"])
    assert_nothing_is_left(temporary)


async def test_for_scripts_there_is_one_line_and_what_is_kept_stays(
    environment: dict[str, str], temporary: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept here"
    process = await start(
        environment, "--json", "--keep", str(kept), "--users", "20", "--seed", "7"
    )
    out, _ = await process.communicate()

    assert process.returncode == 0
    assert json.loads(out)["members"] == 19
    assert (kept / "terminals" / "alice phone" / "phonebook.sqlite3").exists()
    assert_nothing_is_left(temporary)

    again = await start(environment, "--keep", str(kept))
    out, err = await again.communicate()
    assert (again.returncode, out) == (2, b"")
    assert "empty" in err.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_it_and_leaves_nothing(
    environment: dict[str, str], temporary: Path, number: signal.Signals
) -> None:
    process = await start(environment)
    assert process.stdout is not None
    async for line in process.stdout:
        if texts.STEP_CHANGES in line.decode():
            break
    process.send_signal(number)
    _, err = await process.communicate()

    assert (process.returncode, err.decode()) == (130, "")
    assert_nothing_is_left(temporary)
