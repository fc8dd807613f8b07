"""identity_service as an operator sees it."""

from collections.abc import AsyncIterator
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
    AddIntegrator,
    CarrierRow,
    EnrolmentCode,
    IntegratorCredentials,
    IntegratorRow,
    RegisterUser,
    TerminalRow,
    UserRow,
)

_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)

Answer = TypeVar("Answer", bound=BaseModel)


class _Problem(BaseModel):
    error: ErrorBody


class _Page(BaseModel):
    model_config = ConfigDict(extra="ignore")

    next: str | None


class _UsersPage(_Page):
    users: list[UserRow]


class _CarriersPage(_Page):
    carriers: list[CarrierRow]


class _Terminals(BaseModel):
    terminals: list[TerminalRow]


class _Integrators(BaseModel):
    integrators: list[IntegratorRow]


Page = TypeVar("Page", bound=_Page)


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
        return await self._add("users", user, UserRow)

    async def users(self) -> list[UserRow]:
        """All users, in the order of their ids."""
        pages = self._pages("users", _UsersPage)
        return [row async for page in pages for row in page.users]

    async def mint(self, user_id: str) -> EnrolmentCode:
        """Mint a one-time enrolment code."""
        return await self._mint("users", user_id)

    async def add_carrier(self, carrier: AddCarrier) -> CarrierRow:
        """Add a carrier, or find exactly this one added."""
        return await self._add("carriers", carrier, CarrierRow)

    async def carriers(self) -> list[CarrierRow]:
        """All carriers, in the order of their ids."""
        pages = self._pages("carriers", _CarriersPage)
        return [row async for page in pages for row in page.carriers]

    async def mint_for_carrier(self, carrier_id: str) -> EnrolmentCode:
        """Mint a one-time enrolment code for a terminal of a carrier."""
        return await self._mint("carriers", carrier_id)

    async def terminals(self, user_id: str) -> list[TerminalRow]:
        """A user's terminals, oldest first."""
        answer = await self._ask("GET", "users", user_id, "terminals")
        return self._read(answer, _Terminals).terminals

    async def revoke(self, terminal_id: str) -> None:
        """Revoke a terminal."""
        await self._ask("DELETE", "terminals", terminal_id)

    async def demand_rotation(self, terminal_id: str) -> None:
        """Let a terminal do nothing more before it has changed its secret."""
        await self._ask("POST", "terminals", terminal_id, "rotation")

    async def add_integrator(self, integrator: AddIntegrator) -> IntegratorCredentials:
        """Add an integrator; its secret is shown this once."""
        return await self._add("integrators", integrator, IntegratorCredentials)

    async def integrators(self) -> list[IntegratorRow]:
        """All integrators, by name."""
        return self._read(await self._ask("GET", "integrators"), _Integrators).integrators

    async def remove_integrator(self, name: str) -> None:
        """Remove an integrator."""
        await self._ask("DELETE", "integrators", name)

    async def _add(self, kind: str, wanted: BaseModel, row: type[Answer]) -> Answer:
        body = wanted.model_dump(mode="json")
        return self._read(await self._ask("POST", kind, json=body), row)

    async def _pages(self, kind: str, page_type: type[Page]) -> AsyncIterator[Page]:
        after: str | None = ""
        while after is not None:
            page = self._read(await self._ask("GET", kind, after=after), page_type)
            yield page
            after = page.next

    async def _mint(self, kind: str, owner_id: str) -> EnrolmentCode:
        answer = await self._ask("POST", kind, owner_id, "enrolment-codes")
        return self._read(answer, EnrolmentCode)

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
