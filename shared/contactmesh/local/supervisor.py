"""Keeping one process running: what dies is started again, with growing pauses if it goes on so."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from contactmesh.local import texts
from contactmesh.local.errors import DidNotStartError
from contactmesh.local.process import Process, ProcessSpec, describe_ending
from contactmesh.local.stack_log import StackLog
from contactmesh.local.waiting import until
from contactmesh.runtime.waiting import happened_within

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 30.0
# Who ran this long before it died did not die of how it was started.
_STEADY_SECONDS = 20.0
_DEATHS_IN_A_ROW_TO_TELL = 4
_LAST_WORDS_SECONDS = 1.0


class SupervisedProcess:
    """A process that is kept running from ``start`` to ``stop``.

    Args:
        spec: How it is started, each time.
        log: Takes what it writes and what happens to it.
        grace_seconds: What it gets between SIGTERM and SIGKILL.
        on_start: Called after each start.
    """

    def __init__(
        self,
        spec: ProcessSpec,
        log: StackLog,
        *,
        grace_seconds: float,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        self._spec = spec
        self._log = log
        self._grace_seconds = grace_seconds
        self._on_start = on_start
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._last_line = ""
        self._last_ending: int | None = None
        self.deaths = 0
        """How often it died without being told to, since ``start``."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self._spec.name

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self._process is None else self._process.pid

    @property
    def wanted(self) -> bool:
        """Whether it is to be running: it was started and not stopped since."""
        return self._task is not None and not self._stopping.is_set()

    async def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Start it, and keep it running from now on.

        Args:
            environment: Added to its environment for this one start; what is started after a death
                is without it.
        """
        self._stopping.clear()
        self.deaths = 0
        process = await self._spawn(environment or {})
        self._task = asyncio.create_task(self._keep_running(process), name=self.name)

    async def until_ready(self, ready: Callable[[], Awaitable[bool]], *, seconds: float) -> None:
        """Wait until ``ready`` says that it can be used.

        Raises:
            DidNotStartError: It died, or ``seconds`` went by.
        """
        log = self._log.path(self.name)
        deaths = self.deaths

        async def ready_or_dead() -> bool:
            if self.deaths > deaths and self._last_ending is not None:
                raise DidNotStartError(
                    texts.ENDED_AT_START.format(
                        name=self.name,
                        ending=describe_ending(self._last_ending),
                        log=log,
                        last=_words(self._last_line) or texts.NOTHING_WRITTEN,
                    )
                )
            return await ready()

        try:
            await until(ready_or_dead, seconds=seconds)
        except TimeoutError:
            raise DidNotStartError(
                texts.NOT_READY_IN_TIME.format(name=self.name, seconds=seconds, log=log)
            ) from None

    def kill(self) -> None:
        """Kill it as ``kill -9`` does; it is started again unless it is being stopped."""
        if self._process is not None:
            self._process.kill()

    async def stop(self, *, grace_seconds: float | None = None) -> None:
        """End it and leave it so: SIGTERM, and SIGKILL after the grace time."""
        self._stopping.set()
        grace = self._grace_seconds if grace_seconds is None else grace_seconds
        if self._process is not None:
            await self._process.stop(grace_seconds=grace)
        if self._task is not None:
            await self._task
            self._task = None

    async def _keep_running(self, process: Process) -> None:
        clock = asyncio.get_running_loop().time
        in_a_row = 0
        running: Process | None = process
        while running is not None:
            began = clock()
            ending = await self._watch(running)
            if self._stopping.is_set():
                return
            steady = clock() - began >= _STEADY_SECONDS
            in_a_row = 1 if steady else in_a_row + 1
            pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** (in_a_row - 1))
            self._tell_death(ending, in_a_row, pause)
            running = await self._start_again(pause)

    async def _start_again(self, pause: float) -> Process | None:
        """Start it after a pause, or not at all when it is told to stop before."""
        while not await happened_within(pause, self._stopping):
            try:
                process = await self._spawn({})
            except OSError as error:  # no memory, no process ids
                pause = _LONGEST_PAUSE_SECONDS
                self._log.say(
                    "error",
                    texts.CANNOT_START,
                    process=self.name,
                    reason=str(error),
                    next_try_in_seconds=pause,
                )
            else:
                if self._stopping.is_set():  # told so while it was being started
                    process.kill()
                return process
        return None

    async def _spawn(self, environment: Mapping[str, str]) -> Process:
        spec = self._spec
        process = self._process = await Process.start(
            ProcessSpec(spec.name, spec.argv, {**spec.environment, **environment}, spec.folder)
        )
        self._log.say("debug", texts.STARTED, process=self.name, pid=process.pid)
        self._on_start()
        return process

    async def _watch(self, process: Process) -> int:
        reading = asyncio.create_task(self._read(process))
        ending = await process.wait()
        # A grandchild may hold the output open; what it still has to say is not waited for.
        await asyncio.wait([reading], timeout=_LAST_WORDS_SECONDS)
        reading.cancel()
        await asyncio.wait([reading])
        self._process = None
        self._last_ending = ending
        return ending

    async def _read(self, process: Process) -> None:
        async for line in process.lines():
            if line.strip():
                self._last_line = line
            self._log.write(self.name, line)

    def _tell_death(self, ending: int, in_a_row: int, pause: float) -> None:
        self.deaths += 1
        if in_a_row < _DEATHS_IN_A_ROW_TO_TELL:
            level, event = "warning", texts.DIED
        else:
            level, event = "error", texts.KEEPS_DYING
        self._log.say(
            level,
            event,
            process=self.name,
            ending=describe_ending(ending),
            deaths=self.deaths,
            restart_in_seconds=round(pause, 1),
            log=str(self._log.path(self.name)),
        )


def _words(line: str) -> str:
    """Give what a log line says, without the rest of it."""
    try:
        fields = json.loads(line)
    except ValueError:
        return line.strip()
    return str(fields["event"]) if isinstance(fields, dict) and "event" in fields else line.strip()
