"""What every JSContact object shares: names, extensions, strictness (RFC 9553, section 1)."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

# Pydantic's own JsonValue calls back into Python for each value: this one stays in Rust.
Json = TypeAliasType(
    "Json",
    Annotated[
        "str | dict[str, Json] | list[Json] | bool | int | float | None",
        Field(union_mode="left_to_right"),
    ],
)
"""Any JSON value."""

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,255}$")]
"""A map key (RFC 9553, section 1.4.1): 1 to 255 characters of the base64url alphabet."""

UtcDateTime = Annotated[
    str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
]
"""A date and time in UTC (RFC 9553, section 1.4.5), for example `2026-11-30T08:15:00Z`."""

Preference = Annotated[int, Field(ge=1, le=100)]
"""1 is the most preferred, 100 the least; absent is less than any (RFC 9553, section 1.5.3)."""

UnsignedInt = Annotated[int, Field(ge=0, le=2**53 - 1)]

Flags = dict[str, Literal[True]]
"""A set, written as a JSON object whose values are all `true`."""

VCardParams = dict[str, Annotated[str | list[str], Field(union_mode="left_to_right")]]
"""vCard parameters that JSContact has no place for (RFC 9555, section 3.2.2)."""


class JSContactObject(BaseModel):
    """Any object inside a card: unknown and vendor properties are kept as they are.

    Instances are values: to change one, build another with `model_copy(update=...)`. Properties
    are checked strictly (no number is read as a string), enumerations are open as RFC 9553,
    section 1.8.4 asks.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        strict=True,
    )
    __pydantic_extra__: dict[str, Json]

    v_card_params: VCardParams | None = Field(None, alias="vCardParams")
    """Parameters without a counterpart; `group` is the property group's name (RFC 9555)."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the object as plain JSON: JSContact names, no null, extensions included."""
        return cast(
            "dict[str, JsonValue]",
            self.__pydantic_serializer__.to_python(self, by_alias=True, exclude_none=True),
        )
