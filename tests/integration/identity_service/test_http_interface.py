"""The HTTP interface refuses what it cannot read, and keeps secrets out of the log."""

import asyncio
from http import HTTPStatus
from io import BytesIO

import pytest
from structlog.testing import capture_logs

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.identity import Credentials

from .conftest import TOKEN, Identity


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", ""),
        (b"{", ""),
        (b"[]", ""),
        (b"\xff\xfe", ""),
        (b"{}", "/user_id"),
        (b'{"user_id": "ada"}', "/display_name"),
        (b'{"user_id": 7, "display_name": "Ada"}', "/user_id"),
        (b'{"user_id": "Ada!", "display_name": "Ada"}', "/user_id"),
        (b'{"user_id": "ada\\n", "display_name": "Ada"}', "/user_id"),
        (b'{"user_id": "ada", "display_name": " "}', "/display_name"),
        (b'{"user_id": "ada", "display_name": "A\\u0000"}', "/display_name"),
        (b'{"user_id": "ada", "display_name": "Ada", "admin": true}', "/admin"),
    ],
)
async def test_unreadable_body_is_refused_with_the_fields_path(
    identity: Identity, body: bytes, path: str
) -> None:
    answer = await identity.ask("POST", "v1/users", data=body)
    assert (answer.status, answer.error.code) == (
        HTTPStatus.BAD_REQUEST,
        ErrorCode.INVALID_ARGUMENT,
    )
    assert path in [field["path"] for field in answer.error.details["fields"]]


async def test_body_over_the_limit_is_refused(identity: Identity) -> None:
    answer = await identity.ask("POST", "v1/users", data=BytesIO(b"x" * 2 * 1024 * 1024))
    assert (answer.status, answer.error.code) == (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        ErrorCode.TOO_LARGE,
    )
    assert answer.error.details == {"limit_bytes": 65_536}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "v1/nothing"),
        ("PUT", "v1/users"),
        ("POST", "v1/users/nobody/enrolment-codes"),
        ("GET", "v1/users/%FF/terminals"),
        ("GET", "v1/users/%ED%A0%80/terminals"),
        ("GET", "v1/users/%00/terminals"),
        ("DELETE", "v1/terminals/%2E%2E"),
    ],
)
async def test_what_is_not_there_is_told_so(identity: Identity, method: str, path: str) -> None:
    answer = await identity.ask(method, path)
    assert (answer.status, answer.error.code) == (HTTPStatus.NOT_FOUND, ErrorCode.NOT_FOUND)


@pytest.mark.parametrize(
    "authorization",
    [None, "Basic", "Basic ???", "Basic YWRh", "Basic /w==", "Bearer operator-token"],
)
async def test_terminals_route_wants_id_and_secret(
    identity: Identity, authorization: str | None
) -> None:
    answer = await identity.ask(
        "POST", "v1/terminals/ada_aaaaaaaa/queue", authorization=authorization
    )
    assert answer.error.code is ErrorCode.UNAUTHENTICATED


@pytest.mark.parametrize("after", ["%FF", "%ED%A0%80", "%00", "[$gt]"])
async def test_page_can_be_asked_for_with_any_text(identity: Identity, after: str) -> None:
    assert (await identity.ask("GET", f"v1/users?after={after}")).status == HTTPStatus.OK


async def test_users_come_in_pages(identity: Identity) -> None:
    ids = sorted(f"user-{number:03}" for number in range(502))
    for start in range(0, len(ids), 100):
        await asyncio.gather(*(identity.register(id_, "名前") for id_ in ids[start : start + 100]))
    first = (await identity.ask("GET", "v1/users")).body
    assert len(first["users"]) == 500
    second = (await identity.ask("GET", f"v1/users?after={first['next']}")).body
    assert second["next"] is None
    assert [user["user_id"] for user in first["users"] + second["users"]] == ids


async def test_log_holds_no_secret_and_no_name(identity: Identity) -> None:
    with capture_logs() as log:
        await identity.register("ada", "Ada Lovelace")
        await identity.register("ada", "Ada Byron")
        code = await identity.mint("ada")
        wrong = f"{code[:-4]}aaaa"
        await identity.try_enrol(wrong, "Ada's phone")
        answer = await identity.try_enrol(code, "Ada's phone")
        credentials = Credentials.model_validate(answer.body)
        terminal_id, secret = credentials.terminal_id, credentials.secret
        await identity.make_queue(terminal_id, terminal_id, "guess-at-secret")
        await identity.broker_asks("user", username=terminal_id, password="guess-at-secret")
        await identity.revoke(terminal_id)
    written = repr(log)
    assert "terminal enrolled" in written
    for hidden in (code[9:], wrong[9:], secret, "guess-at-secret", TOKEN, "Lovelace", "phone"):
        assert hidden not in written
