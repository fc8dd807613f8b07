"""What is still to be done on the broker for a terminal, after the database has decided.

Database and broker share no transaction. So what the broker has to be told is noted in the same
transaction as the decision, and done until it is done.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

ABANDONED_AFTER: Final = timedelta(minutes=5)
"""Longer than any enrolment takes, with all its waiting for broker and database."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """A terminal whose traces on the broker have to go, unless it is enrolled and active.

    The same for an integrator by its account, unless it is there. Of a terminal that has to change
    its secret only the connections go.

    Due at `due_at`, and once more at `until`, which is not before.
    """

    terminal_id: str
    due_at: datetime
    until: datetime

    def after(self, done_at: datetime) -> "Upkeep | None":
        """What remains when it was done at this time; nothing, if that was late enough."""
        if done_at >= self.until:
            return None
        return replace(self, due_at=self.until)


def if_abandoned(terminal_id: str, now: datetime) -> Upkeep:
    """For an enrolment about to declare a queue: in case that it dies before it commits."""
    due_at = now + ABANDONED_AFTER
    return Upkeep(terminal_id, due_at, due_at)


def after_revoking(terminal_id: str, now: datetime, broker_cache: timedelta) -> Upkeep:
    """For a terminal just revoked, or told to change its secret.

    The broker believes our answers for as long as its cache lives. A terminal whose connection was
    closed may get back in on such an answer, so connections are closed once more after that time.
    """
    return Upkeep(terminal_id, now, now + broker_cache)
