"""The envelope of every message: CloudEvents 1.0, structured JSON (DESIGN §4)."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import from_json

from contactmesh.contracts.errors import invalid_field, invalid_fields
from contactmesh.contracts.identifiers import MessageId

CONTENT_TYPE = "application/cloudevents+json"
BATCH_CONTENT_TYPE = "application/cloudevents-batch+json"
"""Of a message with an array of several envelopes (CloudEvents JSON format, section 4)."""

Traceparent = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
]


class Message(BaseModel):
    """The `data` of an envelope.

    Consumers ignore fields that they do not know. Producers cannot write any: a message is built
    by its constructor, and the type checker refuses a field that is not declared.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    TYPE: ClassVar[str]
    """The CloudEvents `type`: what the message is."""

    def payload(self) -> dict[str, Any]:
        """The message as JSON values, absent ones left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Envelope(BaseModel):
    """One CloudEvent with our extension attributes.

    `correlationid` is the id of the command at the beginning of the chain, `causationid` that of
    the message that led to this one directly, `sequence` the revision of what the message speaks
    of, zero-padded so that it sorts as text.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    specversion: Literal["1.0"] = "1.0"
    id: MessageId
    source: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    type: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    time: AwareDatetime
    subject: Annotated[str, StringConstraints(max_length=200)] | None = None
    datacontenttype: Literal["application/json"] = "application/json"
    correlationid: MessageId | None = None
    causationid: MessageId | None = None
    traceparent: Traceparent | None = None
    sequence: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")] | None = None
    data: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(
        cls,
        message: Message,
        *,
        id: str,  # noqa: A002 - the CloudEvents attribute
        source: str,
        time: datetime,
        subject: str | None = None,
        cause: "Envelope | None" = None,
        sequence: int | None = None,
    ) -> Self:
        """Wrap a message. `cause` is the message that led to this one, if any."""
        return cls(
            id=id,
            source=source,
            type=message.TYPE,
            time=time,
            subject=subject,
            correlationid=(cause.correlationid or cause.id) if cause else id,
            causationid=cause.id if cause else None,
            traceparent=cause.traceparent if cause else None,
            sequence=None if sequence is None else f"{sequence:020d}",
            data=message.payload(),
        )

    def encode(self) -> bytes:
        """The envelope as UTF-8 JSON."""
        return self.model_dump_json(exclude_none=True).encode()

    @classmethod
    def decode(cls, body: bytes) -> Self:
        """Read an envelope.

        Raises:
            Refusal: `invalid_argument`, naming the attributes that are wrong, or the body itself
                when it is not UTF-8 JSON.
        """
        return cls._checked(_json_of(body))

    @classmethod
    def decode_all(cls, body: bytes) -> list[Self]:
        """Read what a message of an event exchange brings: one envelope, or an array of several.

        Raises:
            Refusal: as `decode`; one bad envelope spoils all.
        """
        read = _json_of(body)
        return [cls._checked(one) for one in (read if isinstance(read, list) else [read])]

    @classmethod
    def _checked(cls, read: object) -> Self:
        try:
            return cls.model_validate(read)
        except ValidationError as error:
            raise invalid_fields(error) from error


def _json_of(body: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise invalid_field("", f"not UTF-8 at byte {error.start}") from error
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise invalid_field("", f"not JSON: {error}") from error
