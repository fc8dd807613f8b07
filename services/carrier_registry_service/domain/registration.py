"""A registration: one tenure of one number at one carrier, as far as facts about it have come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from contactmesh.contracts.carrier.records import (
    DataVolume,
    EndReason,
    LineType,
    NetworkState,
    RegistrationRef,
)


class Ref(NamedTuple):
    """What names a registration; it sorts by carrier, then in the order of issue."""

    carrier_id: str
    seq: int

    @classmethod
    def of(cls, sent: RegistrationRef) -> "Ref":
        """A reference as it stands in a message."""
        return cls(sent.carrier_id, int(sent.registration_seq))

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """The canonical text, such as `cn-mobile:1048577`, read back."""
        carrier_id, _, seq = text.partition(":")
        return cls(carrier_id, int(seq))

    def __str__(self) -> str:
        return f"{self.carrier_id}:{self.seq}"

    def shown(self) -> RegistrationRef:
        """The reference as messages carry it."""
        return RegistrationRef(carrier_id=self.carrier_id, registration_seq=str(self.seq))


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a registration began."""

    identity_id: str
    msisdn: str
    line_type: LineType
    valid_from: datetime
    replaces: Ref | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """That a registration ended, and why."""

    valid_to: datetime
    reason: EndReason


@dataclass(frozen=True, slots=True)
class StateAt:
    """A state that the network saw."""

    value: NetworkState
    at: datetime


@dataclass(frozen=True, slots=True)
class UsageAt:
    """What was left of the plan."""

    value: DataVolume
    at: datetime


@dataclass(frozen=True, slots=True)
class Description:
    """What the owner shares about a number (row C6)."""

    labels: tuple[str, ...] = ()
    dial_priority: int | None = None


NO_DESCRIPTION: Final = Description()
FINAL_REASONS: Final = frozenset({EndReason.RECYCLED, EndReason.ERASED})
"""No report about a registration that ended so is kept for the person who had it."""


@dataclass(frozen=True, slots=True)
class Registration:
    """The join of the facts about one registration: any part may come first, or be missing yet.

    `endings` are at most one for each stage: that the subscriber left, that the number was given
    on, that the data were erased. `description` is the owner's, none where they said nothing.
    `passed_on` is since when its carrier has a later registration of the number for somebody else;
    it follows from the beginnings of both, and ends this one if its carrier says nothing of it.
    """

    ref: Ref
    began: Beginning | None = None
    endings: tuple[Ending, ...] = ()
    state: StateAt | None = None
    usage: UsageAt | None = None
    description: Description | None = None
    passed_on: datetime | None = None

    @property
    def ended(self) -> bool:
        """Whether it ended, for whatever reason."""
        return bool(self.endings) or self.passed_on is not None

    @property
    def given_on(self) -> datetime | None:
        """Since when somebody else has had the number: what its carrier says of it counts first."""
        for ending in self.endings:
            if ending.reason is EndReason.RECYCLED:
                return ending.valid_to
        return self.passed_on

    @property
    def erased(self) -> bool:
        """Whether the data were erased: nothing that was said of it is kept."""
        return any(ending.reason is EndReason.ERASED for ending in self.endings)

    @property
    def closed(self) -> bool:
        """Whether its carrier told that the number was given on or the data were erased.

        Reports about it say nothing of its subscriber any more.
        """
        return any(ending.reason in FINAL_REASONS for ending in self.endings)


def newest_first(registrations: Sequence[Registration]) -> list[Registration]:
    """Registrations that began, the latest first."""
    begun = [one for one in registrations if one.began is not None]
    return sorted(begun, key=lambda one: (_valid_from(one), one.ref), reverse=True)


def _valid_from(registration: Registration) -> datetime:
    assert registration.began is not None  # noqa: S101 - only asked of those that began
    return registration.began.valid_from
