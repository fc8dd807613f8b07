"""What a terminal asks identity_service over HTTP: to be let in, and about itself."""

from http import HTTPStatus
from types import TracebackType
from typing import Final, Self, TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identity import (
    AccessLog,
    Credentials,
    NewSecret,
    QueueReady,
    Transport,
)
from contactmesh.terminal.errors import (
    AuthenticationRefused,
    EnrolmentRefused,
    IdentityUnavailable,
    TransportNotOffered,
)

_TIMEOUT: Final = aiohttp.ClientTimeout(total=15)
_MAX_ANSWER_BYTES: Final = 256 * 1024
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
        status, answer = await self._ask("POST", "/v1/enrolments", body=body)
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
        asked = {"transport": transport.value}
        status, answer = await self._ask_as("POST", "queue", terminal_id, secret, body=asked)
        if status == HTTPStatus.BAD_REQUEST:
            raise TransportNotOffered(self._read(answer, _Problem).error.message)
        return self._read(answer, QueueReady)

    async def rotate_secret(self, terminal_id: str, secret: str) -> str:
        """Get another secret, which takes the place of the old one when it is first used.

        Raises:
            AuthenticationRefused: the terminal is unknown, was revoked or has another secret.
            IdentityUnavailable: no answer, or not one that can be read; the old secret is good.
        """
        _, answer = await self._ask_as("POST", "secret", terminal_id, secret)
        return self._read(answer, NewSecret).secret

    async def access_log(self, terminal_id: str, secret: str) -> AccessLog:
        """What happened to the user's terminals and secrets.

        Raises:
            AuthenticationRefused: the terminal is unknown, was revoked or has another secret.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        _, answer = await self._ask_as("GET", "access-log", terminal_id, secret)
        return self._read(answer, AccessLog)

    async def _ask_as(
        self,
        method: str,
        what: str,
        terminal_id: str,
        secret: str,
        *,
        body: dict[str, str] | None = None,
    ) -> tuple[int, bytes]:
        status, answer = await self._ask(
            method,
            f"/v1/terminals/{terminal_id}/{what}",
            body=body,
            authorization=aiohttp.encode_basic_auth(terminal_id, secret),
        )
        if status in _NOT_YOURS:
            raise AuthenticationRefused(
                f"identity_service does not know terminal {terminal_id}, or revoked it. "
                "Enrol again with a code from the operator."
            )
        return status, answer

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, str] | None = None,
        authorization: str | None = None,
    ) -> tuple[int, bytes]:
        headers = {} if authorization is None else {"Authorization": authorization}
        try:
            async with self._session.request(
                method, self._url + path, json=body, headers=headers
            ) as answer:
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
