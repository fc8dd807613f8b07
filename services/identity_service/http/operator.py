"""Routes for operators, who identify themselves with their token."""

from http import HTTPStatus

from aiohttp import web

from contactmesh.contracts.identity import RegisterUser
from identity_service.handlers.registration import Registration
from identity_service.http.errors import Handler, answered
from identity_service.http.reading import read_body, require_operator


def operator_routes(registration: Registration, token: bytes) -> list[web.RouteDef]:
    """All routes that need the operator's token."""

    async def register(request: web.Request) -> web.Response:
        user = await registration.register(await read_body(request, RegisterUser))
        return web.json_response(user.model_dump(mode="json"))

    async def users(request: web.Request) -> web.Response:
        page, following = await registration.users(after=request.query.get("after", ""))
        rows = [user.model_dump(mode="json") for user in page]
        return web.json_response({"users": rows, "next": following})

    async def mint(request: web.Request) -> web.Response:
        code = await registration.mint(request.match_info["user_id"])
        return web.json_response(
            code.model_dump(mode="json"),
            status=HTTPStatus.CREATED,
            headers={"Cache-Control": "no-store"},
        )

    async def terminals(request: web.Request) -> web.Response:
        rows = await registration.terminals(request.match_info["user_id"])
        return web.json_response({"terminals": [row.model_dump(mode="json") for row in rows]})

    async def revoke(request: web.Request) -> web.Response:
        await registration.revoke(request.match_info["terminal_id"])
        return web.Response(status=HTTPStatus.NO_CONTENT)

    def operators_only(handler: Handler) -> Handler:
        async def checked(request: web.Request) -> web.Response:
            require_operator(request, token)
            return await handler(request)

        return answered(checked)

    return [
        web.post("/v1/users", operators_only(register)),
        web.get("/v1/users", operators_only(users)),
        web.post("/v1/users/{user_id}/enrolment-codes", operators_only(mint)),
        web.get("/v1/users/{user_id}/terminals", operators_only(terminals)),
        web.delete("/v1/terminals/{terminal_id}", operators_only(revoke)),
    ]
