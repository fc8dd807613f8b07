"""Waiting for a condition, with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable

_POLL_SECONDS = 0.05


async def until(condition: Callable[[], Awaitable[bool]], *, seconds: float) -> None:
    """Wait until ``condition`` holds.

    Raises:
        TimeoutError: It did not hold within ``seconds``.
    """
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(_POLL_SECONDS)


async def accepts_connections(host: str, port: int) -> bool:
    """Tell whether somebody accepts TCP connections on ``host`` and ``port``."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:
        return False
    return True
