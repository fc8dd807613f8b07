"""What identity_service does on the broker for its terminals and integrators."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, encode_basic_auth
from yarl import URL

from contactmesh.messaging.connection import (
    BrokerUnavailable,
    declare_integrator_queue,
    declare_terminal_queue,
    delete_queues,
    delete_terminal_queue,
)
from contactmesh.messaging.topology import subscription_queue, terminal_queue

ANSWER_SECONDS: Final = 10.0


class TerminalBroker:
    """Terminals' queues and connections.

    `management_url` is `http://user:password@host:port` of the management API, the only way to
    close another's connection; without it connections are left alone.
    """

    def __init__(self, amqp_url: str, management_url: str | None) -> None:
        self._amqp_url = amqp_url
        self._management_url = management_url

    async def make_queue(self, terminal_id: str, user_id: str) -> str:
        """Make sure that a terminal's AMQP queue exists and is bound; returns its name.

        Raises:
            BrokerUnavailable: try again later.
        """
        return await declare_terminal_queue(self._amqp_url, terminal_id, user_id)

    async def make_room_for_mqtt(self, terminal_id: str) -> str:
        """Let the terminal make its queue itself, as by MQTT; returns that one's name.

        Its AMQP queue goes, since it would fill with what the terminal reads elsewhere.

        Raises:
            BrokerUnavailable: try again later.
        """
        await delete_queues(self._amqp_url, terminal_queue(terminal_id))
        return subscription_queue(terminal_id)

    async def make_integrator_queue(self, account: str, scopes: Iterable[str]) -> None:
        """Make sure that an integrator's queue exists and is bound to what it was granted.

        Raises:
            BrokerUnavailable: try again later.
        """
        await declare_integrator_queue(self._amqp_url, account, scopes)

    async def remove_integrator(self, account: str) -> None:
        """Delete an integrator's queue with what waits in it, and close its connections.

        Raises:
            BrokerUnavailable: it may be done in part; do it again later.
        """
        await delete_queues(self._amqp_url, account)
        await self.close_connections(account)

    async def remove(self, terminal_id: str) -> None:
        """Delete a terminal's queues with what waits in them, and close its connections.

        Raises:
            BrokerUnavailable: it may be done in part; do it again later.
        """
        await delete_terminal_queue(self._amqp_url, terminal_id)
        await self.close_connections(terminal_id)

    async def close_connections(self, account: str) -> None:
        """Close the connections of a terminal or integrator; its queue goes on to collect.

        Raises:
            BrokerUnavailable: do it again later.
        """
        if self._management_url is not None:
            await _close_connections(self._management_url, account)


async def _close_connections(management_url: str, account: str) -> None:
    parts = urlsplit(management_url)
    authority = parts.netloc.rpartition("@")[2]
    # The id is encoded by hand: a library that normalises URLs would decode it again.
    path = f"/api/connections/username/{quote(account, safe='')}"
    url = URL(f"{parts.scheme}://{authority}{parts.path.rstrip('/')}{path}", encoded=True)
    authorization = encode_basic_auth(unquote(parts.username or ""), unquote(parts.password or ""))
    headers = {"Authorization": authorization, "X-Reason": "revoked"}
    try:
        async with (
            ClientSession(timeout=ClientTimeout(total=ANSWER_SECONDS)) as session,
            session.delete(url, headers=headers) as answer,
        ):
            status = answer.status
    except (ClientError, TimeoutError) as error:
        raise BrokerUnavailable(f"No management API: {type(error).__name__}.") from error
    if status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND}:
        raise BrokerUnavailable(f"The management API answered {status}.")
