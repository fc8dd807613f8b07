"""Things behind a URI: media, links, keys, calendars, directories (RFC 9553, 2.4 and 2.6)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contactmesh.contacts.jscontact.base import Flags, JSContactObject, Preference, UnsignedInt


class Resource(JSContactObject):
    """What all resources have (section 1.4.4)."""

    uri: str
    kind: str | None = None
    media_type: str | None = None
    contexts: Flags | None = None
    pref: Preference | None = None
    label: str | None = None


class Calendar(Resource):
    """A calendar, `kind` being `calendar` or `freeBusy` (section 2.4.1)."""

    type_: Literal["Calendar"] | None = Field(None, alias="@type")


class CryptoKey(Resource):
    """A public key or certificate (section 2.6.1)."""

    type_: Literal["CryptoKey"] | None = Field(None, alias="@type")


class Directory(Resource):
    """A directory service, `kind` being `directory` or `entry` (section 2.6.2)."""

    type_: Literal["Directory"] | None = Field(None, alias="@type")
    list_as: UnsignedInt | None = None


class Link(Resource):
    """A web page or other resource; `kind` `contact` asks to contact there (section 2.6.3)."""

    type_: Literal["Link"] | None = Field(None, alias="@type")


class Media(Resource):
    """A photo, logo or sound; embedded media are `data:` URIs (section 2.6.4)."""

    type_: Literal["Media"] | None = Field(None, alias="@type")


class SchedulingAddress(JSContactObject):
    """Where calendar invitations go (section 2.4.2)."""

    type_: Literal["SchedulingAddress"] | None = Field(None, alias="@type")
    uri: str
    contexts: Flags | None = None
    pref: Preference | None = None
    label: str | None = None
