"""Where a carrier's notifications arrive: CloudEvents over HTTP, fed as they come."""

import hmac
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus

import structlog
from aiohttp import web
from pydantic import ValidationError

from contactmesh.carriers.backend import CarrierError, Subscribers
from contactmesh.carriers.camara.entries import STATE_OF_EVENT, sim_changed, state_seen
from contactmesh.carriers.camara.shapes import EventType, Notification
from contactmesh.contracts.carrier.feed import FeedEntry

log = structlog.get_logger()

Take = Callable[[Sequence[FeedEntry]], Awaitable[None]]
"""Feeds entries; when it returns they are in the registry for good."""


def notification_route(
    path: str, subscribers: Subscribers, take: Take, *, token: str
) -> web.RouteDef:
    """The route that a carrier posts notifications to.

    It answers 204 only when what the event says has been fed: a carrier that gets another answer
    tells it again, and saying it twice changes nothing. A replayed or late event changes nothing
    either, since of two reports the later one counts.

    Args:
        path: the path of the `sink` that was subscribed with.
        subscribers: the carrier's books.
        take: feeds entries.
        token: the bearer token that was agreed on as the sink's credential.
    """

    async def arrived(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), token.encode()):
            return web.Response(status=HTTPStatus.UNAUTHORIZED)
        try:
            event = Notification.model_validate_json(await request.read())
        except ValidationError:
            log.warning("unreadable notification")
            return web.Response(status=HTTPStatus.BAD_REQUEST)
        try:
            entries = await entries_of(event, subscribers)
            if entries:
                await take(entries)
        except CarrierError as error:
            log.warning("notification not taken", event_id=event.id, because=str(error))
            return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE)
        return web.Response(status=HTTPStatus.NO_CONTENT)

    return web.post(path, arrived)


async def entries_of(event: Notification, subscribers: Subscribers) -> tuple[FeedEntry, ...]:
    """What an event says; nothing for events of a subscription's own life.

    Raises:
        CarrierError: the carrier's books cannot be read now.
    """
    number = event.data.number
    if number is None or event.type not in set(EventType):
        return ()
    tenures = await subscribers.tenures(number)
    if not tenures:
        return ()
    kind = EventType(event.type)
    if kind is EventType.SIM_SWAPPED:
        return sim_changed(tenures)
    at_that_time = [tenure for tenure in tenures if tenure.began_at <= event.time]
    if not at_that_time:
        return ()
    return (state_seen(at_that_time[-1], STATE_OF_EVENT[kind], event.time),)
