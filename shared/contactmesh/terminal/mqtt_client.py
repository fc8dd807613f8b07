"""The MQTT client, with what a terminal needs and the library leaves out."""

import asyncio
import ssl
from typing import Any, Final

import aiomqtt
from yarl import URL

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import CLOSE_SECONDS, HEARTBEAT_SECONDS
from contactmesh.terminal.broker import ANSWER_SECONDS

PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
MOST_UNDER_WAY: Final = 200
"""Commands that wait for the broker's confirmation at once; more wait here."""


class MqttClient(aiomqtt.Client):
    """A client that acknowledges by hand, and that can be let go of in any state.

    Attributes:
        session_kept: whether the broker had kept the session, and with it the queue.
    """

    def __init__(self, credentials: Credentials, address: URL) -> None:
        vhost = address.path.removeprefix("/") or "/"
        super().__init__(
            address.host or "",
            address.port or PORTS.get(address.scheme, PORTS["mqtt"]),
            username=f"{vhost}:{credentials.terminal_id}",
            password=credentials.secret,
            identifier=credentials.terminal_id,
            clean_session=False,
            timeout=ANSWER_SECONDS,
            keepalive=HEARTBEAT_SECONDS,
            max_inflight_messages=MOST_UNDER_WAY,
            tls_context=ssl.create_default_context() if address.scheme == "mqtts" else None,
        )
        self.pending_calls_threshold = MOST_UNDER_WAY
        self.session_kept = False
        self._client.manual_ack_set(True)

    async def open(self) -> None:
        """Connect.

        Raises:
            aiomqtt.MqttConnectError: the broker does not let the terminal in.
            aiomqtt.MqttError: it cannot be reached or does not answer.
        """
        entering = asyncio.create_task(self.__aenter__())
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            # A thread connects, which nothing can stop. What comes of it would hold the session.
            entering.add_done_callback(self._abandon)
            raise
        except aiomqtt.MqttError:
            self._let_go()
            raise

    async def close(self) -> None:
        """Say good-bye to the broker if it still listens, and close."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.__aexit__(None, None, None)
        except (aiomqtt.MqttError, TimeoutError):
            self._logger.debug("the broker did not say good-bye")
        finally:
            self._let_go()

    def acknowledge(self, message: aiomqtt.Message) -> None:
        """Tell the broker that a message is dealt with.

        Raises:
            aiomqtt.MqttError: the connection is gone.
        """
        failure = self._client.ack(message.mid, message.qos)
        if failure:
            raise aiomqtt.MqttCodeError(failure, "Could not acknowledge")

    def _on_connect(self, client: Any, userdata: Any, flags: Any, *rest: Any) -> None:  # noqa: ANN401
        self.session_kept = bool(flags.session_present)
        super()._on_connect(client, userdata, flags, *rest)

    def _abandon(self, entering: "asyncio.Task[aiomqtt.Client]") -> None:
        if not entering.cancelled():
            entering.exception()  # marks it as seen: nobody waits for it any more
        self._let_go()

    def _let_go(self) -> None:
        if self._misc_task is not None:
            self._misc_task.cancel()
        connected = self._client.socket()
        if connected is not None and connected.fileno() >= 0:
            self._loop.remove_reader(connected.fileno())
            self._loop.remove_writer(connected.fileno())
            connected.close()
