"""Requests, answers, errors and events as CAMARA spells them.

Bodies of requests are strict: an unknown property is refused, as CAMARA asks since 2026. Answers
and events may say more than is read here.
"""

from datetime import date
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from contactmesh.carriers.backend import Connectivity
from contactmesh.contracts.carrier.records import DataVolume, Msisdn

REACHABILITY: Final = "/device-reachability-status/v1/retrieve"
SIM_SWAP_DATE: Final = "/sim-swap/v2/retrieve-date"
SIM_SWAP_CHECK: Final = "/sim-swap/v2/check"
NUMBER_RECYCLING: Final = "/number-recycling/v0.2/check"
DATA_VOLUME: Final = "/device-data-volume/v0.1/retrieve"
REACHABILITY_SUBSCRIPTIONS: Final = "/device-reachability-status-subscriptions/v0.8/subscriptions"
SIM_SWAP_SUBSCRIPTIONS: Final = "/sim-swap-subscriptions/v0.3/subscriptions"

CORRELATOR: Final = "x-correlator"
CORRELATOR_PATTERN: Final = r"[a-zA-Z0-9\-_:;./<>{}]{0,256}"
CLOUDEVENTS_JSON: Final = "application/cloudevents+json"
MOST_HOURS: Final = 2400
DEFAULT_HOURS: Final = 240


class EventType(StrEnum):
    """The CloudEvents types that are subscribed to."""

    REACHABILITY_DATA = (
        "org.camaraproject.device-reachability-status-subscriptions.v0.reachability-data"
    )
    REACHABILITY_SMS = (
        "org.camaraproject.device-reachability-status-subscriptions.v0.reachability-sms"
    )
    REACHABILITY_DISCONNECTED = (
        "org.camaraproject.device-reachability-status-subscriptions.v0.reachability-disconnected"
    )
    SIM_SWAPPED = "org.camaraproject.sim-swap-subscriptions.v0.swapped"


class ErrorCode(StrEnum):
    """The error codes of CAMARA_common that are used here."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    NOT_FOUND = "NOT_FOUND"
    IDENTIFIER_NOT_FOUND = "IDENTIFIER_NOT_FOUND"
    MISSING_IDENTIFIER = "MISSING_IDENTIFIER"
    UNSUPPORTED_IDENTIFIER = "UNSUPPORTED_IDENTIFIER"
    SERVICE_NOT_APPLICABLE = "SERVICE_NOT_APPLICABLE"
    UNAVAILABLE = "UNAVAILABLE"


class _Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class _Request(_Shape):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid"
    )


class Device(_Request):
    """The device that is asked about; only numbers are supported here."""

    phone_number: Msisdn | None = None
    network_access_identifier: str | None = None
    ipv4_address: dict[str, str | int] | None = None
    ipv6_address: str | None = None


class DeviceRequest(_Request):
    """The body of reachability and data volume requests."""

    device: Device | None = None


class NumberRequest(_Request):
    """The body of `retrieve-date`."""

    phone_number: Msisdn | None = None


class SimSwapCheckRequest(_Request):
    """The body of SIM Swap's `check`; `max_age` in hours."""

    phone_number: Msisdn | None = None
    max_age: int = Field(default=DEFAULT_HOURS, ge=1, le=MOST_HOURS)


class RecyclingRequest(_Request):
    """The body of Number Recycling's `check`."""

    phone_number: Msisdn | None = None
    specified_date: date


class DeviceAnswer(_Shape):
    """The one identifier of a device that was used to answer."""

    phone_number: Msisdn


class ReachabilityAnswer(_Shape):
    """What `retrieve` answers; `connectivity` is absent while the device is out of reach."""

    last_status_time: AwareDatetime
    reachable: bool
    connectivity: tuple[Connectivity, ...] | None = None
    device: DeviceAnswer | None = None


class SimSwapDateAnswer(_Shape):
    """What `retrieve-date` answers; `monitored_period` in days."""

    latest_sim_change: AwareDatetime | None
    monitored_period: int | None = None


class SimSwapCheckAnswer(_Shape):
    """What SIM Swap's `check` answers."""

    swapped: bool


class RecyclingAnswer(_Shape):
    """What Number Recycling's `check` answers."""

    phone_number_recycled: bool


class DataVolumeAnswer(_Shape):
    """What Device Data Volume's `retrieve` answers; without a time it was never confirmed."""

    data_volume_category: DataVolume
    last_status_time: AwareDatetime | None = None
    device: DeviceAnswer | None = None


class ErrorInfo(_Shape):
    """The body of every error."""

    status: int
    code: str
    message: str


class SubscriptionDetail(_Request):
    """What is subscribed to: a device for reachability, a number for SIM swaps."""

    device: Device | None = None
    phone_number: Msisdn | None = None


class SubscriptionConfig(_Request):
    """How long and for what a subscription is."""

    subscription_detail: SubscriptionDetail
    subscription_expire_time: AwareDatetime | None = None
    subscription_max_events: int | None = Field(default=None, ge=1)
    initial_event: bool = False


class SubscriptionRequest(_Request):
    """The body of `POST /subscriptions`: exactly one type of event for each.

    CAMARA wants sinks behind `https`; plain `http` is let through for what runs on one machine.
    """

    protocol: Literal["HTTP"]
    sink: Annotated[str, StringConstraints(pattern=r"^https?://.+$", max_length=2048)]
    sink_credential: dict[str, str] | None = None
    types: Annotated[tuple[EventType, ...], Field(min_length=1, max_length=1)]
    config: SubscriptionConfig


class Subscription(_Shape):
    """A subscription that stands."""

    id: str
    protocol: str
    sink: str
    types: tuple[EventType, ...]
    config: SubscriptionConfig
    starts_at: AwareDatetime
    status: str = "ACTIVE"


class EventData(_Shape):
    """What a notification is about."""

    subscription_id: str
    device: DeviceAnswer | None = None
    phone_number: Msisdn | None = None

    @property
    def number(self) -> str | None:
        """The number, wherever this event's API puts it."""
        return self.phone_number if self.device is None else self.device.phone_number


class Notification(_Shape):
    """A notification: one CloudEvent, whose `time` CAMARA makes mandatory."""

    model_config = ConfigDict(alias_generator=None, populate_by_name=True, frozen=True)

    id: str
    source: str
    type: str
    specversion: Literal["1.0"]
    datacontenttype: str = "application/json"
    time: AwareDatetime
    data: EventData
