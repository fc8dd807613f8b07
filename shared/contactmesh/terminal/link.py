"""The terminal's link to the broker: it comes back by itself, for as long as the terminal runs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from contactmesh.contracts.identity import AccessLog, Credentials, Transport
from contactmesh.terminal.amqp_session import AmqpSession
from contactmesh.terminal.credentials import Enrolment
from contactmesh.terminal.errors import (
    AuthenticationRefused,
    IdentityUnavailable,
    TerminalClosed,
    TerminalError,
)
from contactmesh.terminal.session import CredentialsRefused, QueueMissing, Session, SessionLost

if TYPE_CHECKING:
    from contactmesh.terminal.identity import IdentityClient

STEADY_SECONDS: Final = 10.0
"""A session that lived shorter counts as a failed attempt, so that a flapping one backs off."""

Answer = TypeVar("Answer")

_log = structlog.get_logger(__name__)


class Link:
    """Keeps a session open, and opens the next one when it is lost.

    Waits between attempts grow from half a second to 30 seconds, with full jitter, so that the
    terminals of a restarted broker do not all come back at once.

    Args:
        enrolment: where to connect and as whom.
        serve: handles a session until it is lost.
        moved: told when identity_service gave another queue, broker or secret.
    """

    def __init__(
        self,
        enrolment: Enrolment,
        *,
        serve: Callable[[Session], Awaitable[None]],
        moved: Callable[[Enrolment], None],
    ) -> None:
        self._enrolment = enrolment
        self._serve = serve
        self._moved = moved
        self._session: Session | None = None
        self._failure: TerminalError | None = None
        self._changed = asyncio.Condition()
        self._attempted = asyncio.Event()

    async def run(self) -> None:
        """Keep the link until cancelled.

        Raises:
            AuthenticationRefused: the credentials are no longer valid.
            TransportNotOffered: the system does not speak the terminal's protocol.
        """
        try:
            while True:
                await AsyncRetrying(
                    retry=retry_if_exception_type(SessionLost),
                    wait=wait_random_exponential(multiplier=0.5, max=30),
                    before_sleep=_tell,
                )(self._one_session)
        except TerminalError as error:
            await self.end(error)
            raise

    async def attempted(self) -> None:
        """Wait until it is known whether the broker can be reached.

        Raises:
            AuthenticationRefused: the credentials are not valid.
        """
        await self._attempted.wait()
        if self._failure is not None:
            raise self._failure

    async def session(self) -> Session:
        """The open session; waits for one.

        Raises:
            AuthenticationRefused: the credentials are no longer valid.
            TerminalClosed: the terminal was closed.
        """
        async with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                if self._session is not None and not self._session.lost.is_set():
                    return self._session
                await self._changed.wait()

    async def end(self, reason: TerminalError | None = None) -> None:
        """Let nobody wait for a session any more."""
        async with self._changed:
            self._failure = reason or TerminalClosed("The terminal was closed.")
            self._attempted.set()
            self._changed.notify_all()

    async def _one_session(self) -> None:
        try:
            session = await self._open()
        except SessionLost:
            self._attempted.set()
            raise
        begun = asyncio.get_running_loop().time()
        try:
            async with self._changed:
                self._session = session
                self._attempted.set()
                self._changed.notify_all()
            await self._serve(session)
        finally:
            self._session = None
            await session.close()
        if asyncio.get_running_loop().time() - begun < STEADY_SECONDS:
            raise SessionLost("lost soon after it was opened")

    async def _open(self) -> Session:
        try:
            return await self._open_session()
        except QueueMissing:
            _log.info("terminal_queue_missing", queue=self._enrolment.credentials.queue)
            try:
                await self._make_queue()
                return await self._open_session(queue_ready=True)
            except (QueueMissing, IdentityUnavailable, CredentialsRefused) as error:
                raise SessionLost(type(error).__name__) from error
        except CredentialsRefused as error:
            # The broker refuses everyone while it cannot ask identity_service. Only that service
            # can say for sure, and while it is away too, the terminal waits.
            try:
                await self._make_queue()
            except IdentityUnavailable as unavailable:
                raise SessionLost(f"{error}, {type(unavailable).__name__}") from error
            raise SessionLost(str(error)) from error

    async def _open_session(self, *, queue_ready: bool = False) -> Session:
        credentials = self._enrolment.credentials
        if self._enrolment.transport is Transport.MQTT:
            from contactmesh.terminal.mqtt_session import MqttSession  # noqa: PLC0415 - seldom needed

            return await MqttSession.open(credentials, queue_ready=queue_ready)
        return await AmqpSession.open(credentials)

    async def rotate(self) -> None:
        """Change the secret: the old one is void when this returns, and a session is opened anew.

        Raises:
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: the old secret is good, or the new one, which is kept.
            TransportNotOffered: the system speaks the terminal's protocol no more; as above.
        """
        async with self._identity() as identity:
            await self._take_next_secret(identity)
        await self._make_queue()  # the first use of the new one
        if self._session is not None:
            self._session.lost.set()

    async def access_log(self) -> AccessLog:
        """What happened to the user's terminals and secrets.

        Raises:
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        return await self._asked(
            lambda identity, own: identity.access_log(own.terminal_id, own.secret)
        )

    async def _asked(
        self, ask: Callable[["IdentityClient", Credentials], Awaitable[Answer]]
    ) -> Answer:
        """Ask identity_service, with the next secret where it wants the old one changed.

        Raises:
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        async with self._identity() as identity:
            try:
                return await ask(identity, self._enrolment.credentials)
            except AuthenticationRefused:
                await self._take_next_secret(identity)
                return await ask(identity, self._enrolment.credentials)

    def _identity(self) -> "IdentityClient":
        from contactmesh.terminal.identity import IdentityClient  # noqa: PLC0415 - seldom needed

        return IdentityClient(self._enrolment.identity_url)

    async def _take_next_secret(self, identity: "IdentityClient") -> None:
        credentials = self._enrolment.credentials
        secret = await identity.rotate_secret(credentials.terminal_id, credentials.secret)
        changed = credentials.model_copy(update={"secret": secret})
        self._enrolment = self._enrolment.model_copy(update={"credentials": changed})
        self._moved(self._enrolment)

    async def _make_queue(self) -> None:
        ready = await self._asked(
            lambda identity, own: identity.ready_queue(
                own.terminal_id, own.secret, self._enrolment.transport
            )
        )
        credentials = self._enrolment.credentials
        moved = Credentials(
            **{
                **credentials.model_dump(),
                "queue": ready.queue,
                "broker_url": ready.broker_url,
                "mqtt_url": ready.mqtt_url,
            }
        )
        if moved != credentials:
            self._enrolment = self._enrolment.model_copy(update={"credentials": moved})
            self._moved(self._enrolment)


def _tell(state: RetryCallState) -> None:
    outcome, action = state.outcome, state.next_action
    if outcome is not None and action is not None:
        _log.info(
            "terminal_offline",
            reason=str(outcome.exception()),
            attempt=state.attempt_number,
            retry_in_seconds=round(action.sleep, 2),
        )
