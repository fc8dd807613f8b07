"""A simulated carrier that speaks CAMARA over HTTP, to develop and test against."""

import re
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime
from http import HTTPStatus
from typing import Final, TypeVar

from aiohttp import ClientSession, web
from pydantic import BaseModel, ValidationError

from contactmesh.carriers.backend import NumberUnknown, QuestionRefused
from contactmesh.carriers.camara import shapes
from contactmesh.carriers.camara.shapes import ErrorCode, EventType
from contactmesh.carriers.simulator.carrier import SimulatedCarrier
from contactmesh.contracts.carrier.feed import Began, StateSeen
from contactmesh.contracts.carrier.records import NetworkState

_CORRELATOR: Final = re.compile(shapes.CORRELATOR_PATTERN)
_STATUS: Final = {
    ErrorCode.IDENTIFIER_NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.MISSING_IDENTIFIER: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorCode.UNSUPPORTED_IDENTIFIER: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorCode.SERVICE_NOT_APPLICABLE: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
}
_EVENT_OF_STATE: Final = {
    NetworkState.ONLINE_DATA: EventType.REACHABILITY_DATA,
    NetworkState.IN_CALL: EventType.REACHABILITY_DATA,
    NetworkState.BUSY: EventType.REACHABILITY_DATA,
    NetworkState.ONLINE_SMS_ONLY: EventType.REACHABILITY_SMS,
    NetworkState.POWERED_OFF: EventType.REACHABILITY_DISCONNECTED,
    NetworkState.NO_SERVICE: EventType.REACHABILITY_DISCONNECTED,
    NetworkState.NO_PAGING_RESPONSE: EventType.REACHABILITY_DISCONNECTED,
}

Body = TypeVar("Body", bound=BaseModel)
Handler = Callable[[web.Request], Awaitable[web.Response]]


