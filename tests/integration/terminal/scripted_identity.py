"""The part of identity_service that a terminal asks over HTTP, answering by a script."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.identity import QueueReady
from contactmesh.local.ports import LOOPBACK, free_ports


class ScriptedIdentity:
    """Makes queues, or refuses to.

    Attributes:
        url: where it listens.
        asked: the terminals that asked for their queue, with the authorisation that they gave.
        answer: makes the queue; none to refuse everyone.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[tuple[str, str]] = []
        self.answer: Callable[[str], Awaitable[QueueReady]] | None = None

    async def ready_queue(self, request: web.Request) -> web.Response:
        """Answer `POST /v1/terminals/{terminal_id}/queue`."""
        terminal_id = request.match_info["terminal_id"]
        self.asked.append((terminal_id, request.headers.get("Authorization", "")))
        if self.answer is None:
            error = ErrorBody(code=ErrorCode.UNAUTHENTICATED, message="Enrol again.")
            return web.json_response({"error": error.model_dump(mode="json")}, status=401)
        ready = await self.answer(terminal_id)
        return web.json_response(ready.model_dump(mode="json"))


@asynccontextmanager
async def scripted_identity() -> AsyncIterator[ScriptedIdentity]:
    """Run one on a free port."""
    (port,) = free_ports(1)
    identity = ScriptedIdentity(f"http://{LOOPBACK}:{port}")
    application = web.Application()
    application.router.add_post("/v1/terminals/{terminal_id}/queue", identity.ready_queue)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, port).start()
        yield identity
    finally:
        await runner.cleanup()
