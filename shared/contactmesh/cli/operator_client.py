"""identity_service as an operator sees it."""

from http import HTTPStatus
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError
from yarl import URL

from contactmesh.cli import texts
from contactmesh.cli.errors import RefusedByService, SystemUnreachable
from contactmesh.cli.locating import OperatorAccess
from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identity import (
    AddCarrier,
    CarrierRow,
    EnrolmentCode,
    RegisterUser,
    TerminalRow,
    UserRow,
)

_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)

Answer = TypeVar("Answer", bound=BaseModel)


class _Problem(BaseModel):
    error: ErrorBody


class _UsersPage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    users: list[UserRow]
    next: str | None


class _CarriersPage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    carriers: list[CarrierRow]
    next: str | None


class _Terminals(BaseModel):
    terminals: list[TerminalRow]


class OperatorClient:
    """Asks identity_service what only operators may; an async context manager.

    Every method raises `RefusedByService` when the service says no, and `SystemUnreachable` when
    nothing, or something else, answers.
    """

    def __init__(self, access: OperatorAccess) -> None:
        self._url = access.identity_url
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {access.token}"}, timeout=_TIMEOUT
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def register(self, user: RegisterUser) -> UserRow:
        """Register a user, or find exactly this one registered."""
        body = user.model_dump(mode="json")
        return self._read(await self._ask("POST", "users", json=body), UserRow)

    async def users(self) -> list[UserRow]:
        """All users, in the order of their ids."""
        found: list[UserRow] = []
        after: str | None = ""
        while after is not None:
            page = self._read(await self._ask("GET", "users", after=after), _UsersPage)
            found += page.users
            after = page.next
        return found

    async def mint(self, user_id: str) -> EnrolmentCode:
        """Mint a one-time enrolment code."""
        answer = await self._ask("POST", "users", user_id, "enrolment-codes")
        return self._read(answer, EnrolmentCode)

    async def add_carrier(self, carrier: AddCarrier) -> CarrierRow:
        """Add a carrier, or find exactly this one added."""
        body = carrier.model_dump(mode="json")
        return self._read(await self._ask("POST", "carriers", json=body), CarrierRow)

    async def carriers(self) -> list[CarrierRow]:
        """All carriers, in the order of their ids."""
        found: list[CarrierRow] = []
        after: str | None = ""
        while after is not None:
            page = self._read(await self._ask("GET", "carriers", after=after), _CarriersPage)
            found += page.carriers
            after = page.next
        return found

    async def mint_for_carrier(self, carrier_id: str) -> EnrolmentCode:
        """Mint a one-time enrolment code for a terminal of a carrier."""
        answer = await self._ask("POST", "carriers", carrier_id, "enrolment-codes")
        return self._read(answer, EnrolmentCode)

    async def terminals(self, user_id: str) -> list[TerminalRow]:
        """A user's terminals, oldest first."""
        answer = await self._ask("GET", "users", user_id, "terminals")
        return self._read(answer, _Terminals).terminals

    async def revoke(self, terminal_id: str) -> None:
        """Revoke a terminal."""
        await self._ask("DELETE", "terminals", terminal_id)

    async def _ask(
        self, method: str, *path: str, json: object = None, after: str | None = None
    ) -> bytes:
        steps = "/".join(quote(step, safe="") for step in path)
        url = URL(f"{self._url}/v1/{steps}", encoded=True)
        if after is not None:
            url = url.with_query(after=after)
        try:
            async with self._session.request(method, url, json=json) as answer:
                content = await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            reason = type(error).__name__
            raise SystemUnreachable(
                texts.IDENTITY_UNREACHABLE.format(url=self._url, reason=reason)
            ) from error
        if status < HTTPStatus.BAD_REQUEST:
            return content
        raise self._problem(status, content)

    def _problem(self, status: int, content: bytes) -> Exception:
        try:
            return RefusedByService(_Problem.model_validate_json(content).error)
        except ValidationError:
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                return SystemUnreachable(texts.IDENTITY_FAILED.format(url=self._url, status=status))
            return self._not_identity()

    def _read(self, content: bytes, kind: type[Answer]) -> Answer:
        try:
            return kind.model_validate_json(content)
        except ValidationError:
            # Without the cause, which would quote the answer, and with it perhaps a code.
            raise self._not_identity() from None

    def _not_identity(self) -> SystemUnreachable:
        return SystemUnreachable(texts.IDENTITY_UNREADABLE.format(url=self._url))