class _Problem(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class CamaraSimulation:
    """The CAMARA APIs of one simulated carrier.

    Args:
        carrier: whose numbers it answers about.
        access_token: what a caller has to show.
        sink_token: what it shows to the sinks that it notifies.
    """

    def __init__(self, carrier: SimulatedCarrier, access_token: str, sink_token: str) -> None:
        self._carrier = carrier
        self._access_token = access_token
        self._sink_token = sink_token
        self._subscriptions: dict[str, shapes.Subscription] = {}

    def routes(self) -> list[web.RouteDef]:
        """The paths of all APIs."""
        return [
            web.post(shapes.REACHABILITY, self._answered(self._reachability)),
            web.post(shapes.SIM_SWAP_DATE, self._answered(self._sim_swap_date)),
            web.post(shapes.SIM_SWAP_CHECK, self._answered(self._sim_swap_check)),
            web.post(shapes.NUMBER_RECYCLING, self._answered(self._recycling)),
            web.post(shapes.DATA_VOLUME, self._answered(self._data_volume)),
            web.post(shapes.REACHABILITY_SUBSCRIPTIONS, self._answered(self._subscribe)),
            web.post(shapes.SIM_SWAP_SUBSCRIPTIONS, self._answered(self._subscribe)),
        ]

    async def advance(self, to: datetime, session: ClientSession) -> list[int]:
        """Let time go on to `to`, and notify the subscribers of what happens meanwhile.

        Returns:
            What the sinks answered, in the order of the events.
        """
        before = await self._carrier.changes(None, 10**9)
        self._carrier.now = to
        after = await self._carrier.changes(None, 10**9)
        answers = []
        for entry in after.entries[len(before.entries) :]:
            match entry:
                case StateSeen() if entry.state in _EVENT_OF_STATE:
                    kind, at, number = _EVENT_OF_STATE[entry.state], entry.at, None
                case Began() if entry.replaces is not None:
                    kind, at, number = EventType.SIM_SWAPPED, entry.valid_from, entry.msisdn
                case _:
                    continue
            number = number or await self._number_of(entry.registration_seq)
            for subscription in self._subscriptions.values():
                if kind in subscription.types and _subscribed_to(subscription) == number:
                    answers.append(await self._notify(subscription, kind, at, session))
        return answers

    async def _number_of(self, registration_seq: str) -> str | None:
        everything = await self._carrier.changes(None, 10**9)
        for entry in everything.entries:
            if isinstance(entry, Began) and entry.registration_seq == registration_seq:
                return entry.msisdn
        return None

    async def _notify(
        self,
        subscription: shapes.Subscription,
        kind: EventType,
        at: datetime,
        session: ClientSession,
    ) -> int:
        number = _subscribed_to(subscription)
        about = (
            {"phoneNumber": number}
            if kind is EventType.SIM_SWAPPED
            else {"device": {"phoneNumber": number}}
        )
        event = {
            "id": str(uuid.uuid4()),
            "source": f"https://carrier.example/{self._carrier.carrier_id}",
            "type": kind.value,
            "specversion": "1.0",
            "datacontenttype": "application/json",
            "time": at.isoformat(),
            "data": {"subscriptionId": subscription.id, **about},
        }
        headers = {
            "Content-Type": shapes.CLOUDEVENTS_JSON,
            "Authorization": f"Bearer {self._sink_token}",
        }
        async with session.post(subscription.sink, json=event, headers=headers) as answer:
            return answer.status

    async def _reachability(self, request: web.Request) -> BaseModel:
        number = _number_in(await _read(request, shapes.DeviceRequest))
        found = await self._carrier.reachability(number)
        return shapes.ReachabilityAnswer(
            last_status_time=found.last_status_time,
            reachable=found.reachable,
            connectivity=tuple(sorted(found.connectivity)) or None,
        )

    async def _sim_swap_date(self, request: web.Request) -> BaseModel:
        body = await _read(request, shapes.NumberRequest)
        found = await self._carrier.latest_sim_change(_given(body.phone_number))
        return shapes.SimSwapDateAnswer(
            latest_sim_change=found.at, monitored_period=found.monitored_days
        )

    async def _sim_swap_check(self, request: web.Request) -> BaseModel:
        body = await _read(request, shapes.SimSwapCheckRequest)
        found = await self._carrier.latest_sim_change(_given(body.phone_number))
        age = None if found.at is None else (self._carrier.now - found.at).total_seconds()
        return shapes.SimSwapCheckAnswer(swapped=age is not None and age <= body.max_age * 3600)

    async def _recycling(self, request: web.Request) -> BaseModel:
        body = await _read(request, shapes.RecyclingRequest)
        number = _given(body.phone_number)
        recycled = await self._carrier.recycled(number, body.specified_date)
        return shapes.RecyclingAnswer(phone_number_recycled=recycled)

    async def _data_volume(self, request: web.Request) -> BaseModel:
        number = _number_in(await _read(request, shapes.DeviceRequest))
        found = await self._carrier.data_volume(number)
        return shapes.DataVolumeAnswer(
            data_volume_category=found.remaining, last_status_time=found.last_status_time
        )

    async def _subscribe(self, request: web.Request) -> BaseModel:
        body = await _read(request, shapes.SubscriptionRequest)
        subscription = shapes.Subscription(
            id=str(uuid.uuid4()),
            starts_at=self._carrier.now,
            **body.model_dump(include={"protocol", "sink", "types", "config"}),
        )
        _given(_subscribed_to(subscription))
        self._subscriptions[subscription.id] = subscription
        return subscription

    def _answered(self, handler: Callable[[web.Request], Awaitable[BaseModel]]) -> Handler:
        async def answer(request: web.Request) -> web.Response:
            correlator = request.headers.get(shapes.CORRELATOR, "")
            try:
                self._check_headers(request)
                found = await handler(request)
                created = isinstance(found, shapes.Subscription)
                status = HTTPStatus.CREATED if created else HTTPStatus.OK
            except _Problem as problem:
                found, status = _error(problem.code, str(problem))
            except NumberUnknown:
                found, status = _error(
                    ErrorCode.IDENTIFIER_NOT_FOUND, "The number is not a customer's."
                )
            except QuestionRefused as refused:
                found, status = _error(refused.code, "The question cannot be answered.")
            return web.json_response(
                found.model_dump(mode="json", by_alias=True, exclude_none=_sparse(found)),
                status=status,
                headers={shapes.CORRELATOR: correlator} if correlator else {},
            )

        return answer

    def _check_headers(self, request: web.Request) -> None:
        if not _CORRELATOR.fullmatch(request.headers.get(shapes.CORRELATOR, "")):
            raise _Problem(ErrorCode.INVALID_ARGUMENT, "x-correlator is malformed.")
        if request.headers.get("Authorization") != f"Bearer {self._access_token}":
            raise _Problem(ErrorCode.UNAUTHENTICATED, "A new authentication is required.")


async def _read(request: web.Request, kind: type[Body]) -> Body:
    try:
        return kind.model_validate_json(await request.read())
    except ValidationError as error:
        (first, *_) = error.errors(include_input=False, include_url=False)
        path = ".".join(str(part) for part in first["loc"])
        raise _Problem(ErrorCode.INVALID_ARGUMENT, f"{path}: {first['msg']}") from error


def _number_in(body: shapes.DeviceRequest) -> str:
    device = body.device
    if device is not None and device.phone_number is None:
        others = (device.network_access_identifier, device.ipv4_address, device.ipv6_address)
        if any(other is not None for other in others):
            raise _Problem(ErrorCode.UNSUPPORTED_IDENTIFIER, "Only phone numbers are supported.")
        raise _Problem(ErrorCode.INVALID_ARGUMENT, "device: it holds no identifier")
    return _given(None if device is None else device.phone_number)


def _given(number: str | None) -> str:
    if number is None:
        raise _Problem(ErrorCode.MISSING_IDENTIFIER, "The device cannot be identified.")
    return number


def _subscribed_to(subscription: shapes.Subscription) -> str | None:
    detail = subscription.config.subscription_detail
    return detail.phone_number if detail.device is None else detail.device.phone_number


def _error(code: str, message: str) -> tuple[shapes.ErrorInfo, HTTPStatus]:
    status = HTTPStatus.BAD_REQUEST
    if code in set(ErrorCode):
        status = _STATUS.get(ErrorCode(code), HTTPStatus.BAD_REQUEST)
    return shapes.ErrorInfo(status=status, code=code, message=message), status


def _sparse(answer: BaseModel) -> bool:
    """Whether absent values are left out; a SIM that never changed is said with a null."""
    return not isinstance(answer, shapes.SimSwapDateAnswer)
