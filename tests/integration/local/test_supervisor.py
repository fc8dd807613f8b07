"""What dies is started again; what is stopped stays so."""

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contactmesh.local.errors import DidNotStartError
from contactmesh.local.process import ProcessSpec
from contactmesh.local.stack_log import SUPERVISOR, StackLog
from contactmesh.local.supervisor import SupervisedProcess
from contactmesh.local.waiting import until

WAITS = "import os, signal; print(os.environ.get('ONCE'), flush=True); signal.pause()"
DIES = "import sys; sys.exit('out of luck')"


class Recorder:
    """Collects what is logged."""

    def __init__(self, folder: Path) -> None:
        self.lines: list[str] = []
        self.events: list[dict[str, object]] = []
        self.log = StackLog(folder, self._read)

    def _read(self, process: str, line: str) -> None:
        if process == SUPERVISOR:
            self.events.append(json.loads(line))
        else:
            self.lines.append(line)

    async def until_lines(self, count: int) -> None:
        async def enough() -> bool:
            return len(self.lines) >= count

        await until(enough, seconds=20)


@pytest_asyncio.fixture
async def recorder(tmp_path: Path) -> AsyncIterator[Recorder]:
    recorder = Recorder(tmp_path)
    yield recorder
    recorder.log.close()


def supervised(code: str, recorder: Recorder, folder: Path) -> SupervisedProcess:
    spec = ProcessSpec("script", (sys.executable, "-c", code), dict(os.environ), folder)
    return SupervisedProcess(spec, recorder.log, grace_seconds=10)


async def test_who_is_killed_is_started_again(recorder: Recorder, tmp_path: Path) -> None:
    process = supervised(WAITS, recorder, tmp_path)
    await process.start()
    await recorder.until_lines(1)
    first = process.pid
    process.kill()
    await recorder.until_lines(2)
    second = process.pid
    assert second not in (first, None)
    assert process.deaths == 1
    await process.stop()
    (death,) = (event for event in recorder.events if event["level"] == "warning")
    assert death["ending"] == "signal SIGKILL"


async def test_an_environment_for_once_is_gone_after_a_death(
    recorder: Recorder, tmp_path: Path
) -> None:
    process = supervised(WAITS, recorder, tmp_path)
    await process.start({"ONCE": "only"})
    await recorder.until_lines(1)
    process.kill()
    await recorder.until_lines(2)
    await process.stop()
    assert recorder.lines == ["only", "None"]


async def test_who_keeps_dying_is_started_ever_more_slowly_and_said_to(
    recorder: Recorder, tmp_path: Path
) -> None:
    process = supervised(DIES, recorder, tmp_path)
    await process.start()
    await recorder.until_lines(4)

    async def said() -> bool:
        return any(event["level"] == "error" for event in recorder.events)

    await until(said, seconds=20)
    await process.stop()  # in the midst of a pause
    deaths = [event for event in recorder.events if "ending" in event]
    assert [death["restart_in_seconds"] for death in deaths] == [0.2, 0.4, 0.8, 1.6]
    assert deaths[-1]["event"] == "keeps dying; look at its log"
    assert deaths[-1]["log"] == str(recorder.log.path("script"))


async def test_who_is_stopped_stays_so_and_can_be_started(
    recorder: Recorder, tmp_path: Path
) -> None:
    process = supervised(WAITS, recorder, tmp_path)
    for count in (1, 2):
        await process.start()
        await recorder.until_lines(count)
        running = (process.pid is not None, process.wanted)
        await process.stop()
        assert running == (True, True)
        assert (process.pid, process.wanted) == (None, False)
    assert not [event for event in recorder.events if event["level"] != "debug"]


async def test_dying_while_starting_is_told_with_the_last_words(
    recorder: Recorder, tmp_path: Path
) -> None:
    process = supervised(DIES, recorder, tmp_path)

    async def never() -> bool:
        return False

    await process.start()
    with pytest.raises(
        DidNotStartError, match=r"script ended with exit status 1 .*script\.jsonl.*out of luck"
    ):
        await process.until_ready(never, seconds=20)
    await process.stop()


async def test_the_last_words_of_a_service_are_its_event_not_its_json(
    recorder: Recorder, tmp_path: Path
) -> None:
    code = """print('{"level": "critical", "event": "no broker account"}'); raise SystemExit(1)"""
    process = supervised(code, recorder, tmp_path)

    async def never() -> bool:
        return False

    await process.start()
    with pytest.raises(DidNotStartError, match=r"Last line: no broker account$"):
        await process.until_ready(never, seconds=20)
    await process.stop()


async def test_what_cannot_be_started_again_is_tried_later_and_can_be_stopped(
    recorder: Recorder, tmp_path: Path
) -> None:
    folder = tmp_path / "goes away"
    folder.mkdir()
    process = supervised(WAITS, recorder, folder)
    await process.start()
    await recorder.until_lines(1)
    folder.rmdir()
    process.kill()

    async def said() -> bool:
        return any(event["event"] == "cannot be started" for event in recorder.events)

    await until(said, seconds=20)
    await process.stop()
    assert process.deaths == 1


async def test_not_being_ready_in_time_is_told(recorder: Recorder, tmp_path: Path) -> None:
    process = supervised(WAITS, recorder, tmp_path)

    async def never() -> bool:
        return False

    await process.start()
    with pytest.raises(DidNotStartError, match="not ready within 0 s"):
        await process.until_ready(never, seconds=0.2)
    await process.stop()
