"""Names, organisations, titles and how to speak of someone (RFC 9553, section 2.2)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contactmesh.contacts.jscontact.base import Flags, Id, JSContactObject, Preference


class NameComponent(JSContactObject):
    """One part of a name; `kind` is for example `given`, `surname`, `title` or `separator`."""

    type_: Literal["NameComponent"] | None = Field(None, alias="@type")
    value: str
    kind: str
    phonetic: str | None = None


class Name(JSContactObject):
    """The name of the entity the card is about (section 2.2.1)."""

    type_: Literal["Name"] | None = Field(None, alias="@type")
    components: list[NameComponent] | None = None
    is_ordered: bool | None = None
    default_separator: str | None = None
    full: str | None = None
    sort_as: dict[str, str] | None = None
    phonetic_script: str | None = None
    phonetic_system: str | None = None


class Nickname(JSContactObject):
    """A nickname (section 2.2.2)."""

    type_: Literal["Nickname"] | None = Field(None, alias="@type")
    name: str
    contexts: Flags | None = None
    pref: Preference | None = None


class OrgUnit(JSContactObject):
    """A unit of an organisation, the larger units first."""

    type_: Literal["OrgUnit"] | None = Field(None, alias="@type")
    name: str
    sort_as: str | None = None


class Organization(JSContactObject):
    """A company or organisation and its units (section 2.2.3)."""

    type_: Literal["Organization"] | None = Field(None, alias="@type")
    name: str | None = None
    units: list[OrgUnit] | None = None
    sort_as: str | None = None
    contexts: Flags | None = None


class Pronouns(JSContactObject):
    """Pronouns to use for the entity (section 2.2.4)."""

    type_: Literal["Pronouns"] | None = Field(None, alias="@type")
    pronouns: str
    contexts: Flags | None = None
    pref: Preference | None = None


class SpeakToAs(JSContactObject):
    """How to address the entity, or refer to it (section 2.2.4)."""

    type_: Literal["SpeakToAs"] | None = Field(None, alias="@type")
    grammatical_gender: str | None = None
    pronouns: dict[Id, Pronouns] | None = None


class Title(JSContactObject):
    """A job title or role (section 2.2.5); `kind` is `title` (the default) or `role`."""

    type_: Literal["Title"] | None = Field(None, alias="@type")
    name: str
    kind: str | None = None
    organization_id: Id | None = None
