"""How long an HTTP connection may keep a service waiting, so that none is held open to hold it up.

A connection that sends a request byte by byte costs its sender nothing and the service a file
descriptor. It has some seconds for its first request, and an idle one some minutes for the next;
when there are too many, those that wait are closed, the ones that never asked anything first.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client import Counter

log = structlog.get_logger()

CLOSED: Final = Counter(
    "contactmesh_http_connections_closed", "Connections closed because they kept us waiting."
)
LOOK_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a connection may wait, in seconds, and how many there may be."""

    first_request: float = 10.0
    next_request: float = 150.0
    """Longer than the broker keeps an idle connection to us: it should be the one that closes."""
    connections: int = 500


class Connections:
    """Keeps count of a server's connections, which its middleware tells it of."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._waits_since: dict[web.RequestHandler, float] = {}
        self._asked: set[web.RequestHandler] = set()
        self._in_request: set[web.RequestHandler] = set()

    @property
    def middleware(self) -> Middleware:
        """Notes when a request begins and ends."""

        @web.middleware
        async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
            connection = request.protocol
            self._asked.add(connection)
            self._in_request.add(connection)
            try:
                return await handler(request)
            finally:
                self._in_request.discard(connection)
                self._waits_since[connection] = asyncio.get_running_loop().time()

        return note

    @asynccontextmanager
    async def watched(self, server: web.Server) -> AsyncIterator[None]:
        """Close what keeps the server waiting while the block runs."""

        async def watch() -> None:
            while True:
                self._close_the_slow(server)
                await asyncio.sleep(LOOK_SECONDS)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    def _close_the_slow(self, server: web.Server) -> None:
        now = asyncio.get_running_loop().time()
        connections = server.connections
        waiting = [one for one in connections if one not in self._in_request]
        self._waits_since = {one: self._waits_since.get(one, now) for one in waiting}
        self._asked.intersection_update(connections)
        # Those that never asked come first, and of the others those that wait longest.
        waiting.sort(key=lambda one: (one in self._asked, self._waits_since[one]))
        too_many = max(0, len(connections) - self._patience.connections)
        late = [
            one for one in waiting[too_many:] if now - self._waits_since[one] > self._limit(one)
        ]
        closing = [*waiting[:too_many], *late]
        for connection in closing:
            connection.force_close()
        if closing:
            CLOSED.inc(len(closing))
            log.warning("slow connections closed", connections=len(closing))

    def _limit(self, connection: web.RequestHandler) -> float:
        asked = connection in self._asked
        return self._patience.next_request if asked else self._patience.first_request
