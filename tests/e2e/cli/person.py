"""A person at the command line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from contactmesh.cli.app import app

SECONDS = 60
"""How long anything may take on a busy machine; nothing waits that long when all is well."""

COMMAND = "from contactmesh.cli.entry import main; main()"


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended."""

    status: int
    out: str
    err: str


class Watching:
    """A running `watch --json`."""

    def __init__(self, process: asyncio.subprocess.Process, lines: asyncio.StreamReader) -> None:
        self._process = process
        self._lines = lines

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next update of those that are wanted."""
        async with asyncio.timeout(SECONDS):
            while line := await self._lines.readline():
                update: dict[str, Any] = json.loads(line)
                if wanted(update):
                    return update
        raise AssertionError("it ended before what was waited for came")

    async def interrupted(self) -> int:
        """The exit status after Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        async with asyncio.timeout(SECONDS):
            return await self._process.wait()


class Person:
    """Somebody who uses a terminal of their own on the stack's machine.

    Args:
        name: the terminal's name, and the user's id if no other is given.
        data: the stack's data folder.
        processes: whether each command is a process of its own, as it is for people; without,
            it is called here, which saves it the second that Python takes to load it.
        user_id: whose terminal it is.
    """

    def __init__(
        self, name: str, data: Path, *, processes: bool = False, user_id: str | None = None
    ) -> None:
        self.name = name
        self.user_id = user_id or name
        self._data = data
        self._processes = processes
        self._environment = dict(os.environ) | {
            "CONTACTMESH_HOME": str(data),
            "CONTACTMESH_AS": name,
            "COLUMNS": "120",
        }

    async def run(self, *arguments: str, stdin: bytes = b"", status: int = 0) -> Ended:
        """Run `contactmesh terminal`, which is to end with this status."""
        return await self._run("terminal", *arguments, stdin=stdin, status=status)

    async def told(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401
        """What `contactmesh terminal ... --json` prints."""
        ended = await self.run(*arguments, "--json", stdin=stdin)
        return json.loads(ended.out)

    async def enrol(self, display_name: str, *options: str) -> None:
        """Become a user, and let the terminal in."""
        await self._run("operator", "user", "add", self.user_id, "--name", display_name)
        await self._let_in(*options)

    async def with_another(self, name: str, *options: str) -> "Person":
        """The same user, at a further terminal."""
        other = Person(name, self._data, processes=self._processes, user_id=self.user_id)
        await other._let_in(*options)
        return other

    async def let_in_again(self, name: str) -> Ended:
        """What enrolling a further terminal of the same user says."""
        other = Person(name, self._data, processes=self._processes, user_id=self.user_id)
        return await other._let_in()

    async def _let_in(self, *options: str) -> Ended:
        minted = await self._run("operator", "user", "code", self.user_id, "--json")
        return await self.run("enrol", json.loads(minted.out)["code"], *options)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Watching]:
        """Watch while the block runs."""
        process = await asyncio.create_subprocess_exec(
            *self._argv("terminal", "watch", "--json"),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            async with asyncio.timeout(SECONDS):
                assert b"Watching as" in await process.stderr.readline()
            yield Watching(process, process.stdout)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()

    async def _run(self, *arguments: str, stdin: bytes = b"", status: int = 0) -> Ended:
        carry_out = self._in_a_process if self._processes else self._here
        async with asyncio.timeout(SECONDS):
            ended = await carry_out(arguments, stdin)
        assert "Traceback" not in ended.err, ended.err
        assert ended.status == status, (arguments, ended)
        return ended

    async def _here(self, arguments: Sequence[str], stdin: bytes) -> Ended:
        result = await asyncio.to_thread(
            CliRunner().invoke, app, arguments, input=stdin, env=self._environment
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    async def _in_a_process(self, arguments: Sequence[str], stdin: bytes) -> Ended:
        process = await asyncio.create_subprocess_exec(
            *self._argv(*arguments),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await process.communicate(stdin)
        return Ended(process.returncode or 0, out.decode(), err.decode())

    def _argv(self, *arguments: str) -> tuple[str, ...]:
        return (sys.executable, "-c", COMMAND, *arguments)
