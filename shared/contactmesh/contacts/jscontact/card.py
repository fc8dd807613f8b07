"""The card itself (RFC 9553, section 2; RFC 9982 makes `uid` optional in version 2.0)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field, JsonValue, StringConstraints

from contactmesh.contacts.identity import derived_uid
from contactmesh.contacts.jscontact.base import Flags, Id, JSContactObject, Json, UtcDateTime
from contactmesh.contacts.jscontact.communication import (
    Email,
    LanguagePref,
    OnlineService,
    Phone,
)
from contactmesh.contacts.jscontact.deferred import DeferredObject
from contactmesh.contacts.jscontact.names import Name, Nickname, Organization, SpeakToAs, Title
from contactmesh.contacts.jscontact.personal import Anniversary, Note, PersonalInfo, Relation
from contactmesh.contacts.jscontact.places import Address
from contactmesh.contacts.jscontact.resources import (
    Calendar,
    CryptoKey,
    Directory,
    Link,
    Media,
    SchedulingAddress,
)


def _derived(fields: dict[str, Any]) -> str:
    plain = {
        name: value.to_json() if isinstance(value, JSContactObject) else _plain(value)
        for name, value in fields.items()
        if value is not None
    }
    return derived_uid(plain)


def _plain(value: object) -> JsonValue:
    if isinstance(value, dict):
        return {
            key: item.to_json() if isinstance(item, JSContactObject) else cast("JsonValue", item)
            for key, item in value.items()
        }
    return cast("JsonValue", value)


class Card(DeferredObject):
    """A contact: a person, group, organisation, place or thing.

    A card of version 2.0 may come without a `uid` (RFC 9982); it is then given one derived from
    its contents, so that reading the same card again gives the same identity.
    """

    type_: Literal["Card"] = Field("Card", alias="@type")
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+$")] = "1.0"
    created: UtcDateTime | None = None
    kind: str | None = None
    language: str | None = None
    members: Flags | None = None
    prod_id: str | None = None
    related_to: dict[str, Relation] | None = None
    updated: UtcDateTime | None = None

    name: Name | None = None
    nicknames: dict[Id, Nickname] | None = None
    organizations: dict[Id, Organization] | None = None
    speak_to_as: SpeakToAs | None = None
    titles: dict[Id, Title] | None = None

    emails: dict[Id, Email] | None = None
    online_services: dict[Id, OnlineService] | None = None
    phones: dict[Id, Phone] | None = None
    preferred_languages: dict[Id, LanguagePref] | None = None

    calendars: dict[Id, Calendar] | None = None
    scheduling_addresses: dict[Id, SchedulingAddress] | None = None
    addresses: dict[Id, Address] | None = None
    crypto_keys: dict[Id, CryptoKey] | None = None
    directories: dict[Id, Directory] | None = None
    links: dict[Id, Link] | None = None
    media: dict[Id, Media] | None = None

    localizations: dict[str, dict[str, Json]] | None = None
    anniversaries: dict[Id, Anniversary] | None = None
    keywords: Flags | None = None
    notes: dict[Id, Note] | None = None
    personal_info: dict[Id, PersonalInfo] | None = None

    v_card_props: list[list[Json]] | None = Field(None, alias="vCardProps")
    """vCard properties without a counterpart, as jCard writes them (RFC 9555, section 3.2.1)."""

    uid: Annotated[str, StringConstraints(min_length=1)] = Field(default_factory=_derived)
    """The identity. Declared last: a derived one is made from all the other properties."""

    def _complete(self, document: dict[str, JsonValue]) -> None:
        if "uid" not in document:
            document["uid"] = derived_uid(document)
