"""Postal addresses (RFC 9553, section 2.5.1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contactmesh.contacts.jscontact.base import Flags, JSContactObject, Preference


class AddressComponent(JSContactObject):
    """One part of an address; `kind` is for example `number`, `name`, `locality`, `country`."""

    type_: Literal["AddressComponent"] | None = Field(None, alias="@type")
    value: str
    kind: str
    phonetic: str | None = None


class Address(JSContactObject):
    """A postal address or a place."""

    type_: Literal["Address"] | None = Field(None, alias="@type")
    components: list[AddressComponent] | None = None
    is_ordered: bool | None = None
    country_code: str | None = None
    coordinates: str | None = None
    time_zone: str | None = None
    contexts: Flags | None = None
    full: str | None = None
    default_separator: str | None = None
    pref: Preference | None = None
    phonetic_script: str | None = None
    phonetic_system: str | None = None
