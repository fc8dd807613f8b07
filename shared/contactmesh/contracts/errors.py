"""The closed list of errors that a reply can carry (DESIGN §4)."""

import re
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic_core import ErrorDetails

NAME: Final = re.compile("[A-Za-z_]{1,40}")
MOST_FIELDS: Final = 20
MOST_NAMED: Final = 3


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
    """A command is answered with an error from the closed list; nothing was changed.

    `body` is for the sender, who knows what it wrote. `reason` is for logs and parking queues: it
    holds codes and the names of outer fields, and nothing that could quote a contact detail.
    """

    def __init__(
        self, code: ErrorCode, message: str, reason: str = "", /, **details: JsonValue
    ) -> None:
        super().__init__(message)
        self.body = ErrorBody(code=code, message=message, details=details)
        self.reason = f"{code.value}: {reason}" if reason else code.value


def invalid_fields(error: ValidationError, *, at: tuple[str, ...] = ()) -> Refusal:
    """Turn a failed validation into `invalid_argument`, naming every field by its path.

    The sender is told the whole path and the problem in words, both of which may hold what it
    wrote: keys are part of a path, and a validator may quote a value. `Refusal.reason` has neither.
    """
    found = error.errors(include_input=False, include_url=False, include_context=False)
    fields: list[JsonValue] = [
        {"path": _path(*at, *item["loc"]), "problem": item["msg"]} for item in found[:MOST_FIELDS]
    ]
    shallow = [(_shallow(item, at), item["type"]) for item in found[:MOST_FIELDS]]
    paths = ", ".join(dict.fromkeys(path or "the body" for path, _ in shallow[:MOST_NAMED]))
    return Refusal(
        ErrorCode.INVALID_ARGUMENT,
        f"Correct the command and send it under a new id; see {paths}.",
        ", ".join(f"{path or 'the body'} {kind}" for path, kind in shallow),
        fields=fields,
    )


def invalid_field(path: str, problem: str) -> Refusal:
    """`invalid_argument` for a single field, `path` being its JSON pointer.

    Both are logged: the path is one that we wrote, of an outer field, and the problem in our words.
    """
    return Refusal(
        ErrorCode.INVALID_ARGUMENT,
        f"Correct the command and send it under a new id; see {path or 'the body'}.",
        f"{path or 'the body'} {problem}",
        fields=[{"path": path, "problem": problem}],
    )


def _path(*parts: str | int) -> str:
    return "".join(f"/{part}" for part in parts)


def _shallow(item: ErrorDetails, at: tuple[str, ...]) -> str:
    """The path down to the outermost field; the name of an unknown field is the sender's."""
    first = item["loc"][:1]
    if item["type"] == "extra_forbidden" or not all(NAME.fullmatch(str(part)) for part in first):
        return _path(*at)
    return _path(*at, *first)
