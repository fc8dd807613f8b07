"""Routes for terminals: enrolling, their queue and secret anew, their user's log."""

from http import HTTPStatus

from aiohttp import web

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identity import Enrol, ReadyQueue
from identity_service.handlers.enrolment import Enrolment
from identity_service.handlers.secrets import Secrets
from identity_service.http.errors import answered
from identity_service.http.reading import basic_credentials, read_body


def terminal_routes(enrolment: Enrolment, secrets: Secrets) -> list[web.RouteDef]:
    """All routes that terminals use."""

    async def enrol(request: web.Request) -> web.Response:
        credentials = await enrolment.enrol(await read_body(request, Enrol))
        return web.json_response(
            credentials.model_dump(mode="json"),
            status=HTTPStatus.CREATED,
            headers={"Cache-Control": "no-store"},
        )

    async def make_queue(request: web.Request) -> web.Response:
        terminal_id, secret = own_credentials(request)
        asked = await read_body(request, ReadyQueue) if request.can_read_body else ReadyQueue()
        ready = await enrolment.make_queue(terminal_id, secret, asked.transport)
        return web.json_response(ready.model_dump(mode="json"))

    async def rotate(request: web.Request) -> web.Response:
        issued = await secrets.rotate(*own_credentials(request))
        return web.json_response(
            issued.model_dump(mode="json"),
            status=HTTPStatus.CREATED,
            headers={"Cache-Control": "no-store"},
        )

    async def access_log(request: web.Request) -> web.Response:
        found = await secrets.access_log(*own_credentials(request))
        return web.json_response(found.model_dump(mode="json"))

    return [
        web.post("/v1/enrolments", answered(enrol)),
        web.post("/v1/terminals/{terminal_id}/queue", answered(make_queue)),
        web.post("/v1/terminals/{terminal_id}/secret", answered(rotate)),
        web.get("/v1/terminals/{terminal_id}/access-log", answered(access_log)),
    ]


def own_credentials(request: web.Request) -> tuple[str, str]:
    """The id and secret that the request carries, for what it asks of this very terminal.

    Raises:
        Refusal: `unauthenticated`, there are none; `permission_denied`, it is about another.
    """
    terminal_id, secret = basic_credentials(request)
    if terminal_id != request.match_info["terminal_id"]:
        raise Refusal(ErrorCode.PERMISSION_DENIED, "A terminal asks for itself and no other.")
    return terminal_id, secret
