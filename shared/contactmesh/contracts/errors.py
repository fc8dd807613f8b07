"""The closed list of errors that a reply can carry (DESIGN §4)."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError


class ErrorCode(StrEnum):
    """Every code that a terminal has to understand. Nothing outside this list is ever sent."""

    INVALID_ARGUMENT = "invalid_argument"
    """The command is malformed; `details.fields` names each field by its path."""
    UNAUTHENTICATED = "unauthenticated"
    """The terminal is unknown or was revoked. Enrol again."""
    PERMISSION_DENIED = "permission_denied"
    """The sender may see this, but may not do that."""
    NOT_FOUND = "not_found"
    """No such thing, or nothing that the sender may know of; the two look alike."""
    CONFLICT = "conflict"
    """The state moved on; `details.current_rev` is what to base the next try on."""
    FULL_SYNC_REQUIRED = "full_sync_required"
    """The cursor cannot be continued from. Pull again without one."""
    TOO_LARGE = "too_large"
    """The message or the card is over its limit, which `details.limit_bytes` gives."""
    QUOTA_EXCEEDED = "quota_exceeded"
    """The sender has as many as are allowed; `details.limit` gives the number."""
    RATE_LIMITED = "rate_limited"
    """Too fast. Try again after `details.retry_after_seconds`."""
    UNAVAILABLE = "unavailable"
    """The service cannot answer now. The same command, under the same id, may be sent again."""
    INTERNAL = "internal"
    """A fault of ours; the command had no effect and was set aside for the operator."""


class ErrorBody(BaseModel):
    """What a reply says when the command had no effect."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    code: ErrorCode
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Refusal(Exception):
    """A command is answered with an error from the closed list; nothing was changed."""

    def __init__(self, code: ErrorCode, message: str, **details: JsonValue) -> None:
        super().__init__(message)
        self.body = ErrorBody(code=code, message=message, details=details)


def invalid_fields(error: ValidationError, *, at: tuple[str, ...] = ()) -> Refusal:
    """Turn a failed validation into `invalid_argument`, naming every field by its path.

    The offending values are left out: they may be contact details, and errors are logged.
    """
    found = [
        ("".join(f"/{part}" for part in (*at, *item["loc"])), item["msg"])
        for item in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    fields: list[JsonValue] = [{"path": path, "problem": problem} for path, problem in found[:20]]
    paths = ", ".join(path or "the body" for path, _ in found[:3])
    return Refusal(
        ErrorCode.INVALID_ARGUMENT,
        f"Correct the command and send it under a new id; see {paths}.",
        fields=fields,
    )


def invalid_field(path: str, problem: str) -> Refusal:
    """`invalid_argument` for a single field, `path` being its JSON pointer."""
    return Refusal(
        ErrorCode.INVALID_ARGUMENT,
        f"Correct the command and send it under a new id; see {path or 'the body'}.",
        fields=[{"path": path, "problem": problem}],
    )
