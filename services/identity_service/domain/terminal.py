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
    """A terminal that was enrolled. Once revoked it stays so, and its id is never given again.

    A secret is changed in two steps, so that an answer that got lost locks nobody out:
    `next_secret` is good beside the old one, and takes its place at its first use. With
    `must_rotate` the old one is good for nothing but being traded for the next.
    """

    id: str
    user_id: str
    name: str
    secret: SecretHash
    enrolled_at: datetime
    revoked_at: datetime | None = None
    next_secret: SecretHash | None = None
    must_rotate: bool = False
    etag: int = 0

    @property
    def active(self) -> bool:
        """Whether it may do anything at all."""
        return self.revoked_at is None

    def authenticates(self, secret: str) -> bool:
        """Whether somebody who shows this secret is the terminal, and may do what it may."""
        if not self.active:
            return False
        return self._is_next(secret) or (not self.must_rotate and self.secret.matches(secret))

    def may_rotate(self, secret: str) -> bool:
        """Whether somebody who shows this secret may have the next one."""
        return self.active and (self._is_next(secret) or self.secret.matches(secret))

    def used(self, secret: str) -> "Terminal":
        """The terminal after a secret was shown: the next one is now the only one."""
        if self.next_secret is None or not self._is_next(secret):
            return self
        return replace(self, secret=self.next_secret, next_secret=None, must_rotate=False)

    def with_next(self, secret: SecretHash) -> "Terminal":
        """The terminal with another secret to change to, in place of one that was never used."""
        return replace(self, next_secret=secret)

    def told_to_rotate(self) -> "Terminal":
        """The terminal that has to change its secret before it may do anything else."""
        return replace(self, must_rotate=True)

    def _is_next(self, secret: str) -> bool:
        return self.next_secret is not None and self.next_secret.matches(secret)

    def revoked(self, now: datetime) -> "Terminal":
        """The terminal without its rights."""
        return replace(self, revoked_at=now)
