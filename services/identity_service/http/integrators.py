"""Routes for operators about integrators."""

from http import HTTPStatus

from aiohttp import web

from contactmesh.contracts.identity import AddIntegrator
from identity_service.handlers.integration import Integration
from identity_service.http.operator import OperatorsOnly
from identity_service.http.reading import read_body


def integrator_routes(
    integration: Integration, operators_only: OperatorsOnly
) -> list[web.RouteDef]:
    """All routes about integrators; they need the operator's token."""

    async def add(request: web.Request) -> web.Response:
        added = await integration.add(await read_body(request, AddIntegrator))
        return web.json_response(
            added.model_dump(mode="json"),
            status=HTTPStatus.CREATED,
            headers={"Cache-Control": "no-store"},
        )

    async def rows(_: web.Request) -> web.Response:
        found = [row.model_dump(mode="json") for row in await integration.rows()]
        return web.json_response({"integrators": found})

    async def remove(request: web.Request) -> web.Response:
        await integration.remove(request.match_info["name"])
        return web.Response(status=HTTPStatus.NO_CONTENT)

    return [
        web.post("/v1/integrators", operators_only(add)),
        web.get("/v1/integrators", operators_only(rows)),
        web.delete("/v1/integrators/{name}", operators_only(remove)),
    ]
