"""Ways to reach someone: phones, e-mail, online services, languages (RFC 9553, section 2.3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contactmesh.contacts.jscontact.base import Flags, JSContactObject, Preference

CARRIER_PROPERTY = "contactmesh.org:carrier"
"""The vendor property (RFC 9553, section 1.8.1) that holds a phone's carrier data."""


class CarrierLine(JSContactObject):
    """The carrier registration behind a phone number.

    `carrier_id` and `registration_seq` together name one tenure of a number: a number given to
    someone else has another sequence. What the prefix says about who first held the range has
    no place here.
    """

    carrier_id: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,31}$")] | None = None
    registration_seq: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,18}$")] | None = None
    """Decimal digits as a string: JavaScript loses integers above 2**53."""
    plmn: Annotated[str, StringConstraints(pattern=r"^[0-9]{3}-[0-9]{2,3}$")] | None = None
    """Mobile country and network code with the hyphen, for example `460-00` (ITU-T E.212)."""
    line_type: str | None = None
    ported: bool | None = None


class Phone(JSContactObject):
    """A phone number as it was typed, or a `tel:` URI (section 2.3.3)."""

    type_: Literal["Phone"] | None = Field(None, alias="@type")
    number: str
    features: Flags | None = None
    contexts: Flags | None = None
    pref: Preference | None = None
    label: str | None = None
    carrier: CarrierLine | None = Field(None, alias=CARRIER_PROPERTY)


class Email(JSContactObject):
    """An e-mail address (section 2.3.1)."""

    type_: Literal["EmailAddress"] | None = Field(None, alias="@type")
    address: str
    contexts: Flags | None = None
    pref: Preference | None = None
    label: str | None = None


class OnlineService(JSContactObject):
    """An account at an online service: instant messaging, social network (section 2.3.2)."""

    type_: Literal["OnlineService"] | None = Field(None, alias="@type")
    service: str | None = None
    uri: str | None = None
    user: str | None = None
    contexts: Flags | None = None
    pref: Preference | None = None
    label: str | None = None
    v_card_name: str | None = Field(None, alias="vCardName")
    """The vCard property it came from, where that is not SOCIALPROFILE (RFC 9555)."""


class LanguagePref(JSContactObject):
    """A language to use with the entity (section 2.3.4)."""

    type_: Literal["LanguagePref"] | None = Field(None, alias="@type")
    language: str
    contexts: Flags | None = None
    pref: Preference | None = None
