"""Waiting for something no longer than a while."""

import asyncio


async def happened_within(seconds: float, event: asyncio.Event) -> bool:
    """Wait until an event has happened; returns whether it did in so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
