"""Who sends requests byte by byte is let go of, and everybody else is served meanwhile."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from tests.wire import DEADLINE, System
from yarl import URL

from contactmesh.contracts.group.commands import ListGroups
from contactmesh.runtime.patience import Patience

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEGUN = b"POST /v1/enrolments HTTP/1.1\r\nHost: a\r\nX-Slow: "
BODILESS = b"POST /v1/enrolments HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"
ASKED = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


async def _open(system: System, sent: bytes, running: AsyncExitStack) -> asyncio.StreamReader:
    url = URL(system.stack.identity_url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    running.callback(writer.close)
    writer.write(sent)
    await writer.drain()
    return reader


async def _closed(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(1000):
            pass
    except ConnectionError:
        return


async def test_a_request_that_does_not_come_is_not_waited_for(system: System) -> None:
    async with AsyncExitStack() as running, asyncio.timeout(DEADLINE):
        readers = [await _open(system, sent, running) for sent in (b"", b"G", BEGUN)]
        await asyncio.gather(*(_closed(reader) for reader in readers))


async def test_a_body_that_does_not_come_is_answered_and_not_waited_for(system: System) -> None:
    async with AsyncExitStack() as running, asyncio.timeout(2 * DEADLINE):
        reader = await _open(system, BODILESS, running)
        assert b" 503 " in await reader.readline()
        await _closed(reader)


@pytest.mark.parametrize("sent", [BEGUN, ASKED], ids=["asking slowly", "asking no more"])
async def test_a_thousand_that_wait_keep_nobody_out(system: System, sent: bytes) -> None:
    most = Patience().connections
    async with AsyncExitStack() as running:
        waiting = [await _open(system, sent, running) for _ in range(2 * most)]
        good = await system.terminal("good")
        await good.does(ListGroups())
        async with asyncio.timeout(DEADLINE):
            closing = [asyncio.create_task(_closed(reader)) for reader in waiting]
            for _, done in zip(range(most), asyncio.as_completed(closing), strict=False):
                await done
            for task in closing:
                task.cancel()
    assert any("slow connections closed" in line for _, line in system.log)
