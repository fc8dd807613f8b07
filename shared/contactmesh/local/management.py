"""The broker's management API, as far as a local stack needs it."""

from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import quote

from aiohttp import ClientError, ClientSession, ClientTimeout, encode_basic_auth
from pydantic import JsonValue
from yarl import URL

from contactmesh.local import texts
from contactmesh.local.errors import BrokerManagementError

_ANSWER_SECONDS = 30


class BrokerManagement:
    """A client of the management API; an async context manager.

    Args:
        url: ``http://user:password@host:port``. The password appears in no message.
    """

    def __init__(self, url: str) -> None:
        address = URL(url)
        self._address = address.with_user(None)
        self._session = ClientSession(
            headers={
                "Authorization": encode_basic_auth(address.user or "", address.password or "")
            },
            timeout=ClientTimeout(total=_ANSWER_SECONDS),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def listens(self, port: int) -> bool:
        """Tell whether the broker accepts clients on ``port``: its last step when it starts."""
        url = self._url("health", "checks", "port-listener", str(port))
        try:
            async with self._session.get(url) as response:
                return response.status == HTTPStatus.OK
        except (ClientError, TimeoutError):
            return False

    async def import_definitions(self, definitions: Mapping[str, JsonValue]) -> None:
        """Make every virtual host, account, right, queue and policy of ``definitions``.

        What is there already and the same stays; what differs is refused or replaced, as the
        broker has it.
        """
        await self._request("POST", "definitions", json=definitions)

    async def delete_vhost(self, name: str) -> None:
        """Delete the virtual host ``name`` and all that is in it."""
        await self._request("DELETE", "vhosts", name)

    async def _request(
        self, method: str, *path: str, json: Mapping[str, JsonValue] | None = None
    ) -> None:
        url = self._url(*path)
        try:
            async with self._session.request(method, url, json=json) as response:
                if response.status < HTTPStatus.BAD_REQUEST:
                    return
                reason = (await response.text()).strip()
                raise BrokerManagementError(
                    texts.MANAGEMENT_REFUSED.format(
                        address=self._address,
                        status=response.status,
                        method=method,
                        path=url.path,
                        reason=reason,
                    )
                )
        except (ClientError, TimeoutError) as error:
            raise BrokerManagementError(
                texts.MANAGEMENT_UNREACHABLE.format(
                    address=self._address, reason=str(error) or type(error).__name__
                )
            ) from error

    def _url(self, *path: str) -> URL:
        # joinpath would read the slash of the virtual host "/" as a separator
        quoted = "/".join(["api", *(quote(part, safe="") for part in path)])
        return URL(f"{str(self._address).rstrip('/')}/{quoted}", encoded=True)
