"""One function for each vCard property that is more than a value in a map (RFC 9555, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, split_value, unescape
from contactmesh.contacts.vcard.dates import anniversary_date, utc_date_time
from contactmesh.contacts.vcard.embedded import read_embedded
from contactmesh.contacts.vcard.geography import Position, coordinates_from, time_zone_from
from contactmesh.contacts.vcard.names import read_full_name, read_name, read_organization
from contactmesh.contacts.vcard.parameters import (
    Members,
    members_of,
    named_members,
    singleton_params,
)
from contactmesh.contacts.vcard.phonetics import PHONETIC_KINDS, read_phonetic_part
from contactmesh.contacts.vcard.places import read_address, read_label
from contactmesh.contacts.vcard.properties import SIMPLE
from contactmesh.contacts.vcard.sorting import read_sort_string

Handler = Callable[[CardBuilder, Head, str], None]


def simple(build: CardBuilder, head: Head, value: str) -> None:
    """A property with one value, an entry of a map."""
    known = SIMPLE[head.name]
    entry = members_of(head, known).copy()
    entry[known.member] = unescape(value)
    build.add(known.collection, known.prefix, entry, head, labelled=known.labelled)


def nicknames(build: CardBuilder, head: Head, value: str) -> None:
    """NICKNAME: a list, of which each becomes an entry."""
    known = SIMPLE["NICKNAME"]
    for part in split_value(value, ",") if build.version != "2.1" else [value]:
        entry = members_of(head, known).copy()
        entry["name"] = unescape(part)
        build.add(known.collection, known.prefix, entry, head)


def service(build: CardBuilder, head: Head, value: str) -> None:
    """SOCIALPROFILE: a URI, or the user's name as text (RFC 9554, section 3.5)."""
    known = SIMPLE[head.name]
    entry = members_of(head, known).copy()
    if head.value_type == "text" and "user" not in entry:
        entry["user"] = unescape(value)
    else:
        entry["uri"] = unescape(value)
    build.add(known.collection, known.prefix, entry, head, labelled=True)


def anniversary(build: CardBuilder, head: Head, value: str) -> None:
    """BDAY, DEATHDATE, ANNIVERSARY and what phones write in their place."""
    omitted = None
    if head.params:
        named_members(head)
        omitted = head.params.get("x-apple-omit-year", [None])[0]
    date = anniversary_date(value, omitted)
    kind = _ANNIVERSARIES[head.name]
    others = build.maps.get("anniversaries")
    if date is None or (others is not None and _has_kind(others, kind)):
        build.keep(head, value)
    else:
        build.add("anniversaries", kind, {"kind": kind, "date": date}, head)


def position(build: CardBuilder, head: Head, value: str) -> None:
    """GEO and TZ (RFC 9555, section 2.8)."""
    member, read = _POSITIONS[head.name]
    found = read(value)
    if found is None:
        build.keep(head, value)
    else:
        build.position(Position(member, found, head))


_POSITIONS: Final = {
    "GEO": ("coordinates", coordinates_from),
    "TZ": ("timeZone", time_zone_from),
}


def _has_kind(entries: Members, kind: str) -> bool:
    return kind in [cast("Members", entry)["kind"] for entry in entries.values()]


_ANNIVERSARIES: Final = {
    "BDAY": "birth",
    "DEATHDATE": "death",
    "ANNIVERSARY": "wedding",
    "X-ANNIVERSARY": "wedding",
    "X-EVOLUTION-ANNIVERSARY": "wedding",
    "X-MS-ANNIVERSARY": "wedding",
}


def keywords(build: CardBuilder, head: Head, value: str) -> None:
    """CATEGORIES."""
    words = cast("Members", build.card.setdefault("keywords", {}))
    for part in split_value(value, ","):
        if part:
            words[unescape(part)] = True


def member(build: CardBuilder, head: Head, value: str) -> None:
    """MEMBER and Apple's X-ADDRESSBOOKSERVER-MEMBER."""
    cast("Members", build.card.setdefault("members", {}))[unescape(value)] = True


def related(build: CardBuilder, head: Head, value: str) -> None:
    """RELATED: another card, by its UID."""
    others = cast("Members", build.card.setdefault("relatedTo", {}))
    relation = cast("Members", others.setdefault(unescape(value), {}))
    for kind in head.params.get("type", ()):
        cast("Members", relation.setdefault("relation", {}))[kind.lower()] = True


