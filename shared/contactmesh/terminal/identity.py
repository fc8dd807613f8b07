"""What a terminal asks identity_service over HTTP: enrolment, and its queue made anew."""

from http import HTTPStatus
from types import TracebackType
from typing import Final, Self, TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identity import Credentials, QueueReady, Transport
from contactmesh.terminal.errors import (
    AuthenticationRefused,
    EnrolmentRefused,
    IdentityUnavailable,
    TransportNotOffered,
)

_TIMEOUT: Final = aiohttp.ClientTimeout(total=15)
_MAX_ANSWER_BYTES: Final = 64 * 1024
_NOT_YOURS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)

Answer = TypeVar("Answer", bound=BaseModel)


class _Problem(BaseModel):
    error: ErrorBody


class IdentityClient:
    """identity_service as a terminal sees it; an async context manager.

    Args:
        url: where it listens, for example `http://127.0.0.1:8081`.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def enrol(self, code: str, terminal_name: str, transport: Transport) -> Credentials:
        """Trade a one-time code for credentials. The secret is shown this once.

        Raises:
            EnrolmentRefused: the code is wrong, used or expired, the name is not acceptable, or the
                transport is not offered.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        body = {"code": code, "terminal_name": terminal_name, "transport": transport.value}
        status, answer = await self._post("/v1/enrolments", body=body)
        if status >= HTTPStatus.BAD_REQUEST:
            raise EnrolmentRefused(self._read(answer, _Problem).error)
        return self._read(answer, Credentials)

    async def ready_queue(self, terminal_id: str, secret: str, transport: Transport) -> QueueReady:
        """Have the terminal's queue made and bound, or by MQTT have room made for it.

        Raises:
            TransportNotOffered: the system does not speak this protocol.
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        status, answer = await self._post(
            f"/v1/terminals/{terminal_id}/queue",
            body={"transport": transport.value},
            authorization=aiohttp.encode_basic_auth(terminal_id, secret),
        )
        if status in _NOT_YOURS:
            raise AuthenticationRefused(
                f"identity_service does not know terminal {terminal_id}, or revoked it. "
                "Enrol again with a code from the operator."
            )
        if status == HTTPStatus.BAD_REQUEST:
            raise TransportNotOffered(self._read(answer, _Problem).error.message)
        return self._read(answer, QueueReady)

    async def _post(
        self,
        path: str,
        *,
        body: dict[str, str] | None = None,
        authorization: str | None = None,
    ) -> tuple[int, bytes]:
        headers = {} if authorization is None else {"Authorization": authorization}
        try:
            async with self._session.post(self._url + path, json=body, headers=headers) as answer:
                content = await answer.content.read(_MAX_ANSWER_BYTES)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise IdentityUnavailable(
                f"identity_service at {self._url} does not answer ({type(error).__name__}). "
                "Check the address and that the service runs."
            ) from error
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise IdentityUnavailable(
                f"identity_service at {self._url} cannot answer now (HTTP {status}). Try later."
            )
        return status, content

    def _read(self, content: bytes, model: type[Answer]) -> Answer:
        try:
            return model.model_validate_json(content)
        except ValidationError:
            # The cause is left out: it would quote the answer, and with it a secret.
            raise IdentityUnavailable(
                f"What answers at {self._url} is not identity_service. Check the address."
            ) from None
