"""What takes long or removes much: how far it is, and asking before it goes on."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.text import Text

from contactmesh.cli.output import error_console, print_note
from contactmesh.cli.terminal.asking import sure
from contactmesh.terminal import LargeRemoval

Shown = Callable[[int, int | None], None]
"""Told how much is done, and of how much where that is known."""
Outcome = TypeVar("Outcome")


@contextmanager
def progress_of(doing: str, interrupted: str, stopping: str | None = None) -> Iterator[Shown]:
    """Show on a terminal how far something is.

    Args:
        doing: what is done.
        interrupted: what to say when it ends before its end.
        stopping: what to say at once at Ctrl-C, where it takes some time to end.
    """
    screen = error_console()
    bar = ProgressBar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    try:
        with bar, _answering_ctrl_c(bar.console, stopping):
            task = bar.add_task(doing, total=None)
            yield lambda done, of: bar.update(task, completed=done, total=of)
    except asyncio.CancelledError:
        print_note(interrupted)
        raise


@contextmanager
def _answering_ctrl_c(screen: Console, stopping: str | None) -> Iterator[None]:
    """Say at once at the first Ctrl-C that it was heard; what it does stays the same."""
    before = signal.getsignal(signal.SIGINT)
    alone = threading.current_thread() is not threading.main_thread()
    if stopping is None or alone or not callable(before):
        yield
        return
    loop, goes_on = asyncio.get_running_loop(), before
    said = Text(stopping, style="dim")

    def heard(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, goes_on)
        loop.call_soon_threadsafe(screen.print, said)
        goes_on(number, frame)

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, goes_on)


async def asking_before_removals(
    carry_out: Callable[[bool], Awaitable[Outcome]], question: str, otherwise: str, *, yes: bool
) -> Outcome:
    """Do something; if it would remove much, only after the user has agreed.

    Args:
        carry_out: does it, told whether it may remove much.
        question: what to ask, with places for how many of how many.
        otherwise: what to say if the user does not agree.
        yes: whether the user has agreed beforehand.

    Raises:
        CommandError: the user does not agree.
        WrongUsage: nobody is there to ask.
    """
    try:
        return await carry_out(yes)
    except LargeRemoval as large:
        asked = question.format(removed=large.removals, contacts=large.contacts)
        sure(asked, yes=False, otherwise=otherwise)
    return await carry_out(True)
