"""What takes long or removes much: how far it is, and asking before it goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from contactmesh.cli.output import error_console, print_note
from contactmesh.cli.terminal.asking import sure
from contactmesh.terminal import LargeRemoval

Shown = Callable[[int, int | None], None]
"""Told how much is done, and of how much where that is known."""
Outcome = TypeVar("Outcome")


@contextmanager
def progress_of(doing: str, interrupted: str) -> Iterator[Shown]:
    """Show on a terminal how far something is.

    Args:
        doing: what is done.
        interrupted: what to say when it ends before its end.
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
        with bar:
            task = bar.add_task(doing, total=None)
            yield lambda done, of: bar.update(task, completed=done, total=of)
    except asyncio.CancelledError:
        print_note(interrupted)
        raise


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
