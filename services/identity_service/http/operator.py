"""Routes for operators, who identify themselves with their token."""

from collections.abc import Callable
from http import HTTPStatus

from aiohttp import web

from contactmesh.contracts.identifiers import carrier_owner
from contactmesh.contracts.identity import AddCarrier, RegisterUser
from identity_service.handlers.registration import Registration
from identity_service.handlers.secrets import Secrets
from identity_service.http.errors import Handler, answered
from identity_service.http.reading import read_body, require_operator

OperatorsOnly = Callable[[Handler], Handler]


def only_for_operators(token: bytes) -> OperatorsOnly:
    """Let handlers be reached with the operator's token alone."""

    def operators_only(handler: Handler) -> Handler:
        async def checked(request: web.Request) -> web.Response:
            require_operator(request, token)
            return await handler(request)

        return answered(checked)

    return operators_only


def operator_routes(
    registration: Registration, secrets: Secrets, operators_only: OperatorsOnly
) -> list[web.RouteDef]:
    """All routes that need the operator's token."""

    async def register(request: web.Request) -> web.Response:
        user = await registration.register(await read_body(request, RegisterUser))
        return web.json_response(user.model_dump(mode="json"))

    async def users(request: web.Request) -> web.Response:
        page, following = await registration.users(after=request.query.get("after", ""))
        rows = [user.model_dump(mode="json") for user in page]
        return web.json_response({"users": rows, "next": following})

    async def add_carrier(request: web.Request) -> web.Response:
        carrier = await registration.add_carrier(await read_body(request, AddCarrier))
        return web.json_response(carrier.model_dump(mode="json"))

    async def carriers(request: web.Request) -> web.Response:
        page, following = await registration.carriers(after=request.query.get("after", ""))
        rows = [carrier.model_dump(mode="json") for carrier in page]
        return web.json_response({"carriers": rows, "next": following})

    async def mint(request: web.Request) -> web.Response:
        code = await registration.mint(_owner(request))
        return web.json_response(
            code.model_dump(mode="json"),
            status=HTTPStatus.CREATED,
            headers={"Cache-Control": "no-store"},
        )

    async def terminals(request: web.Request) -> web.Response:
        rows = await registration.terminals(_owner(request))
        return web.json_response({"terminals": [row.model_dump(mode="json") for row in rows]})

    async def revoke(request: web.Request) -> web.Response:
        await registration.revoke(request.match_info["terminal_id"])
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def demand_rotation(request: web.Request) -> web.Response:
        await secrets.demand_rotation(request.match_info["terminal_id"])
        return web.Response(status=HTTPStatus.NO_CONTENT)

    return [
        web.post("/v1/users", operators_only(register)),
        web.get("/v1/users", operators_only(users)),
        web.post("/v1/users/{user_id}/enrolment-codes", operators_only(mint)),
        web.get("/v1/users/{user_id}/terminals", operators_only(terminals)),
        web.post("/v1/carriers", operators_only(add_carrier)),
        web.get("/v1/carriers", operators_only(carriers)),
        web.post("/v1/carriers/{carrier_id}/enrolment-codes", operators_only(mint)),
        web.get("/v1/carriers/{carrier_id}/terminals", operators_only(terminals)),
        web.delete("/v1/terminals/{terminal_id}", operators_only(revoke)),
        web.post("/v1/terminals/{terminal_id}/rotation", operators_only(demand_rotation)),
    ]


def _owner(request: web.Request) -> str:
    """Whose terminals the path is about."""
    carrier_id = request.match_info.get("carrier_id")
    return request.match_info["user_id"] if carrier_id is None else carrier_owner(carrier_id)
