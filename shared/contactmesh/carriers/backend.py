"""The port to a carrier's systems: what can be asked of them, and what they tell by themselves."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from contactmesh.contracts.carrier.feed import FeedEntry
from contactmesh.contracts.carrier.records import DataVolume, RegistrationRef


class CarrierError(Exception):
    """A carrier's systems did not answer the question; the text names no number."""


class NumberUnknown(CarrierError):
    """The number is assigned to nobody at this carrier, as far as it tells."""


class QuestionRefused(CarrierError):
    """The question is one that this carrier does not answer: a date too long ago, a missing right.

    Attributes:
        code: the carrier's own word for it.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"The carrier refuses to answer ({code}).")
        self.code = code


class CarrierUnavailable(CarrierError):
    """The carrier cannot answer now: ask again later. What was known stays the latest known."""


class Connectivity(StrEnum):
    """How a number can be reached; `SMS` alone means by nothing else."""

    DATA = "DATA"
    SMS = "SMS"


@dataclass(frozen=True, slots=True)
class Reachability:
    """Whether a number can be reached, as the carrier last confirmed it."""

    reachable: bool
    connectivity: frozenset[Connectivity]
    last_status_time: datetime


@dataclass(frozen=True, slots=True)
class SimChange:
    """The latest change of the SIM behind a number.

    Attributes:
        at: when; none if there was no change, or none within the time that the carrier watches.
        monitored_days: how far back the carrier looks, if it says.
    """

    at: datetime | None
    monitored_days: int | None = None


@dataclass(frozen=True, slots=True)
class VolumeLeft:
    """What is left of a number's plan, as the carrier last confirmed it."""

    remaining: DataVolume
    last_status_time: datetime


@dataclass(frozen=True, slots=True)
class Tenure:
    """One person's time with one number: what a registration is in the carrier's own books."""

    ref: RegistrationRef
    identity_id: str
    number: str
    began_at: datetime


@dataclass(frozen=True, slots=True)
class Changes:
    """Facts in the order in which the carrier learnt them, and where to go on.

    Attributes:
        entries: the facts.
        cursor: what to ask with next time; opaque.
        has_more: whether there is more already.
    """

    entries: tuple[FeedEntry, ...]
    cursor: str
    has_more: bool


class CarrierBackend(Protocol):
    """A carrier's systems.

    Every question raises `NumberUnknown`, `QuestionRefused` or `CarrierUnavailable` where it has no
    answer; there are no guesses.
    """

    @property
    def carrier_id(self) -> str:
        """Whose systems they are."""
        ...

    async def changes(self, cursor: str | None, limit: int) -> Changes:
        """What became of the carrier's registrations since `cursor`; all there is without one.

        Args:
            cursor: where the last answer ended.
            limit: at most so many facts.
        """
        ...

    async def reachability(self, number: str) -> Reachability:
        """Whether a number, in E.164, can be reached."""
        ...

    async def latest_sim_change(self, number: str) -> SimChange:
        """When the SIM behind a number last changed."""
        ...

    async def recycled(self, number: str, since: date) -> bool:
        """Whether a number belongs to somebody else than on a day in the past."""
        ...

    async def data_volume(self, number: str) -> VolumeLeft:
        """What is left of a number's plan."""
        ...


class Subscribers(Protocol):
    """A carrier's own books: which registration a number is, or was."""

    async def live(self, after: str | None, limit: int) -> tuple[Tenure, ...]:
        """Who has a number at this carrier now, in the order of the numbers.

        Args:
            after: the last number of the page before, none for the first page.
            limit: at most so many.
        """
        ...

    async def tenures(self, number: str) -> tuple[Tenure, ...]:
        """Who has had a number at this carrier, the latest last; empty if nobody ever."""
        ...
