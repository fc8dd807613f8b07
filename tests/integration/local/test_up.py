"""`contactmesh up` as people use it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.integration.local.processes import processes_naming
from tests.integration.local.script_service import script_services

from contactmesh.local.process import Process, ProcessSpec
from contactmesh.local.settings import SERVICE_NAMES, StackSettings
from contactmesh.local.stack import find_stack
from contactmesh.local.waiting import until

COMMAND = "from contactmesh.cli.entry import main; main()"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "a stack"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a command that starts a broker and a database of its own."""
    for name in ("AMQP_URL", "MONGODB_URL", "CONTACTMESH_BROKER_MANAGEMENT_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = script_services(tmp_path / "scripts")[SERVICE_NAMES[0]]["PYTHONPATH"]
    return dict(os.environ) | {"PYTHONPATH": folder}


@pytest.fixture
def given(own: dict[str, str], stack_settings: StackSettings) -> dict[str, str]:
    """The environment of a command that uses the worker's broker and database."""
    urls = {
        "AMQP_URL": stack_settings.amqp_url,
        "MONGODB_URL": stack_settings.mongodb_url,
        "CONTACTMESH_BROKER_MANAGEMENT_URL": stack_settings.broker_management_url,
    }
    return own | {name: url.get_secret_value() for name, url in urls.items() if url is not None}


class Up:
    """The running command."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._lines: list[str] = []
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, environment: Mapping[str, str], *arguments: str) -> "Up":
        argv = (sys.executable, "-c", COMMAND, "up", *arguments)
        return cls(await Process.start(ProcessSpec("up", argv, environment, Path.cwd())))

    async def _read(self) -> None:
        async for line in self._process.lines():
            self._lines.append(line)

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    async def until(self, condition: Callable[[], bool]) -> None:
        async def holds() -> bool:
            assert condition() or self._process.returncode is None, self.text
            return condition()

        await until(holds, seconds=60)

    async def until_said(self, text: str) -> None:
        await self.until(lambda: text in self.text)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._process.pid, number)

    async def ended(self) -> int:
        code = await self._process.wait()
        await self._reading
        return code


async def test_ctrl_c_stops_everything_cleanly(given: dict[str, str], data: Path) -> None:
    command = await Up.start(given, "--data", str(data), "--scale", "group_service=2")
    await command.until_said("ContactMesh runs")
    fanout = find_stack(data).services[3]
    assert fanout.pid is not None
    os.kill(fanout.pid, signal.SIGKILL)
    await command.until_said("died; starting it again process=fanout_service#1")
    await command.until_said("fanout_service#1     info     serving name=王小明")
    second = await Up.start(given, "--data", str(data))
    assert await second.ended() == 1
    (message,) = (line for line in second.text.splitlines() if line.strip())
    assert f"A stack runs on {data} already." in message
    command.signal(signal.SIGINT)
    assert await command.ended() == 0
    assert command.text.rstrip().endswith("Stopped.")
    # whole, however narrow the window is
    assert f"  contactmesh operator user code ann --data '{data}'\n" in command.text
    assert "stopped cleanly" in command.text
    assert "Traceback" not in command.text
    assert not processes_naming(str(data.parent))


async def test_ctrl_c_while_starting_stops_everything(given: dict[str, str], data: Path) -> None:
    unready = given | {"UNREADY": "yes", "DEAF": "yes"}
    command = await Up.start(unready, "--data", str(data), "--quiet")

    await command.until((data / "logs" / "fanout_service#1.jsonl").exists)
    command.signal(signal.SIGINT)
    await command.until_said("Ctrl-C again")
    command.signal(signal.SIGINT)  # nobody here heeds the first
    assert await command.ended() == 130
    assert not processes_naming(str(data.parent))


async def test_quiet_shows_no_more_than_warnings(given: dict[str, str], data: Path) -> None:
    command = await Up.start(given, "--data", str(data), "-q")

    await command.until((data / "stack.json").exists)
    command.signal(signal.SIGTERM)
    assert await command.ended() == 0
    assert "serving" not in command.text
    assert "ContactMesh runs" not in command.text
    assert "✓" not in command.text


async def test_it_runs_on_when_nobody_reads_its_output(given: dict[str, str], data: Path) -> None:
    reading, writing = os.pipe()
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, "up", "--data", str(data)),
        stdout=writing,
        env=given,
        start_new_session=True,
    )
    os.close(writing)
    os.close(reading)

    async def is_up() -> bool:
        assert command.returncode is None
        return (data / "stack.json").exists()

    await until(is_up, seconds=60)
    before = find_stack(data).services[0].pid
    assert before is not None
    os.kill(before, signal.SIGKILL)

    async def is_back() -> bool:
        assert command.returncode is None
        return find_stack(data).services[0].pid not in (before, None)

    await until(is_back, seconds=20)
    command.send_signal(signal.SIGHUP)
    assert await command.wait() == 0
    assert not processes_naming(str(data.parent))


@pytest.mark.timeout(300)  # it starts a broker twice
async def test_killing_the_command_kills_everything_and_it_can_start_again(
    own: dict[str, str], data: Path
) -> None:
    command = await Up.start(own, "--data", str(data))
    await command.until_said("ContactMesh runs")
    running = processes_naming(str(data.parent))
    assert any("beam" in process for process in running.values())
    assert any("epmd" in process for process in running.values())
    assert any("secantus" in process for process in running.values())
    before = find_stack(data)
    command.signal(signal.SIGKILL)
    assert await command.ended() == -signal.SIGKILL

    async def nothing_runs() -> bool:
        return not processes_naming(str(data.parent))

    await until(nothing_runs, seconds=20)
    again = await Up.start(own, "--data", str(data))
    await again.until_said("ContactMesh runs")
    after = find_stack(data)
    assert (after.amqp_url, after.mongodb_url) == (before.amqp_url, before.mongodb_url)
    again.signal(signal.SIGINT)
    assert await again.ended() == 0
    assert not processes_naming(str(data.parent))


@pytest.mark.parametrize(
    ("scale", "code", "message"),
    [
        ("grup_service=2", 2, "There is no service grup_service."),
        ("group_service=0", 2, "from 1 to 32"),
        ("group_service", 2, "is not like group_service=3. See"),
        ("group_service=²", 2, "is not like group_service=3. See"),
    ],
)
async def test_a_wrong_scale_is_told_in_a_line(
    own: dict[str, str], data: Path, scale: str, code: int, message: str
) -> None:
    command = await Up.start(own, "--data", str(data), "--scale", scale)
    assert await command.ended() == code
    (line,) = command.text.strip().splitlines()
    assert message in line
