"""What terminals ask for themselves: credentials for a code, and their queue anew."""

from dataclasses import dataclass

import structlog

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identity import (
    AccessKind,
    Credentials,
    Enrol,
    QueueReady,
    TerminalEnrolled,
    Transport,
)
from contactmesh.runtime.commands import Clock, on_fresh_state
from identity_service.access_log import access_write, counted_by_the_hour
from identity_service.broker import TerminalBroker
from identity_service.domain.access_log import Access
from identity_service.domain.enrolment import CodeText, code_refused, guess
from identity_service.domain.secret import (
    SALT_BYTES,
    TERMINAL_SECRET_BYTES,
    SecretHash,
    secret_text,
)
from identity_service.domain.terminal import TERMINAL_SUFFIX_BYTES, Terminal, terminal_id
from identity_service.domain.upkeep import if_abandoned
from identity_service.domain.user import Limits
from identity_service.handlers.commit import Committer
from identity_service.handlers.registration import RandomBytes
from identity_service.handlers.secrets import Secrets, not_authenticated
from identity_service.repository import (
    Repository,
    code_write,
    no_upkeep,
    terminal_write,
    user_write,
)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The terminals' side. `broker_url` and `mqtt_url` are what they are told to connect to."""

    repository: Repository
    secrets: Secrets
    committer: Committer
    broker: TerminalBroker
    broker_url: str
    mqtt_url: str | None
    limits: Limits
    random_bytes: RandomBytes
    clock: Clock

    async def enrol(self, request: Enrol) -> Credentials:
        """Trade a code for credentials, with the queue ready.

        A request repeated after its answer got lost is refused: the secret is shown once, and who
        asks again may be somebody else. The operator mints another code.

        Raises:
            Refusal: `unauthenticated` for every code that cannot be traded, `quota_exceeded`,
                `invalid_argument` for a transport that is not offered.
            BrokerUnavailable: the code can still be used.
        """
        text = CodeText.parse(request.code)
        self._refuse_unless_offered(request.transport)
        return await on_fresh_state(
            lambda: self._enrol(text, request.terminal_name, request.transport)
        )

    async def _enrol(self, text: CodeText, name: str, transport: Transport) -> Credentials:
        now = self.clock()
        guessed = guess(await self.repository.code(text.public), text, now)
        code = guessed.code
        if not guessed.right:
            attempt = counted_by_the_hour(AccessKind.CODE_WRONG, code.user_id, now)
            await self.committer.commit([code_write(code), attempt])
            log.warning("wrong enrolment code", user_id=code.user_id, times=code.wrong_guesses)
            raise code_refused()
        user = await self.repository.user(code.user_id)
        if user is None:
            raise code_refused()
        secret = secret_text(self.random_bytes(TERMINAL_SECRET_BYTES))
        terminal = Terminal(
            id=terminal_id(user.id, self.random_bytes(TERMINAL_SUFFIX_BYTES)),
            user_id=user.id,
            name=name,
            secret=SecretHash.of(secret, self.random_bytes(SALT_BYTES)),
            enrolled_at=now,
        )
        user = user.with_another_terminal(self.limits)
        # The queue first: should the broker be away, the code is not used up. Should we die before
        # the commit, the queue is cleared away.
        await self.repository.note_upkeep(if_abandoned(terminal.id, now))
        queue = await self._ready(terminal, transport)
        await self.committer.commit(
            [
                code_write(code),
                user_write(user),
                terminal_write(terminal),
                no_upkeep(terminal.id),
                access_write(Access.once(AccessKind.ENROLLED, user.id, now, terminal.id)),
            ],
            TerminalEnrolled(terminal_id=terminal.id, user_id=user.id),
            subject=terminal.id,
        )
        log.info("terminal enrolled", terminal_id=terminal.id)
        return Credentials(
            user_id=user.id,
            display_name=user.display_name,
            terminal_id=terminal.id,
            secret=secret,
            queue=queue,
            broker_url=self.broker_url,
            mqtt_url=self.mqtt_url,
        )

    async def make_queue(self, terminal: str, secret: str, transport: Transport) -> QueueReady:
        """Make a terminal's queue anew, if it expired while the terminal was away.

        Raises:
            Refusal: `unauthenticated`, `invalid_argument` for a transport that is not offered.
            BrokerUnavailable: try again later.
        """
        known = await self.secrets.authenticated(terminal, secret)
        if known is None:
            raise not_authenticated()
        self._refuse_unless_offered(transport)
        queue = await self._ready(known, transport)
        return QueueReady(queue=queue, broker_url=self.broker_url, mqtt_url=self.mqtt_url)

    async def _ready(self, terminal: Terminal, transport: Transport) -> str:
        if transport is Transport.MQTT:
            return await self.broker.make_room_for_mqtt(terminal.id)
        return await self.broker.make_queue(terminal.id, terminal.user_id)

    def _refuse_unless_offered(self, transport: Transport) -> None:
        if transport is Transport.MQTT and self.mqtt_url is None:
            raise Refusal(
                ErrorCode.INVALID_ARGUMENT,
                "This system offers no MQTT. Use AMQP.",
                fields=[{"path": "/transport", "problem": "not offered here"}],
            )
