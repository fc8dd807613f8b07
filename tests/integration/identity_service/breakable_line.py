"""A line to a server that can be cut and mended, to see what happens when the server is away."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from threading import Thread

from yarl import URL


class BreakableLine:
    """Passes bytes between a port of its own and a server, while it is not cut.

    It has a thread of its own, since a client may block the test's event loop while it waits.
    """

    def __init__(self, server: URL, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._listener: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def url(self) -> str:
        """The server's URL, over this line."""
        return str(self._server.with_host("127.0.0.1").with_port(self._port))

    async def mend(self) -> None:
        """Take connections, at the same port as before."""
        await self._there(self._listen())

    async def cut(self) -> None:
        """Break all connections and refuse new ones."""
        await self._there(self._break())

    async def _there(self, work: Coroutine[None, None, None]) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._listener.sockets[0].getsockname()[1]

    async def _break(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        passing = list(self._passing)
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._pass(reader, writer))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self._server.host, self._server.port)
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            writer.transport.abort()
            far_writer.transport.abort()


@asynccontextmanager
async def breakable_line(server: str) -> AsyncIterator[BreakableLine]:
    """A line to the server of this URL."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    line = BreakableLine(URL(server), loop)
    try:
        await line.mend()
        yield line
    finally:
        await line.cut()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while received := await source.read(65_536):
            target.write(received)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()
