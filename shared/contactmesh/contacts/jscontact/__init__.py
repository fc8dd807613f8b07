"""JSContact (RFC 9553 and RFC 9982) as pydantic models."""

from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.jscontact.communication import (
    CARRIER_PROPERTY,
    CarrierLine,
    Email,
    LanguagePref,
    OnlineService,
    Phone,
)
from contactmesh.contacts.jscontact.names import (
    Name,
    NameComponent,
    Nickname,
    Organization,
    OrgUnit,
    Pronouns,
    SpeakToAs,
    Title,
)
from contactmesh.contacts.jscontact.personal import (
    Anniversary,
    Author,
    Note,
    PartialDate,
    PersonalInfo,
    Relation,
    Timestamp,
)
from contactmesh.contacts.jscontact.places import Address, AddressComponent
from contactmesh.contacts.jscontact.resources import (
    Calendar,
    CryptoKey,
    Directory,
    Link,
    Media,
    SchedulingAddress,
)

__all__ = [
    "CARRIER_PROPERTY",
    "Address",
    "AddressComponent",
    "Anniversary",
    "Author",
    "Calendar",
    "Card",
    "CarrierLine",
    "CryptoKey",
    "Directory",
    "Email",
    "LanguagePref",
    "Link",
    "Media",
    "Name",
    "NameComponent",
    "Nickname",
    "Note",
    "OnlineService",
    "OrgUnit",
    "Organization",
    "PartialDate",
    "PersonalInfo",
    "Phone",
    "Pronouns",
    "Relation",
    "SchedulingAddress",
    "SpeakToAs",
    "Timestamp",
    "Title",
]
