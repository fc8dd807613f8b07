"""What a terminal gets back for a command."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorBody, Refusal


class Result(Message):
    """The part of a reply that is particular to the command; its `TYPE` is the command's."""


class Done(Result):
    """The command took effect; there is nothing more to say."""

    TYPE: ClassVar[str] = "done"


class Reply(Message):
    """The one answer to a command, the same however often the command arrives.

    `result` is the command's own result (see the command's `RESULT`); `error` is set instead when
    the command had no effect.
    """

    TYPE: ClassVar[str] = "reply"

    status: Literal["ok", "error"]
    command: str
    result: dict[str, Any] = Field(default_factory=dict)
    error: ErrorBody | None = None

    @classmethod
    def ok(cls, command: str, result: Result) -> "Reply":
        """The command took effect."""
        return cls(status="ok", command=command, result=result.payload())

    @classmethod
    def refused(cls, command: str, refusal: Refusal) -> "Reply":
        """The command had no effect."""
        return cls(status="error", command=command, error=refusal.body)
