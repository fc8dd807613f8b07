"""One child process: how it is started, watched and stopped."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from asyncio.subprocess import Process as AsyncioProcess
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from contactmesh.local import die_with_parent, texts

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_CHUNK_BYTES = 65_536
_LONGEST_LINE_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """How a process is started.

    Attributes:
        name: What people call it; also the name of its log.
        argv: The program and its arguments. No secret may be among them: everybody can read them.
        environment: The whole environment, not additions to it.
        folder: The working folder.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path


class Process:
    """A running child in a session of its own.

    Ctrl-C at the terminal does not reach it, and the kernel kills it if this process dies.
    """

    def __init__(self, spec: ProcessSpec, child: AsyncioProcess) -> None:
        self.spec = spec
        self._child = child

    @classmethod
    async def start(cls, spec: ProcessSpec, *, log: Path | None = None) -> Self:
        """Start ``spec``.

        Must be called from the main thread: the kernel ties a child to the thread that made it.

        Args:
            spec: What to start.
            log: The file that gets everything it writes, appended; without it, read ``lines``.
        """
        argv = (
            *(sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())),
            *spec.argv,
        )
        output = (
            PIPE if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        )
        try:
            child = await asyncio.create_subprocess_exec(
                *argv,
                stdin=DEVNULL,
                stdout=output,
                stderr=STDOUT,
                env=dict(spec.environment),
                cwd=spec.folder,
                start_new_session=True,
            )
        finally:
            if log is not None:
                os.close(output)
        return cls(spec, child)

    @property
    def pid(self) -> int:
        """The process id, also of the program itself: the wrapper becomes the program."""
        return self._child.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, the negative signal number, or ``None`` while it runs."""
        return self._child.returncode

    async def lines(self) -> AsyncIterator[str]:
        """Give each line that it writes, until it closes its output.

        A line longer than 1 MiB comes in pieces; what is not UTF-8 is shown as replacement marks.
        """
        stream = self._child.stdout
        if stream is None:
            return
        rest = b""
        while chunk := await stream.read(_CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", errors="replace").rstrip("\r")
            if len(rest) > _LONGEST_LINE_BYTES:
                yield rest.decode("utf-8", errors="replace")
                rest = b""
        if rest:
            yield rest.decode("utf-8", errors="replace")

    async def wait(self) -> int:
        """Wait for its end and give what ``returncode`` gives."""
        return await self._child.wait()

    def kill(self) -> None:
        """Send SIGKILL, which nothing can refuse."""
        self._signal(signal.SIGKILL)

    async def stop(self, *, grace_seconds: float) -> int:
        """Send SIGTERM, and SIGKILL if it still runs after ``grace_seconds``; wait for its end."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_seconds):
                return await self.wait()
        except TimeoutError:
            self.kill()
            return await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._child.send_signal(number)


def describe_ending(returncode: int) -> str:
    """Say in words how a process ended: its exit status, or the signal that killed it."""
    if returncode >= 0:
        return texts.EXIT_STATUS.format(status=returncode)
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = str(-returncode)
    return texts.EXIT_SIGNAL.format(name=name)
