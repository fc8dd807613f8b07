"""A line to a server that can be cut and mended, to see what happens when the server is away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from yarl import URL


class BreakableLine:
    """Passes bytes between a port of its own and a server, while it is not cut."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._listener: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def url(self) -> str:
        """The server's URL, over this line."""
        return str(self._server.with_host("127.0.0.1").with_port(self._port))

    async def mend(self) -> None:
        """Take connections, at the same port as before."""
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._listener.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Break all connections and refuse new ones."""
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
    line = BreakableLine(URL(server))
    await line.mend()
    try:
        yield line
    finally:
        await line.cut()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while received := await source.read(65_536):
            target.write(received)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()
