"""Terminals: their ids, their secrets, their end."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from identity_service.domain.secret import SecretHash, base32

TERMINAL_SUFFIX_BYTES: Final = 5


def terminal_id(user_id: str, random: bytes) -> str:
    """The id of a new terminal, from `TERMINAL_SUFFIX_BYTES` random bytes."""
    return f"{user_id}_{base32(random)}"


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal that was enrolled. Once revoked it stays so, and its id is never given again."""

    id: str
    user_id: str
    name: str
    secret: SecretHash
    enrolled_at: datetime
    revoked_at: datetime | None = None
    etag: int = 0

    @property
    def active(self) -> bool:
        """Whether it may do anything at all."""
        return self.revoked_at is None

    def authenticates(self, secret: str) -> bool:
        """Whether somebody who shows this secret is the terminal."""
        return self.active and self.secret.matches(secret)

    def revoked(self, now: datetime) -> "Terminal":
        """The terminal without its rights."""
        return replace(self, revoked_at=now)
