"""How fast one terminal may send commands, so that a flood by one is not everybody's wait.

Refusing a command costs a fraction of deciding it. The account is kept in each process: with more
copies of a service there is more room for everybody, and for a flood as well.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contactmesh.contracts.errors import ErrorCode, Refusal

REMEMBERED: Final = 10_000
"""Terminals whose account is kept; one that was forgotten begins with a full one."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What a terminal may send: `burst` commands at once, and `per_second` in the long run."""

    burst: int = 500
    per_second: float = 50.0


@dataclass(slots=True)
class _Account:
    left: float
    at: datetime


class PaceKeeper:
    """Keeps every terminal's account (a token bucket)."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def spend(self, terminal_id: str, now: datetime) -> None:
        """Count one command.

        Raises:
            Refusal: `rate_limited`, with the seconds after which there is room again.
        """
        pace = self._pace
        account = self._accounts.get(terminal_id)
        if account is None:
            account = self._accounts[terminal_id] = _Account(pace.burst, now)
            if len(self._accounts) > REMEMBERED:
                self._accounts.popitem(last=False)
        self._accounts.move_to_end(terminal_id)
        # A clock that steps back gives nothing and takes nothing.
        passed = max(0.0, (now - account.at).total_seconds())
        account.left = min(pace.burst, account.left + passed * pace.per_second)
        account.at = now
        if account.left < 1:
            raise Refusal(
                ErrorCode.RATE_LIMITED,
                f"Too many commands at once; at most {pace.per_second:g} a second in the long run. "
                "Send it again later, under the same id.",
                retry_after_seconds=round((1 - account.left) / pace.per_second + 1, 3),
            )
        account.left -= 1
