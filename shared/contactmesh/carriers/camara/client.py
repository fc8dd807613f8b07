"""A carrier that speaks CAMARA, as a backend: every question is one HTTP request."""

import contextlib
import uuid
from datetime import date
from http import HTTPStatus
from typing import Final, TypeVar

from aiohttp import ClientError, ClientSession, ClientTimeout
from pydantic import BaseModel, ValidationError

from contactmesh.carriers.backend import (
    CarrierUnavailable,
    Changes,
    NumberUnknown,
    QuestionRefused,
    Reachability,
    SimChange,
    Subscribers,
    Tenure,
    VolumeLeft,
)
from contactmesh.carriers.camara import shapes
from contactmesh.carriers.camara.entries import (
    given_on,
    network_state,
    sim_changed,
    state_seen,
    usage_seen,
)
from contactmesh.contracts.carrier.feed import FeedEntry

TIMEOUT: Final = ClientTimeout(total=20)
_MOST_OF_ONE_NUMBER: Final = 5
"""Entries that one number can lead to: an end, a change of card (two), a state, a volume."""

Answer = TypeVar("Answer", bound=BaseModel)


class CamaraCarrier:
    """Asks a carrier's CAMARA APIs with a two-legged access token.

    CAMARA tells nothing of registrations: which one a number is, `subscribers` knows, the carrier's
    own books. What became of them since they were last asked is found by asking about every
    number in turn.

    Args:
        carrier_id: which carrier it is.
        api_root: where its APIs are, without a slash at the end.
        access_token: an OAuth 2.0 access token with the scopes of the four APIs.
        subscribers: the carrier's books.
        session: sends the requests.
    """

    def __init__(
        self,
        carrier_id: str,
        api_root: str,
        access_token: str,
        subscribers: Subscribers,
        session: ClientSession,
    ) -> None:
        self._carrier_id = carrier_id
        self._api_root = api_root
        self._access_token = access_token
        self._subscribers = subscribers
        self._session = session

    @property
    def carrier_id(self) -> str:
        """Which carrier it is."""
        return self._carrier_id

    async def reachability(self, number: str) -> Reachability:
        """Whether a number can be reached: Device Reachability Status, `retrieve`."""
        answer = await self._ask(
            shapes.REACHABILITY, _about_device(number), shapes.ReachabilityAnswer
        )
        connectivity = frozenset(answer.connectivity or ())
        return Reachability(answer.reachable, connectivity, answer.last_status_time)

    async def latest_sim_change(self, number: str) -> SimChange:
        """When the SIM behind a number last changed: SIM Swap, `retrieve-date`."""
        body = shapes.NumberRequest(phone_number=number)
        answer = await self._ask(shapes.SIM_SWAP_DATE, body, shapes.SimSwapDateAnswer)
        return SimChange(answer.latest_sim_change, answer.monitored_period)

    async def swapped(self, number: str, within_hours: int = shapes.DEFAULT_HOURS) -> bool:
        """Whether the SIM behind a number changed of late: SIM Swap, `check`."""
        body = shapes.SimSwapCheckRequest(phone_number=number, max_age=within_hours)
        return (await self._ask(shapes.SIM_SWAP_CHECK, body, shapes.SimSwapCheckAnswer)).swapped

    async def recycled(self, number: str, since: date) -> bool:
        """Whether a number belongs to somebody else by now: Number Recycling, `check`."""
        body = shapes.RecyclingRequest(phone_number=number, specified_date=since)
        answer = await self._ask(shapes.NUMBER_RECYCLING, body, shapes.RecyclingAnswer)
        return answer.phone_number_recycled

    async def data_volume(self, number: str) -> VolumeLeft:
        """What is left of a number's plan: Device Data Volume, `retrieve`.

        Raises:
            QuestionRefused: the carrier never confirmed it, and a volume without its time says
                nothing.
        """
        answer = await self._ask(shapes.DATA_VOLUME, _about_device(number), shapes.DataVolumeAnswer)
        if answer.last_status_time is None:
            raise QuestionRefused(shapes.ErrorCode.SERVICE_NOT_APPLICABLE)
        return VolumeLeft(answer.data_volume_category, answer.last_status_time)

    async def changes(self, cursor: str | None, limit: int) -> Changes:
        """Ask about the numbers after `cursor`; at the last one the round begins anew.

        Raises:
            CarrierUnavailable: ask again from the same cursor.
        """
        page = max(1, limit // _MOST_OF_ONE_NUMBER)
        tenures = await self._subscribers.live(cursor or None, page)
        entries: list[FeedEntry] = []
        for tenure in tenures:
            entries += await self._found(tenure)
        more = len(tenures) == page
        return Changes(tuple(entries), tenures[-1].number if more else "", has_more=more)

    async def _found(self, tenure: Tenure) -> list[FeedEntry]:
        """What is new about one number; a question that is refused is left out."""
        entries: list[FeedEntry] = []
        number = tenure.number
        tenures = await self._subscribers.tenures(number)
        for before in tenures:
            if before.identity_id != tenure.identity_id and await self._was_recycled(before):
                entries.append(given_on(before, tenure))
        with contextlib.suppress(NumberUnknown, QuestionRefused):
            if (await self.latest_sim_change(number)).at == tenure.began_at:
                entries += sim_changed(tenures)
        with contextlib.suppress(NumberUnknown, QuestionRefused):
            reached = await self.reachability(number)
            entries.append(state_seen(tenure, network_state(reached), reached.last_status_time))
        with contextlib.suppress(NumberUnknown, QuestionRefused):
            entries.append(usage_seen(tenure, await self.data_volume(number)))
        return entries

    async def _was_recycled(self, before: Tenure) -> bool:
        try:
            return await self.recycled(before.number, before.began_at.date())
        except (NumberUnknown, QuestionRefused):
            return False

    async def subscribe(self, number: str, event: shapes.EventType, sink: str) -> str:
        """Have a carrier notify `sink` of events of one type.

        Returns:
            The subscription's id.
        """
        of_sim = event is shapes.EventType.SIM_SWAPPED
        detail = (
            shapes.SubscriptionDetail(phone_number=number)
            if of_sim
            else shapes.SubscriptionDetail(device=shapes.Device(phone_number=number))
        )
        body = shapes.SubscriptionRequest(
            protocol="HTTP",
            sink=sink,
            types=(event,),
            config=shapes.SubscriptionConfig(subscription_detail=detail),
        )
        path = shapes.SIM_SWAP_SUBSCRIPTIONS if of_sim else shapes.REACHABILITY_SUBSCRIPTIONS
        return (await self._ask(path, body, shapes.Subscription)).id

    async def _ask(self, path: str, body: BaseModel, kind: type[Answer]) -> Answer:
        headers = {
            "Authorization": f"Bearer {self._access_token}",
            shapes.CORRELATOR: str(uuid.uuid4()),
        }
        content = body.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            async with self._session.post(
                self._api_root + path, json=content, headers=headers, timeout=TIMEOUT
            ) as answer:
                text, status = await answer.read(), answer.status
        except (ClientError, TimeoutError) as error:
            raise CarrierUnavailable(
                f"The carrier cannot be reached ({type(error).__name__})."
            ) from error
        if status >= HTTPStatus.BAD_REQUEST:
            raise _problem(status, text)
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            # Without the cause, which would quote what the answer says of a number.
            raise CarrierUnavailable("The carrier's answer cannot be read.") from None


def _about_device(number: str) -> shapes.DeviceRequest:
    return shapes.DeviceRequest(device=shapes.Device(phone_number=number))


def _problem(status: int, text: bytes) -> Exception:
    try:
        code = shapes.ErrorInfo.model_validate_json(text).code
    except ValidationError:
        return CarrierUnavailable(f"The carrier answered {status}.")
    if code == shapes.ErrorCode.IDENTIFIER_NOT_FOUND:
        return NumberUnknown("The carrier has assigned this number to nobody.")
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return CarrierUnavailable(f"The carrier cannot answer now ({code}).")
    return QuestionRefused(code)
