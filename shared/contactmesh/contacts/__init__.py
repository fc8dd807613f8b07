"""Contact documents that survive every phone.

The JSContact card (RFC 9553, RFC 9982) as a model; vCard 2.1, 3.0 and 4.0 read and written
without loss; phone numbers and carrier identifiers; what changed between two cards, merging
them, and finding the same person twice. Usable on its own: it needs nothing else of ContactMesh.

    from contactmesh.contacts import Damage, read_vcards, write_vcards

    with open("phone.vcf", "rb") as file:
        for item in read_vcards(file, file_name="phone.vcf"):
            if isinstance(item, Damage):
                print(item)
            else:
                print(item.uid, display_name(item))
"""

from contactmesh.contacts.canonical import METADATA, canonical, digest
from contactmesh.contacts.changes import changed_fields
from contactmesh.contacts.display import display_name
from contactmesh.contacts.duplicates import Candidate, JoinedCards, find_duplicates, join
from contactmesh.contacts.errors import CardTooLarge, ContactError, IdentifierError, PatchError
from contactmesh.contacts.groups import groups_from_keywords, is_group, keywords_from_groups
from contactmesh.contacts.identifiers import (
    Iccid,
    Imsi,
    Plmn,
    RegistrationRef,
    read_carrier_id,
    read_iccid,
    read_imsi,
    read_plmn,
    read_registration_ref,
)
from contactmesh.contacts.identity import derived_uid, is_derived
from contactmesh.contacts.jscontact import (
    CARRIER_PROPERTY,
    Address,
    AddressComponent,
    Anniversary,
    Author,
    Calendar,
    Card,
    CarrierLine,
    CryptoKey,
    Directory,
    Email,
    LanguagePref,
    Link,
    Media,
    Name,
    NameComponent,
    Nickname,
    Note,
    OnlineService,
    Organization,
    OrgUnit,
    PartialDate,
    PersonalInfo,
    Phone,
    Pronouns,
    Relation,
    SchedulingAddress,
    SpeakToAs,
    Timestamp,
    Title,
)
from contactmesh.contacts.limits import CardLimits, check_size
from contactmesh.contacts.merge import Conflict, Merge, Side, Taken, merge, with_unsupported
from contactmesh.contacts.numbers import (
    NumberKind,
    PhoneNumber,
    match_key,
    range_holder,
    read_number,
    region_of,
)
from contactmesh.contacts.patch import apply_patch, make_patch
from contactmesh.contacts.sharing import without_private_parts
from contactmesh.contacts.vcard import Damage, GroupStyle, Oddity, read_vcards, write_vcards

__all__ = [
    "CARRIER_PROPERTY",
    "METADATA",
    "Address",
    "AddressComponent",
    "Anniversary",
    "Author",
    "Calendar",
    "Candidate",
    "Card",
    "CardLimits",
    "CardTooLarge",
    "CarrierLine",
    "Conflict",
    "ContactError",
    "CryptoKey",
    "Damage",
    "Directory",
    "Email",
    "GroupStyle",
    "Iccid",
    "IdentifierError",
    "Imsi",
    "JoinedCards",
    "LanguagePref",
    "Link",
    "Media",
    "Merge",
    "Name",
    "NameComponent",
    "Nickname",
    "Note",
    "NumberKind",
    "Oddity",
    "OnlineService",
    "OrgUnit",
    "Organization",
    "PartialDate",
    "PatchError",
    "PersonalInfo",
    "Phone",
    "PhoneNumber",
    "Plmn",
    "Pronouns",
    "RegistrationRef",
    "Relation",
    "SchedulingAddress",
    "Side",
    "SpeakToAs",
    "Taken",
    "Timestamp",
    "Title",
    "apply_patch",
    "canonical",
    "changed_fields",
    "check_size",
    "derived_uid",
    "digest",
    "display_name",
    "find_duplicates",
    "groups_from_keywords",
    "is_derived",
    "is_group",
    "join",
    "keywords_from_groups",
    "make_patch",
    "match_key",
    "merge",
    "range_holder",
    "read_carrier_id",
    "read_iccid",
    "read_imsi",
    "read_number",
    "read_plmn",
    "read_registration_ref",
    "read_vcards",
    "region_of",
    "with_unsupported",
    "without_private_parts",
    "write_vcards",
]
