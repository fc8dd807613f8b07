"""Reading requests: strict bodies, and who is asking."""

import asyncio
import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import BaseModel, ValidationError

from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_fields

Body = TypeVar("Body", bound=BaseModel)

BODY_SECONDS: Final = 10.0
"""How long a body may take to arrive; none is longer than some kilobytes."""


async def read_body(request: web.Request, kind: type[Body]) -> Body:
    """The request's JSON body.

    Raises:
        Refusal: `too_large`, `unavailable` when it comes too slowly, or `invalid_argument` with the
            path of each field that is wrong.
    """
    content = await _content(request)
    try:
        return kind.model_validate_json(content, strict=True)
    except ValidationError as error:
        fields = invalid_fields(error).body.details["fields"]
        raise Refusal(
            ErrorCode.INVALID_ARGUMENT, "Correct the body of the request.", fields=fields
        ) from error


async def read_form(request: web.Request) -> Mapping[str, str]:
    """The request's form fields; a repeated field counts once, with its last value.

    Raises:
        Refusal: `too_large`, `unavailable` when it comes too slowly, or `invalid_argument` for what
            is no form.
    """
    content = await _content(request)
    try:
        return dict(
            parse_qsl(content.decode(), keep_blank_values=True, errors="strict", max_num_fields=50)
        )
    except ValueError as error:
        raise Refusal(ErrorCode.INVALID_ARGUMENT, "This is not a form.") from error


def bearer_token(request: web.Request) -> bytes:
    """The token that the request carries; empty when there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip().encode(errors="surrogateescape") if scheme.lower() == "bearer" else b""


def basic_credentials(request: web.Request) -> tuple[str, str]:
    """User and password that the request carries (RFC 7617, UTF-8).

    Raises:
        Refusal: `unauthenticated`, there are none.
    """
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        if scheme.lower() == "basic":
            user, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
            if colon:
                return user, password
    except (binascii.Error, ValueError):
        pass
    raise Refusal(
        ErrorCode.UNAUTHENTICATED, "Identify yourself with terminal id and secret (HTTP basic)."
    )


def require_operator(request: web.Request, token: bytes) -> None:
    """Let only operators pass.

    Raises:
        Refusal: `unauthenticated`.
    """
    if not hmac.compare_digest(bearer_token(request), token):
        raise Refusal(
            ErrorCode.UNAUTHENTICATED, "Identify yourself with the operator's token (bearer)."
        )


async def _content(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError as error:
        raise Refusal(
            ErrorCode.UNAVAILABLE, f"The body was not here after {BODY_SECONDS:g} s. Send it again."
        ) from error
    except web.HTTPRequestEntityTooLarge as error:
        limit = request.client_max_size
        raise Refusal(
            ErrorCode.TOO_LARGE, f"A request may have {limit} bytes.", limit_bytes=limit
        ) from error
