"""Users and terminals: the events of identity_service and the bodies of its HTTP interface."""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from contactmesh.contracts.carrier.records import CarrierId
from contactmesh.contracts.contact import Scope
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import IntegratorName, OwnerId, TerminalId, UserId

DisplayName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]


class UserRegistered(Message):
    """An operator registered a user."""

    TYPE: ClassVar[str] = "user.registered"

    user_id: UserId


class TerminalEnrolled(Message):
    """A terminal got its credentials and its queue."""

    TYPE: ClassVar[str] = "terminal.enrolled"

    terminal_id: TerminalId
    user_id: OwnerId


class TerminalRevoked(Message):
    """A terminal lost its credentials and its queue, at once and for good."""

    TYPE: ClassVar[str] = "terminal.revoked"

    terminal_id: TerminalId
    user_id: OwnerId


class Transport(StrEnum):
    """The protocol that a terminal speaks to the broker."""

    AMQP = "amqp"
    """AMQP 0-9-1."""
    MQTT = "mqtt"
    """MQTT 3.1.1."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RegisterUser(_Body):
    """`POST /v1/users`, with the operator's token."""

    user_id: UserId
    display_name: DisplayName


class EnrolmentCode(_Body):
    """A one-time code: the answer to `POST /v1/users/{user_id}/enrolment-codes`.

    The same for `POST /v1/carriers/{carrier_id}/enrolment-codes`, where `user_id` is the owner of
    the carrier's terminals.
    """

    user_id: OwnerId
    code: str
    expires_at: str


class UserRow(_Body):
    """One user in the answer to `GET /v1/users`."""

    user_id: UserId
    display_name: str
    terminals: int


class AddCarrier(_Body):
    """`POST /v1/carriers`, with the operator's token: let a carrier feed the registry."""

    carrier_id: CarrierId
    name: DisplayName


class CarrierRow(_Body):
    """One carrier in the answer to `GET /v1/carriers`."""

    carrier_id: CarrierId
    name: str
    terminals: int


class TerminalRow(_Body):
    """One terminal in the answer to `GET /v1/{users,carriers}/{id}/terminals`."""

    terminal_id: TerminalId
    name: str
    enrolled_at: str
    revoked_at: str | None = None
    must_rotate: bool = False


class Enrol(_Body):
    """`POST /v1/enrolments`: trade a code for credentials."""

    code: Annotated[str, StringConstraints(min_length=8, max_length=64)]
    terminal_name: DisplayName
    transport: Transport = Transport.AMQP


class Credentials(_Body):
    """What a terminal needs to connect; the secret is shown this once and stored hashed.

    `broker_url` is an AMQP URL without user and password: these are `terminal_id` and `secret`.
    `mqtt_url` says the same for MQTT, where `terminal_id` is the client id too and the user is
    `<virtual host>:<terminal_id>`; none if the system offers no MQTT.
    """

    user_id: OwnerId
    display_name: str
    terminal_id: TerminalId
    secret: str
    queue: str
    broker_url: str
    mqtt_url: str | None = None


class ReadyQueue(_Body):
    """`POST /v1/terminals/{terminal_id}/queue`, as the terminal; without a body it is AMQP."""

    transport: Transport = Transport.AMQP


class QueueReady(_Body):
    """The answer to `POST /v1/terminals/{terminal_id}/queue`.

    By AMQP the queue exists and is bound. By MQTT the terminal makes it by subscribing. Either way
    the terminal has no queue of the other kind any more.
    """

    queue: str
    broker_url: str
    mqtt_url: str | None = None


class NewSecret(_Body):
    """The answer to `POST /v1/terminals/{terminal_id}/secret`; shown this once and stored hashed.

    The old secret is good until this one is used for the first time.
    """

    terminal_id: TerminalId
    secret: str


class AccessKind(StrEnum):
    """What a line of the access log tells of."""

    CODE_MINTED = "code_minted"
    """An operator minted a code with which one more terminal can enrol."""
    CODE_WRONG = "code_wrong"
    """Somebody tried such a code and had it wrong."""
    ENROLLED = "enrolled"
    REVOKED = "revoked"
    ROTATION_BEGUN = "rotation_begun"
    """A terminal asked for another secret."""
    ROTATED = "rotated"
    """The other secret was used, and the old one is void."""
    ROTATION_DEMANDED = "rotation_demanded"
    """An operator told the terminal to change its secret."""
    REFUSED = "refused"
    """Somebody tried to be the terminal and had no valid secret."""


class AccessRow(_Body):
    """One line of the access log; `count` times between `at` and `last_at`."""

    kind: AccessKind
    at: AwareDatetime
    last_at: AwareDatetime
    terminal_id: TerminalId | None = None
    count: int = 1


class AddIntegrator(_Body):
    """`POST /v1/integrators`, with the operator's token: let a program have changes of scopes."""

    name: IntegratorName
    scopes: Annotated[frozenset[Scope], Field(min_length=1)]


class IntegratorRow(_Body):
    """One integrator in the answer to `GET /v1/integrators`."""

    name: IntegratorName
    scopes: tuple[Scope, ...]
    added_at: AwareDatetime


class IntegratorCredentials(_Body):
    """What an integrator needs to read its queue; the secret is shown this once and stored hashed.

    `broker_url` is an AMQP URL without user and password: these are `account` and `secret`.
    """

    name: IntegratorName
    account: str
    secret: str
    queue: str
    scopes: tuple[Scope, ...]
    broker_url: str


class AccessLog(_Body):
    """The answer to `GET /v1/terminals/{terminal_id}/access-log`.

    Attributes:
        entries: what happened to its user's terminals, newest first.
        integrators: the programs that get every change of their scopes, its user's too.
    """

    entries: tuple[AccessRow, ...]
    integrators: tuple[IntegratorRow, ...] = ()
