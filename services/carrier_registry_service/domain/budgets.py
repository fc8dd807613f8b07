"""How much a viewer may ask: what makes an enumeration slow enough to be pointless (row C7).

A window begins with the first use and is over after its length, whatever the clock says of days.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from contactmesh.contracts.errors import ErrorCode, Refusal

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Limits:
    """Distinct identities a day, and failed references an hour."""

    identities: int = 500
    failed: int = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """What a viewer has used up; `etag` guards it against another process that counts too."""

    viewer_id: str
    day_from: datetime | None = None
    identities: int = 0
    hour_from: datetime | None = None
    failed: int = 0
    etag: int = 0

    def at(self, now: datetime) -> "Budget":
        """The budget with windows that are over left behind."""
        current = self
        if current.day_from is not None and now >= current.day_from + DAY:
            current = replace(current, day_from=None, identities=0)
        if current.hour_from is not None and now >= current.hour_from + HOUR:
            current = replace(current, hour_from=None, failed=0)
        return current

    def with_identity(self, now: datetime, limits: Limits) -> "Budget":
        """The budget after asking about one more identity.

        Raises:
            Refusal: `rate_limited`, there were enough of them today.
        """
        if self.identities >= limits.identities:
            assert self.day_from is not None  # noqa: S101 - what was counted has a beginning
            raise _too_much(
                f"You have asked about {self.identities} people, as many as a day allows.",
                self.day_from + DAY - now,
            )
        return replace(self, day_from=self.day_from or now, identities=self.identities + 1)

    def with_failed(self, count: int, now: datetime, limits: Limits) -> "Budget":
        """The budget after wrong references; it never goes beyond the limit."""
        if not count:
            return self
        failed = min(self.failed + count, limits.failed)
        return replace(self, hour_from=self.hour_from or now, failed=failed)

    def room_for(self, failed: int, limits: Limits) -> bool:
        """Whether so many wrong references may still be answered."""
        return self.failed + failed <= limits.failed

    def check_failed(self, now: datetime, limits: Limits) -> None:
        """See that wrong references have not used everything up.

        Raises:
            Refusal: `rate_limited`, they have.
        """
        if self.failed >= limits.failed and self.hour_from is not None:
            raise _too_much(
                "Too many references were none of the people's that you asked about.",
                self.hour_from + HOUR - now,
            )


def _too_much(why: str, wait: timedelta) -> Refusal:
    seconds = max(1, ceil(wait.total_seconds()))
    return Refusal(
        ErrorCode.RATE_LIMITED,
        f"{why} Try again in {seconds} seconds.",
        retry_after_seconds=seconds,
    )
