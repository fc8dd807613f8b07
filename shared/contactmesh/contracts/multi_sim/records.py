"""What the service keeps of accounts, SIM cards and spaces, in the field's terms (rows M1-M6)."""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, StringConstraints

from contactmesh.contacts.errors import IdentifierError
from contactmesh.contacts.identifiers import read_iccid
from contactmesh.contracts.carrier.records import CarrierId, Msisdn, RegistrationSeq
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import GROUP_ID_PATTERN, TerminalId

SimId = Annotated[str, StringConstraints(pattern=GROUP_ID_PATTERN)]
"""A UUID, made by the service when the SIM is registered. It outlives its ICCID."""

AccountId = Annotated[str, StringConstraints(pattern=GROUP_ID_PATTERN)]
"""A UUID, made by the service with the account."""

ContactUid = Annotated[
    str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")
]
"""The `uid` of a card (RFC 9553, section 2.1.9)."""

IdentificationCode = Annotated[str, StringConstraints(pattern=r"^[A-Z2-7]{4}(-[A-Z2-7]{4}){2}$")]
"""What identifies an account to its user, for example `K7QA-3MZD-PX2T` (row M2)."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""What two cards share that say the same; see `contactmesh.contacts.digest`."""


DigestOrNone = Annotated[str, StringConstraints(pattern=r"^(?:[0-9a-f]{64})?$")]
"""A digest, empty where there is no contact: one that never was, or was removed."""


def _plain_iccid(text: str) -> str:
    try:
        return read_iccid(text).value
    except IdentifierError as error:
        raise ValueError(str(error)) from error


Iccid = Annotated[
    str,
    StringConstraints(max_length=60),
    AfterValidator(_plain_iccid),
    Field(json_schema_extra={"pattern": "^89[0-9A-Z]{16,20}$"}),
]
"""The number of a SIM card or an eSIM profile (ITU-T E.118), separators and filler left out.

A check digit that does not fit is no refusal: carriers issue such cards.
"""

Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]


class SpaceKind(StrEnum):
    """A part of an account that holds contacts."""

    SHARED = "shared"
    """Replicated to the user's other accounts, with consent (row M4)."""
    PRIVATE = "private"
    """Never leaves its account (row M3)."""


class UserInformation(Message):
    """What all accounts of a user say of the user (row M1)."""

    TYPE: ClassVar[str] = "user_information"

    name: Name
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""


class SimView(Message):
    """A SIM card of an account, and what waits in its pending space.

    `pending_rev` grows by one for each contact that begins to wait, or that changes while it waits.
    `filling` says that the pending space is still being filled, after an update was requested.
    """

    TYPE: ClassVar[str] = "sim"

    sim_id: SimId
    iccid: Iccid
    name: Name
    terminal_id: TerminalId
    msisdn: Msisdn | None = None
    registration_seq: RegistrationSeq | None = None
    pending_rev: int = Field(ge=0)
    waiting: int = Field(ge=0)
    filling: bool = False


class SpaceView(Message):
    """How a space stands: its revision, one more for each contact written, and its contacts."""

    TYPE: ClassVar[str] = "space"

    rev: int = Field(ge=0)
    contacts: int = Field(ge=0)


class AccountView(Message):
    """A user's one account at a carrier (rows M1, M2)."""

    TYPE: ClassVar[str] = "account"

    carrier_id: CarrierId
    account_id: AccountId
    identification_code: IdentificationCode
    consent: bool
    follows_book: bool
    shared: SpaceView
    private: SpaceView
    sims: tuple[SimView, ...]
