"""Secrets as they are stored: never as they are."""

import hashlib
import hmac
from base64 import b32encode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

SALT_BYTES: Final = 16
TERMINAL_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SecretHash:
    """A salted SHA-256 of a secret.

    No slow hash is needed: every secret here is drawn by the service itself, with 80 bits for a
    code that lives a day and 256 bits for a terminal. Slowing down each guess helps against
    guessing what people choose, and would make every connection to the broker slow.
    """

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, secret: str, salt: bytes) -> "SecretHash":
        """Hash a secret with a salt of `SALT_BYTES` random bytes."""
        return cls(salt, _digest(secret, salt))

    def matches(self, secret: str) -> bool:
        """Whether this is the secret, in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(self.digest, _digest(secret, self.salt))


def _digest(secret: str, salt: bytes) -> bytes:
    return hashlib.sha256(salt + secret.encode()).digest()


def base32(random: bytes) -> str:
    """Random bytes as a-z and 2-7, which people can read to each other; no padding for 5n bytes."""
    return b32encode(random).decode().lower().rstrip("=")


def secret_text(random: bytes) -> str:
    """Random bytes as text that needs no quoting in a URL."""
    return urlsafe_b64encode(random).decode().rstrip("=")
