"""Waiting for something no longer than a while, and for what is better not cut off."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

Value = TypeVar("Value")

GRACE_SECONDS: Final = 2.0
"""How long work that is not to be cut off may go on after its caller was cancelled."""


async def happened_within(seconds: float, event: asyncio.Event) -> bool:
    """Wait until an event has happened; returns whether it did in so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


async def uncut(
    work: Coroutine[Any, Any, Value], undo: Callable[[Value], Awaitable[object]]
) -> Value:
    """Wait for work that is better not cancelled in the middle.

    The broker's client is such: where a call is cut off, it complains on standard error. So when
    the caller is cancelled the work comes to its end first, unless that takes too long.

    Args:
        work: what is to be done.
        undo: called with what came of it, when nobody waits for that any more.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=GRACE_SECONDS)
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None:
            await undo(task.result())
        raise
