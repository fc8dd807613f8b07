"""Looking into parking queues through the broker's management API, without emptying them."""

from http import HTTPStatus
from types import TracebackType
from typing import Annotated, Any, Final, Self, TypeVar
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from yarl import URL

from contactmesh.cli import texts
from contactmesh.cli.errors import CommandError, SystemUnreachable

PARKING_SUFFIX: Final = ".dead"
_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)

Answer = TypeVar("Answer")


class ParkedMessage(BaseModel):
    """A message that a person has to decide on. Its body is left where it is."""

    model_config = ConfigDict(frozen=True)

    queue: str
    """The queue that it could not be handled in."""
    reason: str
    parked_at: str | None = None
    routing_key: str | None = None
    message_id: str | None = None


class _Parking(BaseModel):
    name: str
    messages: int = 0


def _object(value: object) -> object:
    # The API writes an empty object as an empty list.
    return {} if value == [] else value


class _Properties(BaseModel):
    headers: Annotated[dict[str, Any], BeforeValidator(_object)] = {}
    message_id: str | None = None


class _Got(BaseModel):
    routing_key: str
    properties: Annotated[_Properties, BeforeValidator(_object)]


_QUEUES: Final = TypeAdapter(list[_Parking])
_MESSAGES: Final = TypeAdapter(list[_Got])


class ParkingClient:
    """Reads what is parked; an async context manager.

    `management_url` is `http://user:password@host:port`. Every method raises `SystemUnreachable`
    when nothing, or something else, answers, and `CommandError` when the API says no.
    """

    def __init__(self, management_url: str, vhost: str) -> None:
        address = URL(management_url)
        self._address = str(address.with_user(None)).rstrip("/")
        self._vhost = quote(vhost, safe="")
        authorization = aiohttp.encode_basic_auth(address.user or "", address.password or "")
        self._session = aiohttp.ClientSession(
            headers={"Authorization": authorization}, timeout=_TIMEOUT
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

    async def queues(self) -> list[str]:
        """The queues beside which there is a parking queue."""
        columns = "columns=name,messages"
        found = await self._ask("GET", f"queues/{self._vhost}?{columns}", _QUEUES)
        return sorted(
            queue.name.removesuffix(PARKING_SUFFIX)
            for queue in found
            if queue.name.endswith(PARKING_SUFFIX)
        )

    async def parked(self, queue: str, limit: int) -> list[ParkedMessage]:
        """The oldest messages that were parked from this queue; they stay there."""
        name = quote(f"{queue}{PARKING_SUFFIX}", safe="")
        looking = {
            "count": limit,
            "ackmode": "ack_requeue_true",
            "encoding": "base64",
            "truncate": 1,  # bodies hold contact details, and are not shown
        }
        got = await self._ask("POST", f"queues/{self._vhost}/{name}/get", _MESSAGES, looking)
        return [_parked(queue, message) for message in got]

    async def _ask(
        self, method: str, path: str, kind: TypeAdapter[Answer], body: object = None
    ) -> Answer:
        url = URL(f"{self._address}/api/{path}", encoded=True)
        try:
            async with self._session.request(method, url, json=body) as answer:
                content = await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SystemUnreachable(
                texts.MANAGEMENT_UNREACHABLE.format(url=self._address, reason=type(error).__name__)
            ) from error
        if status == HTTPStatus.NOT_FOUND:
            raise CommandError(texts.NO_PARKING)
        if status >= HTTPStatus.BAD_REQUEST:
            raise CommandError(texts.MANAGEMENT_REFUSED.format(url=self._address, status=status))
        try:
            return kind.validate_json(content)
        except ValidationError:
            raise SystemUnreachable(texts.MANAGEMENT_UNREADABLE.format(url=self._address)) from None


def _parked(queue: str, message: _Got) -> ParkedMessage:
    headers = message.properties.headers
    death = headers.get("x-death")
    if death:
        # The broker parked it by itself, and whatever else stands there its sender wrote.
        return ParkedMessage(queue=queue, reason=_reason(death))
    return ParkedMessage(
        queue=queue,
        reason=str(headers.get("x-parked-reason") or texts.UNKNOWN_REASON),
        parked_at=headers.get("x-parked-at"),
        routing_key=headers.get("x-original-routing-key") or message.routing_key,
        message_id=headers.get("x-original-message-id") or message.properties.message_id,
    )


def _reason(death: object) -> str:
    """The reason of the last death, which the broker puts first."""
    match death:
        case [{"reason": str(reason)}, *_]:
            return reason
        case _:
            return texts.UNKNOWN_REASON
