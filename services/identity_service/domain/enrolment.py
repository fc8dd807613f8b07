"""One-time enrolment codes: `<public part>-<secret part>`.

The public part says which code is meant, so that wrong guesses count against that one code, and the
hash of the secret part can have a salt. A wrong, a used and an expired code get the same answer.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from contactmesh.contracts.errors import ErrorCode, Refusal
from identity_service.domain.secret import SecretHash, base32
from identity_service.domain.user import Limits, User

PUBLIC_BYTES: Final = 5
SECRET_BYTES: Final = 10
MAX_WRONG_GUESSES: Final = 5


@dataclass(frozen=True, slots=True)
class CodeText:
    """A code as a person types it, taken apart. Case and surrounding space do not matter."""

    public: str
    secret: str

    @classmethod
    def drawn(cls, public: bytes, secret: bytes) -> "CodeText":
        """A new code from `PUBLIC_BYTES` and `SECRET_BYTES` random bytes."""
        return cls(base32(public), base32(secret))

    @classmethod
    def parse(cls, text: str) -> "CodeText":
        """Take a code apart; text that is no code makes one that does not exist."""
        public, _, secret = text.strip().lower().partition("-")
        return cls(public, secret)

    def __str__(self) -> str:
        return f"{self.public}-{self.secret}"


@dataclass(frozen=True, slots=True)
class Code:
    """A code as it is stored; `id` is its public part."""

    id: str
    user_id: str
    secret: SecretHash
    expires_at: datetime
    wrong_guesses: int = 0
    used: bool = False
    etag: int = 0

    def open(self, now: datetime) -> bool:
        """Whether the code can still be traded for credentials."""
        return not self.used and self.wrong_guesses < MAX_WRONG_GUESSES and now < self.expires_at


def mint(
    user: User,
    codes: list[Code],
    text: CodeText,
    *,
    salt: bytes,
    lifetime: timedelta,
    limits: Limits,
    now: datetime,
) -> Code:
    """A new code for a user who has these `codes`.

    Raises:
        Refusal: `quota_exceeded`, too many of them are still open.
    """
    open_codes = sum(code.open(now) for code in codes)
    if open_codes >= limits.open_codes:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"{user.id} has {open_codes} codes that were not used yet, which is the limit. "
            "Use one of them, or wait until they expire.",
            limit=limits.open_codes,
        )
    return Code(text.public, user.id, SecretHash.of(text.secret, salt), now + lifetime)


@dataclass(frozen=True, slots=True)
class Guess:
    """What came of somebody's showing a code: its new state, and whether it was right."""

    code: Code
    right: bool


def guess(code: Code | None, text: CodeText, now: datetime) -> Guess:
    """Try a code.

    The caller must store the code's new state, if it differs, before telling anything: otherwise
    guesses made at once would count as one.

    Raises:
        Refusal: `unauthenticated`, there is no such code, or it is used, expired or dead.
    """
    if code is None or not code.open(now):
        raise code_refused()
    if code.secret.matches(text.secret):
        return Guess(replace(code, used=True), right=True)
    return Guess(replace(code, wrong_guesses=code.wrong_guesses + 1), right=False)


def code_refused() -> Refusal:
    """The one answer to every code that cannot be traded."""
    return Refusal(
        ErrorCode.UNAUTHENTICATED,
        "This code is wrong, used or expired. Check it, or ask the operator for a new one.",
    )
