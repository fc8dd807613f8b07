"""A session over MQTT 3.1.1: one connection for both directions, under the terminal's id.

The broker keeps the terminal's queue as the session's, and confirms and delivers with quality of
service 1: what is not acknowledged, it delivers again.
"""

import asyncio
from collections import deque
from typing import Final

import aiomqtt
from yarl import URL

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import terminal_key, topic, user_key
from contactmesh.runtime.waiting import uncut
from contactmesh.terminal.broker import ANSWER_SECONDS
from contactmesh.terminal.mqtt_client import MqttClient
from contactmesh.terminal.session import (
    Arrived,
    CredentialsRefused,
    NotDelivered,
    QueueMissing,
    Session,
    SessionLost,
)

AT_LEAST_ONCE: Final = 1
LEAST_FAILURE: Final = 128
"""From here on what answers a subscription is a refusal (MQTT 3.1.1, section 3.9.3)."""
NOT_LET_IN: Final = (134, 135)
"""Bad user name or password, not authorised: the client library gives MQTT 5's numbers."""


class MqttSession(Session):
    """What a terminal receives by its subscriptions, and its commands' way out."""

    def __init__(self, client: MqttClient) -> None:
        super().__init__()
        self._client = client
        self._unacknowledged: deque[tuple[int, aiomqtt.Message]] = deque()
        self._number = 0
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, credentials: Credentials, *, queue_ready: bool) -> "MqttSession":
        """Connect and subscribe.

        Args:
            credentials: who connects, and where.
            queue_ready: whether identity_service has made room for the queue. Without that, a
                session that the broker has not kept is not begun.

        Raises:
            SessionLost: the broker cannot be reached or does not answer.
            QueueMissing: the broker has not kept the session, or is not known by MQTT.
            CredentialsRefused: the broker does not know the terminal, or its secret is wrong.
        """
        if credentials.mqtt_url is None:
            raise QueueMissing("no MQTT address")
        client = MqttClient(credentials, URL(credentials.mqtt_url))
        return await uncut(cls._opened(client, credentials, queue_ready=queue_ready), cls.close)

    @classmethod
    async def _opened(
        cls, client: MqttClient, credentials: Credentials, *, queue_ready: bool
    ) -> "MqttSession":
        try:
            await client.open()
        except aiomqtt.MqttCodeError as error:
            if error.rc in NOT_LET_IN:
                raise CredentialsRefused(str(error)) from error
            raise SessionLost(str(error)) from error
        except aiomqtt.MqttError as error:
            raise SessionLost(type(error).__name__) from error
        session = cls(client)
        try:
            await session._begin(credentials, queue_ready=queue_ready)
        except aiomqtt.MqttError as error:
            await session.close()
            raise SessionLost(type(error).__name__) from error
        except BaseException:
            # Cancelled or failed: what was begun is undone, and the reason passes.
            await session.close()
            raise
        return session

    async def _begin(self, credentials: Credentials, *, queue_ready: bool) -> None:
        if not self._client.session_kept and not queue_ready:
            raise QueueMissing(credentials.queue)
        self._reading = asyncio.create_task(self._read())
        keys = (terminal_key(credentials.terminal_id), user_key(credentials.user_id))
        answers = await self._client.subscribe([(topic(key), AT_LEAST_ONCE) for key in keys])
        if any(getattr(answer, "value", answer) >= LEAST_FAILURE for answer in answers):
            raise SessionLost("the broker refuses the subscription")

    async def _read(self) -> None:
        try:
            async for message in self._client.messages:
                self._number += 1
                self._unacknowledged.append((self._number, message))
                self._inbox.put_nowait(Arrived(message.payload, self._number))
        except aiomqtt.MqttError:
            return
        finally:
            self.lost.set()

    async def publish(self, command: Envelope, routing_key: str) -> None:
        """Send a command; see `Session.publish`.

        A broker may confirm nothing more after what it refused, and says no word of it. So a
        session with a command that was not confirmed is lost, and what follows goes over another.
        """
        publishing = asyncio.create_task(
            self._client.publish(
                topic(routing_key), command.encode(), AT_LEAST_ONCE, timeout=ANSWER_SECONDS
            )
        )
        lost = asyncio.create_task(self.lost.wait())
        try:
            await asyncio.wait((publishing, lost), return_when=asyncio.FIRST_COMPLETED)
            if not publishing.done():
                raise NotDelivered("the connection was lost")
            publishing.result()
        except aiomqtt.MqttError as error:
            self.lost.set()
            raise NotDelivered(type(error).__name__) from error
        finally:
            publishing.cancel()
            lost.cancel()

    async def acknowledge(self, message: Arrived) -> None:
        """Acknowledge up to a message, each by itself; see `Session.acknowledge`."""
        try:
            while self._unacknowledged and self._unacknowledged[0][0] <= message.number:
                self._client.acknowledge(self._unacknowledged.popleft()[1])
        except aiomqtt.MqttError as error:
            self.lost.set()
            raise SessionLost(type(error).__name__) from error

    async def close(self) -> None:
        """Close the connection; see `Session.close`. The broker keeps the session."""
        self.lost.set()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))
        await self._client.close()