def pronouns(build: CardBuilder, head: Head, value: str) -> None:
    """PRONOUNS (RFC 9554, section 3.4)."""
    speak = cast("Members", build.card.setdefault("speakToAs", {}))
    entry = named_members(head).copy()
    entry["pronouns"] = unescape(value)
    if head.group:
        params = cast("Members", entry.get("vCardParams", {}))
        entry["vCardParams"] = {**params, "group": head.group}
    build.insert(cast("Members", speak.setdefault("pronouns", {})), "pronouns", entry, head)


def grammatical_gender(build: CardBuilder, head: Head, value: str) -> None:
    """GRAMGENDER (RFC 9554, section 3.2)."""
    speak = build.card.get("speakToAs")
    if isinstance(speak, dict) and "grammaticalGender" in speak:
        build.keep(head, value)
        return
    speak = cast("Members", build.card.setdefault("speakToAs", {}))
    speak["grammaticalGender"] = unescape(value).lower()


def stamp(build: CardBuilder, head: Head, value: str) -> None:
    """REV and CREATED."""
    wanted = "updated" if head.name == "REV" else "created"
    text = utc_date_time(value)
    if text is None or wanted in build.card:
        build.keep(head, value)
    else:
        build.singleton(wanted, text, singleton_params(head), head.name)


def single(build: CardBuilder, head: Head, value: str) -> None:
    """UID, KIND, PRODID, LANGUAGE: one bare string."""
    wanted = _SINGLE[head.name]
    text = unescape(value)
    if wanted in build.card or not text:
        build.keep(head, value)
        return
    if wanted == "kind":
        text = text.lower()
    build.singleton(wanted, text, singleton_params(head), head.name)


_SINGLE: Final = {
    "UID": "uid",
    "KIND": "kind",
    "X-ADDRESSBOOKSERVER-KIND": "kind",
    "PRODID": "prodId",
    "LANGUAGE": "language",
}

HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(SIMPLE, simple),
    "NICKNAME": nicknames,
    "SOCIALPROFILE": service,
    "X-SOCIALPROFILE": service,
    **dict.fromkeys(("PHOTO", "LOGO", "SOUND", "KEY"), read_embedded),
    "FN": read_full_name,
    "N": read_name,
    "SORT-STRING": read_sort_string,
    **dict.fromkeys(PHONETIC_KINDS, read_phonetic_part),
    "ORG": read_organization,
    "ADR": read_address,
    "LABEL": read_label,
    **dict.fromkeys(_ANNIVERSARIES, anniversary),
    **dict.fromkeys(_POSITIONS, position),
    "CATEGORIES": keywords,
    "MEMBER": member,
    "X-ADDRESSBOOKSERVER-MEMBER": member,
    "RELATED": related,
    "PRONOUNS": pronouns,
    "GRAMGENDER": grammatical_gender,
    "REV": stamp,
    "CREATED": stamp,
    **dict.fromkeys(_SINGLE, single),
    "X-ABLABEL": CardBuilder.label,
    "JSPROP": CardBuilder.patch,
}

_DATE_PARAMS: Final = frozenset({"value", "x-apple-omit-year", "prop-id", "charset", "encoding"})
_PARAMS_READ: Final = {
    **dict.fromkeys(_ANNIVERSARIES, _DATE_PARAMS),
    "RELATED": frozenset({"type", "value"}),
    **dict.fromkeys(_POSITIONS, frozenset({"value"})),
    **dict.fromkeys(PHONETIC_KINDS, frozenset({"charset", "encoding"})),
    **dict.fromkeys(
        ("CATEGORIES", "MEMBER", "X-ADDRESSBOOKSERVER-MEMBER", "GRAMGENDER", "SORT-STRING"),
        frozenset[str](),
    ),
}
"""Properties that JSContact has a place for only without other parameters, a group or text."""


def handler_for(head: Head) -> Handler:
    """Return what reads the values of a head; what JSContact has no place for is kept."""
    params = _PARAMS_READ.get(head.name)
    if params is not None and (
        head.group is not None
        or (head.value_type == "text" and head.name != "TZ")
        or not params.issuperset(head.params)
    ):
        return CardBuilder.keep
    return HANDLERS.get(head.name, CardBuilder.keep)
