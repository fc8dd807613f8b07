"""What happened to a user's terminals and secrets, as the user may read it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from contactmesh.contracts.identity import AccessKind

KEPT_DAYS: Final = 90


@dataclass(frozen=True, slots=True)
class Access:
    """One line of a user's access log; it happened `count` times between `at` and `last_at`."""

    id: str
    user_id: str
    kind: AccessKind
    at: datetime
    last_at: datetime
    terminal_id: str | None = None
    count: int = 1

    @classmethod
    def once(
        cls, kind: AccessKind, user_id: str, now: datetime, terminal_id: str | None = None
    ) -> "Access":
        """Something that happens once, such as an enrolment."""
        subject = terminal_id or user_id
        return cls(f"{subject}/{kind}/{now.isoformat()}", user_id, kind, now, now, terminal_id)


def hour_id(subject: str, kind: AccessKind, now: datetime) -> str:
    """The line that counts what happens in one hour: a flood of it is one line."""
    return f"{subject}/{kind}/{now.astimezone(UTC):%Y-%m-%dT%H}"
