"""Anniversaries, notes, interests and relations (RFC 9553, sections 2.1.8 and 2.8)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from contactmesh.contacts.jscontact.base import Flags, JSContactObject, UnsignedInt, UtcDateTime
from contactmesh.contacts.jscontact.places import Address


class PartialDate(JSContactObject):
    """A date of which parts may be unknown (section 2.8.1)."""

    type_: Literal["PartialDate"] | None = Field(None, alias="@type")
    year: UnsignedInt | None = None
    month: Annotated[int, Field(ge=1, le=12)] | None = None
    day: Annotated[int, Field(ge=1, le=31)] | None = None
    calendar_scale: str | None = None


class Timestamp(JSContactObject):
    """A point in time (section 2.8.1)."""

    type_: Literal["Timestamp"] = Field("Timestamp", alias="@type")
    utc: UtcDateTime


def _date_type(value: object) -> str:
    if isinstance(value, dict):
        return "Timestamp" if value.get("@type") == "Timestamp" else "PartialDate"
    return "Timestamp" if isinstance(value, Timestamp) else "PartialDate"


class Anniversary(JSContactObject):
    """A memorable date: `kind` is `birth`, `death`, `wedding` or another (section 2.8.1)."""

    type_: Literal["Anniversary"] | None = Field(None, alias="@type")
    kind: str
    date: Annotated[
        Annotated[PartialDate, Tag("PartialDate")] | Annotated[Timestamp, Tag("Timestamp")],
        Discriminator(_date_type),
    ]
    place: Address | None = None


class Author(JSContactObject):
    """Who wrote a note (section 2.8.3)."""

    type_: Literal["Author"] | None = Field(None, alias="@type")
    name: str | None = None
    uri: str | None = None


class Note(JSContactObject):
    """A free-text note (section 2.8.3)."""

    type_: Literal["Note"] | None = Field(None, alias="@type")
    note: str
    created: UtcDateTime | None = None
    author: Author | None = None


class PersonalInfo(JSContactObject):
    """Expertise, hobby or interest (section 2.8.4)."""

    type_: Literal["PersonalInfo"] | None = Field(None, alias="@type")
    kind: str
    value: str
    level: str | None = None
    list_as: UnsignedInt | None = None
    label: str | None = None


class Relation(JSContactObject):
    """How another card is related to this one (section 2.1.8)."""

    type_: Literal["Relation"] | None = Field(None, alias="@type")
    relation: Flags | None = None
