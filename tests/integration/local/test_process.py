"""One child process: what it says, how it ends, and that it never outlives its parent."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.integration.local.processes import runs

from contactmesh.local import die_with_parent
from contactmesh.local.process import Process, ProcessSpec, describe_ending
from contactmesh.local.waiting import until

DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", flush=True)
while True:
    signal.pause()
"""
HEEDFUL = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("on", flush=True)
signal.pause()
"""


def python(code: str, folder: Path) -> ProcessSpec:
    return ProcessSpec("script", (sys.executable, "-c", code), dict(os.environ), folder)


async def lines_of(process: Process) -> list[str]:
    return [line async for line in process.lines()]


async def test_lines_come_whole_whatever_they_hold(tmp_path: Path) -> None:
    code = r"""
import sys
out = sys.stdout.buffer
out.write("通讯录\r\n\n".encode() + b"\xff\n" + b"x" * 200_000 + b"\nno end")
sys.stderr.write("")
"""
    process = await Process.start(python(code, tmp_path))
    assert await lines_of(process) == ["通讯录", "", "�", "x" * 200_000, "no end"]
    assert await process.wait() == 0


async def test_a_line_without_end_comes_in_pieces(tmp_path: Path) -> None:
    process = await Process.start(python("print('x' * 3_000_000)", tmp_path))
    pieces = await lines_of(process)
    assert len(pieces) > 1
    assert "".join(pieces) == "x" * 3_000_000
    await process.wait()


async def test_errors_are_in_the_same_output(tmp_path: Path) -> None:
    process = await Process.start(python("import sys; sys.exit('no use')", tmp_path))
    assert await lines_of(process) == ["no use"]
    assert await process.wait() == 1


async def test_a_log_file_takes_the_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        process = await Process.start(python("print('hello')", tmp_path), log=log)
        await process.wait()
        assert await lines_of(process) == []
    assert log.read_text() == "hello\nhello\n"


async def test_stop_asks_first(tmp_path: Path) -> None:
    process = await Process.start(python(HEEDFUL, tmp_path))
    assert await anext(process.lines()) == "on"
    assert await process.stop(grace_seconds=30) == 7


async def test_stop_kills_who_does_not_heed(tmp_path: Path) -> None:
    process = await Process.start(python(DEAF, tmp_path))
    assert await anext(process.lines()) == "on"
    assert await process.stop(grace_seconds=0.2) == -signal.SIGKILL
    assert await process.stop(grace_seconds=0.2) == -signal.SIGKILL  # again is no error


async def test_the_terminals_signals_do_not_reach_it(tmp_path: Path) -> None:
    process = await Process.start(python(DEAF, tmp_path))
    assert await anext(process.lines()) == "on"
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    process.kill()
    await process.wait()


async def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    parent_code = f"""
import asyncio, os, sys
from pathlib import Path
from contactmesh.local.process import Process, ProcessSpec
async def main():
    spec = ProcessSpec("child", (sys.executable, "-c", {DEAF!r}), dict(os.environ), Path("."))
    child = await Process.start(spec)
    print(await anext(child.lines()), child.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = await Process.start(python(parent_code, tmp_path))
    child = int((await anext(parent.lines())).removeprefix("on "))
    os.kill(child, 0)
    parent.kill()
    await parent.wait()

    async def is_gone() -> bool:
        return not runs(child)

    await until(is_gone, seconds=10)


async def test_a_child_whose_parent_is_gone_already_does_not_start(tmp_path: Path) -> None:
    wrapper = (sys.executable, "-I", "-S", die_with_parent.__file__)
    orphan = await asyncio.create_subprocess_exec(
        *wrapper, "1", sys.executable, "-c", "print('ran')", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await orphan.communicate()
    assert (output, orphan.returncode) == (b"", 1)


@pytest.mark.parametrize(
    ("returncode", "words"),
    [(0, "exit status 0"), (3, "exit status 3"), (-9, "signal SIGKILL"), (-99, "signal 99")],
)
def test_an_ending_is_said_in_words(returncode: int, words: str) -> None:
    assert describe_ending(returncode) == words
