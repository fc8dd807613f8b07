"""A question that is asked at a real terminal."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.cli.terminal.conftest import Run

from contactmesh.cli.exit_codes import ExitCode
from contactmesh.local.waiting import until

PERSON = "BEGIN:VCARD\nVERSION:4.0\nFN:Ann\nEND:VCARD\n"
COMMAND = "from contactmesh.cli.entry import main; main()"
SECONDS = 60


class Asked:
    """A command that asks whether Ann is to be deleted."""

    def __init__(self) -> None:
        self._screen, inside = pty.openpty()
        self.process = subprocess.Popen(
            (sys.executable, "-c", COMMAND, "terminal", "delete", "Ann"),
            stdin=inside,
            stdout=inside,
            stderr=inside,
        )
        os.close(inside)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(self._screen, 1000)

    def answer(self, text: bytes) -> int:
        """The exit status after an answer."""
        os.write(self._screen, text)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        """End it, whatever it waits for."""
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def interrupt(self) -> int:
        """The exit status after Ctrl-C, pressed once the command waits for an answer."""
        asyncio.run(until(self._waits, seconds=SECONDS))
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)

    async def _waits(self) -> bool:
        return sleeps(self.process.pid)


def sleeps(pid: int) -> bool:
    """Whether a process waits for something, as the kernel tells it."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rpartition(")")[2].split()[0] == "S"


@pytest.fixture
def asked(enrolled: Callable[[str], None], run: Run) -> Iterator[Asked]:
    enrolled("alice")
    run("import", "-", stdin=PERSON)
    with closing(Asked()) as asked:
        yield asked


def test_ctrl_c_at_a_question_ends_the_command_at_once(asked: Asked, run: Run) -> None:
    assert asked.interrupt() == ExitCode.INTERRUPTED
    assert "Ann" in run("contacts").stdout


@pytest.mark.parametrize(
    ("answer", "status", "left"), [(b"y\n", ExitCode.OK, False), (b"\n", ExitCode.FAILED, True)]
)
def test_it_goes_on_only_after_a_yes(
    asked: Asked, run: Run, answer: bytes, status: ExitCode, left: bool
) -> None:
    assert asked.answer(answer) == status
    assert ("Ann" in run("contacts").stdout) == left
