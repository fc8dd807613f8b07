"""Who has had one number of one carrier's, one after the other: a number has one holder there."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, Self

from carrier_registry_service.domain.registration import Beginning, Ref, Registration


class Holder(NamedTuple):
    """A tenure of a number. Of two that began at one time the one issued later comes later."""

    valid_from: datetime
    ref: Ref
    identity_id: str

    @classmethod
    def of(cls, ref: Ref, began: Beginning) -> Self:
        """The tenure that a registration is."""
        return cls(began.valid_from, ref, began.identity_id)


@dataclass(frozen=True, slots=True)
class Holders:
    """All tenures of one number at one carrier, in their order.

    They are found by the number alone, since a carrier that gives a number on may not say whose it
    was. `etag` guards them: two that begin at once in two processes have to see each other.
    """

    carrier_id: str
    msisdn: str
    known: tuple[Holder, ...] = ()
    etag: int = 0

    def having(self, holder: Holder) -> "Holders":
        """With one more tenure."""
        return replace(self, known=tuple(sorted({*self.known, holder})))

    def before(self, holder: Holder) -> Holder | None:
        """The tenure just before another one."""
        place = bisect_left(self.known, holder)
        return self.known[place - 1] if place else None

    def passed_on(self, holder: Holder) -> datetime | None:
        """Since when somebody else has the number after a tenure."""
        later = self.known[bisect_right(self.known, holder) :]
        return next(
            (one.valid_from for one in later if one.identity_id != holder.identity_id), None
        )


def losing(registrations: Iterable[Registration], to: Holder, msisdn: str) -> list[Registration]:
    """Those of one person's registrations that end, or end earlier, since somebody else came.

    Args:
        registrations: all of a person's.
        to: whose tenure of the number began.
        msisdn: the number, at the carrier that `to` is at.
    """
    return [
        replace(one, passed_on=to.valid_from)
        for one in registrations
        if one.began is not None
        and (one.ref.carrier_id, one.began.msisdn) == (to.ref.carrier_id, msisdn)
        and Holder.of(one.ref, one.began) < to
        and (one.passed_on is None or one.passed_on > to.valid_from)
    ]
