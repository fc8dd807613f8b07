"""Errors of the HTTP interface: `{"error": {code, message, details}}` with a fitting status."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

import structlog
from aiohttp import web

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.messaging.connection import BrokerUnavailable
from contactmesh.storage.errors import DatabaseUnavailable, StaleState

log = structlog.get_logger()

Handler = Callable[[web.Request], Awaitable[web.Response]]

STATUS: Final[Mapping[ErrorCode, HTTPStatus]] = {
    ErrorCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    ErrorCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    ErrorCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.CONFLICT: HTTPStatus.CONFLICT,
    ErrorCode.FULL_SYNC_REQUIRED: HTTPStatus.GONE,
    ErrorCode.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ErrorCode.QUOTA_EXCEEDED: HTTPStatus.CONFLICT,
    ErrorCode.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}


def answered(handler: Handler) -> Handler:
    """Let a handler refuse by raising. What it was asked is not logged, only how it ended."""

    async def answer(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except Refusal as refusal:
            return _refused(request, refusal)
        except (BrokerUnavailable, DatabaseUnavailable, StaleState) as error:
            log.warning("cannot answer", because=str(error))
            return _refused(
                request,
                Refusal(
                    ErrorCode.UNAVAILABLE,
                    "A part of the system is away. Try again in a moment.",
                    retry_after_seconds=1,
                ),
            )

    return answer


async def nothing_here(request: web.Request) -> web.Response:
    """The answer to a path or method that the interface does not have."""
    raise Refusal(ErrorCode.NOT_FOUND, f"There is no {request.method} {request.path}.")


def _refused(request: web.Request, refusal: Refusal) -> web.Response:
    resource = request.match_info.route.resource
    log.info(
        "refused",
        code=refusal.body.code.value,
        method=request.method,
        route=None if resource is None else resource.canonical,
    )
    headers = {}
    if refusal.body.code is ErrorCode.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = 'Bearer realm="contactmesh"'
    if refusal.body.code is ErrorCode.UNAVAILABLE:
        headers["Retry-After"] = "1"
    return web.json_response(
        {"error": refusal.body.model_dump(mode="json")},
        status=STATUS[refusal.body.code],
        headers=headers,
    )
