"""Ctrl-C while something ends only after its next step: it is said at once that it was heard."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from contactmesh.cli.exit_codes import ExitCode

SECONDS = 60
STEP = """
import asyncio, sys
from contactmesh.cli.terminal.doing import progress_of

async def main():
    with progress_of("Accepting", "What was done stays.", "Stopping after this page"):
        step = asyncio.ensure_future(asyncio.to_thread(sys.stdin.readline))
        print("begun", flush=True)
        try:
            await asyncio.shield(step)
        except asyncio.CancelledError:
            await step
            print("ended", flush=True)
            raise

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def begun() -> Iterator[subprocess.Popen[str]]:
    """Something that is under way until a line is sent to it."""
    with subprocess.Popen(
        (sys.executable, "-c", STEP),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield process
        process.kill()


def test_it_is_said_before_the_step_ends(begun: subprocess.Popen[str]) -> None:
    begun.send_signal(signal.SIGINT)
    assert begun.stderr is not None
    assert begun.stderr.readline() == "Stopping after this page\n"
    out, err = begun.communicate("\n", SECONDS)
    assert (out, err) == ("ended\n", "What was done stays.\n")
    assert begun.returncode == ExitCode.INTERRUPTED


def test_a_second_one_does_not_wait_for_the_step(begun: subprocess.Popen[str]) -> None:
    begun.send_signal(signal.SIGINT)
    assert begun.stderr is not None
    begun.stderr.readline()
    begun.send_signal(signal.SIGINT)
    out, _ = begun.communicate("\n", SECONDS)
    assert begun.returncode == ExitCode.INTERRUPTED
    assert out == ""
