"""The HTTP side of every service: probes, metrics, version (and a service's own routes)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

import prometheus_client
import structlog
from aiohttp import web

from contactmesh.runtime.patience import Connections, Patience

log = structlog.get_logger()

Readiness = Callable[[], Awaitable[str | None]]
"""Says why the service is not ready, or nothing."""


def _probes(readiness: Readiness) -> list[web.RouteDef]:
    async def livez(_: web.Request) -> web.Response:
        # Alive never depends on broker or database: a restart would not bring them back.
        return web.Response(text="alive\n")

    async def readyz(_: web.Request) -> web.Response:
        reason = await readiness()
        if reason is None:
            return web.Response(text="ready\n")
        return web.Response(status=503, text=f"not ready: {reason}\n")

    async def metrics(_: web.Request) -> web.Response:
        body = prometheus_client.generate_latest()
        return web.Response(
            body=body, headers={"Content-Type": prometheus_client.CONTENT_TYPE_LATEST}
        )

    async def show_version(_: web.Request) -> web.Response:
        return web.json_response({"version": version("contactmesh")})

    return [
        web.get("/livez", livez),
        web.get("/readyz", readyz),
        web.get("/metrics", metrics),
        web.get("/version", show_version),
    ]


@asynccontextmanager
async def serving(
    host: str, port: int, readiness: Readiness, routes: Iterable[web.RouteDef] = ()
) -> AsyncIterator[int]:
    """Serve while the block runs; gives the port."""
    connections = Connections(Patience())
    app = web.Application(client_max_size=64 * 1024, middlewares=[connections.middleware])
    app.add_routes([*_probes(readiness), *routes])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    server = runner.server
    if server is None:
        raise RuntimeError("a runner that is set up has a server")
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound: int = runner.addresses[0][1]
        log.info("serving http", host=host, port=bound)
        async with connections.watched(server):
            yield bound
    finally:
        await runner.cleanup()
