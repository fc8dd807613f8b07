"""The HTTP interface of identity_service as one OpenAPI document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from contactmesh.contracts import identity
from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identifiers import (
    OWNER_ID_PATTERN,
    TERMINAL_ID_PATTERN,
)

JsonObject = dict[str, Any]

OPERATOR: Final = "operator"
TERMINAL: Final = "terminal"

_PARAMETERS: Final[Mapping[str, str]] = {
    "user_id": OWNER_ID_PATTERN,
    "carrier_id": r"^[a-z][a-z0-9-]{1,31}$",
    "terminal_id": TERMINAL_ID_PATTERN,
    "name": r"^[a-z][a-z0-9-]{1,31}$",
}


class Problem(BaseModel):
    """What every refusal carries."""

    error: ErrorBody


class UsersPage(BaseModel):
    """The answer to `GET /v1/users`; `next` is the `after` of the next page."""

    users: tuple[identity.UserRow, ...]
    next: str | None


class CarriersPage(BaseModel):
    """The answer to `GET /v1/carriers`; `next` is the `after` of the next page."""

    carriers: tuple[identity.CarrierRow, ...]
    next: str | None


class TerminalRows(BaseModel):
    """The answer to `GET /v1/{users,carriers}/{id}/terminals`."""

    terminals: tuple[identity.TerminalRow, ...]


class IntegratorRows(BaseModel):
    """The answer to `GET /v1/integrators`."""

    integrators: tuple[identity.IntegratorRow, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    Attributes:
        asks: the request's body, if it has one.
        asks_optionally: whether the body may be left out, which says what its defaults say.
        answers: the body of the answer that grants it, if it has one.
        status: of the answer that grants it.
        by: who may ask, `OPERATOR` or `TERMINAL`; nobody in particular if empty.
        refused: the statuses of other answers.
        paged: whether it takes `after`.
    """

    method: str
    path: str
    summary: str
    answers: type[BaseModel] | None = None
    asks: type[BaseModel] | None = None
    status: int = 200
    by: str = OPERATOR
    refused: tuple[int, ...] = ()
    paged: bool = False
    asks_optionally: bool = False


OPERATIONS: Final = (
    Operation(
        "post",
        "/v1/users",
        "Register a user",
        identity.UserRow,
        identity.RegisterUser,
        refused=(409,),
    ),
    Operation("get", "/v1/users", "List users", UsersPage, paged=True),
    Operation(
        "post",
        "/v1/users/{user_id}/enrolment-codes",
        "Mint a code for a user's terminal",
        identity.EnrolmentCode,
        status=201,
        refused=(404, 409),
    ),
    Operation(
        "get",
        "/v1/users/{user_id}/terminals",
        "List a user's terminals",
        TerminalRows,
        refused=(404,),
    ),
    Operation(
        "post",
        "/v1/carriers",
        "Add a carrier",
        identity.CarrierRow,
        identity.AddCarrier,
        refused=(409,),
    ),
    Operation("get", "/v1/carriers", "List carriers", CarriersPage, paged=True),
    Operation(
        "post",
        "/v1/carriers/{carrier_id}/enrolment-codes",
        "Mint a code for a carrier's terminal",
        identity.EnrolmentCode,
        status=201,
        refused=(404, 409),
    ),
    Operation(
        "get",
        "/v1/carriers/{carrier_id}/terminals",
        "List a carrier's terminals",
        TerminalRows,
        refused=(404,),
    ),
    Operation(
        "delete", "/v1/terminals/{terminal_id}", "Revoke a terminal", status=204, refused=(404,)
    ),
    Operation(
        "post",
        "/v1/terminals/{terminal_id}/rotation",
        "Make a terminal change its secret",
        status=204,
        refused=(404,),
    ),
    Operation(
        "post",
        "/v1/integrators",
        "Add an integrator",
        identity.IntegratorCredentials,
        identity.AddIntegrator,
        status=201,
        refused=(409,),
    ),
    Operation("get", "/v1/integrators", "List integrators", IntegratorRows),
    Operation(
        "delete", "/v1/integrators/{name}", "Remove an integrator", status=204, refused=(404,)
    ),
    Operation(
        "post",
        "/v1/enrolments",
        "Trade a code for credentials",
        identity.Credentials,
        identity.Enrol,
        status=201,
        by="",
        refused=(401, 409),
    ),
    Operation(
        "post",
        "/v1/terminals/{terminal_id}/queue",
        "Have the terminal's own queue made anew",
        identity.QueueReady,
        identity.ReadyQueue,
        by=TERMINAL,
        refused=(403,),
        asks_optionally=True,
    ),
    Operation(
        "post",
        "/v1/terminals/{terminal_id}/secret",
        "Get the terminal's next secret",
        identity.NewSecret,
        status=201,
        by=TERMINAL,
        refused=(403,),
    ),
    Operation(
        "get",
        "/v1/terminals/{terminal_id}/access-log",
        "Read what happened to the user's terminals",
        identity.AccessLog,
        by=TERMINAL,
        refused=(403,),
    ),
)


def openapi() -> JsonObject:
    """The whole interface as an OpenAPI 3.1 document."""
    paths: JsonObject = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ContactMesh identity_service",
            "version": version("contactmesh"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                OPERATOR: {"type": "http", "scheme": "bearer"},
                TERMINAL: {"type": "http", "scheme": "basic"},
            },
        },
    }


def _operation(operation: Operation) -> JsonObject:
    # Whatever the path, a body that is too large or no JSON, or a part of the system that is away.
    refused = {400, 413, 503, *operation.refused, *((401,) if operation.by else ())}
    granted: JsonObject = {"description": operation.summary}
    if operation.answers is not None:
        granted["content"] = _json(operation.answers)
    described: JsonObject = {
        "summary": operation.summary,
        "security": [{operation.by: []}] if operation.by else [],
        "parameters": list(_parameters(operation)),
        "responses": {
            str(operation.status): granted,
            **{
                str(status): {"description": "refused", "content": _json(Problem)}
                for status in sorted(refused)
            },
        },
    }
    if operation.asks is not None:
        described["requestBody"] = {
            "required": not operation.asks_optionally,
            "content": _json(operation.asks),
        }
    return described


def _parameters(operation: Operation) -> Sequence[JsonObject]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": _text(pattern)}
        for name, pattern in _PARAMETERS.items()
        if f"{{{name}}}" in operation.path
    ]
    after = {"name": "after", "in": "query", "schema": {"type": "string"}}
    return [*in_path, *([after] if operation.paged else [])]


def _text(pattern: str) -> JsonObject:
    return {"type": "string", "pattern": pattern}


def _json(model: type[BaseModel]) -> JsonObject:
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"application/json": {"schema": reference}}


def _schemas() -> JsonObject:
    models = [model for one in OPERATIONS for model in (one.asks, one.answers) if model is not None]
    kinds: dict[type[BaseModel], None] = dict.fromkeys([Problem, *models])
    _, definitions = models_json_schema(
        [(model, "validation") for model in kinds],
        ref_template="#/components/schemas/{model}",
    )
    return dict(definitions["$defs"])
