"""What the registry keeps of a registration, in the field's terms (rows C2, C5)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import MOST

CarrierId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,31}$")]
"""A carrier's own stable name, such as `cn-mobile`; never given again."""

RegistrationSeq = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,18}$")]
"""A carrier's number of one tenure of one number: it rises and never comes again.

Text, because JavaScript loses integers beyond 2^53.
"""

Msisdn = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{4,14}$")]
"""A telephone number in E.164, with its plus."""

MOST_REFERENCES: Final = 5_000
"""How many references to one person's registrations a message may list: a message holds no more."""
MOST_NUMBERS: Final = 500
"""How many numbers without a reference a message may list."""

EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, Field(ge=EARLIEST, le=LATEST), AfterValidator(_in_utc)]
"""A time with its offset, in the years 1900 to 2200, kept in UTC.

The bounds leave room for any offset: a time beyond what a calendar can hold is no time of a number.
"""


class RegistrationRef(Message):
    """One tenure of one number at one carrier: the carrier information of row C2."""

    TYPE: ClassVar[str] = "registration_ref"

    carrier_id: CarrierId
    registration_seq: RegistrationSeq

    def __str__(self) -> str:
        """The canonical text, such as `cn-mobile:1048577`."""
        return f"{self.carrier_id}:{self.registration_seq}"


class LineType(StrEnum):
    """What a registration is for."""

    MOBILE = "mobile"
    FIXED = "fixed"
    IOT = "iot"
    SATELLITE = "satellite"


class EndReason(StrEnum):
    """Why a registration ended. Viewers are told a coarse part of it."""

    REPLACED = "replaced"
    PORTED_OUT = "ported_out"
    CANCELLED = "cancelled"
    RECYCLED = "recycled"
    ERASED = "erased"


class NetworkState(StrEnum):
    """What a carrier reports of a number, as finely as it knows (notes A.3)."""

    ONLINE_DATA = "online_data"
    ONLINE_SMS_ONLY = "online_sms_only"
    IN_CALL = "in_call"
    BUSY = "busy"
    POWERED_OFF = "powered_off"
    NO_SERVICE = "no_service"
    NO_PAGING_RESPONSE = "no_paging_response"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"


class ShownState(StrEnum):
    """What others are shown of it (row C5): powered off, no service and out of reach look alike."""

    UNREACHABLE = "unreachable"
    IN_CALL = "in_call"
    BUSY = "busy"
    ONLINE = "online"
    SMS_ONLY = "sms_only"
    UNKNOWN = "unknown"


class DataVolume(StrEnum):
    """What is left of a plan, in CAMARA's categories; nothing finer is kept."""

    BELOW_200_MIB = "<200MiB"
    BELOW_1_GIB = "<1GiB"
    BELOW_5_GIB = "<5GiB"
    FROM_5_GIB = ">=5GiB"


class StateReport(Message):
    """A state with the time when the carrier confirmed it: never one without the other."""

    TYPE: ClassVar[str] = "state_report"

    state: ShownState
    last_status_time: Moment


class UsageReport(Message):
    """What is left of a plan, with the time when the carrier confirmed it."""

    TYPE: ClassVar[str] = "usage_report"

    remaining: DataVolume
    last_status_time: Moment


class Line(Message):
    """A live number as a viewer may see it, with the owner's shared labels and order (row C6)."""

    TYPE: ClassVar[str] = "line"

    ref: RegistrationRef
    msisdn: Msisdn
    line_type: LineType = LineType.MOBILE
    ported: bool = False
    labels: tuple[str, ...] = ()
    dial_priority: int | None = Field(default=None, ge=0, le=MOST)
