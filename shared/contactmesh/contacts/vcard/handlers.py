"""One function for each vCard property that is more than a value in a map (RFC 9555, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, split_value, unescape
from contactmesh.contacts.vcard.dates import anniversary_date, utc_date_time
from contactmesh.contacts.vcard.parameters import (
    Members,
    address_members,
    members_of,
    named_members,
    singleton_params,
)
from contactmesh.contacts.vcard.properties import IMAGE_TYPES, SIMPLE

Handler = Callable[[CardBuilder, Head, str], None]

NAME_KINDS: Final = ("surname", "given", "given2", "title", "credential", "surname2", "generation")
"""The fields of N (RFC 6350, section 6.2.2; RFC 9554, section 2.2) as JSContact kinds."""

ADDRESS_KINDS: Final = (
    "postOfficeBox",
    "apartment",
    "name",
    "locality",
    "region",
    "postcode",
    "country",
    "room",
    "apartment",
    "floor",
    "number",
    "name",
    "building",
    "block",
    "subdistrict",
    "district",
    "landmark",
    "direction",
)
"""The fields of ADR (RFC 6350, section 6.3.1; RFC 9554, section 2.1) as JSContact kinds."""

OLD_ADDRESS_KINDS: Final = ("postOfficeBox", "", "", *ADDRESS_KINDS[3:])
"""The same when the finer fields are there, which the second and third only repeat."""

_MAGIC: Final = {
    "/9j/": "image/jpeg",
    "iVBOR": "image/png",
    "R0lG": "image/gif",
    "UklGR": "image/webp",
}
_KEY_TYPES: Final = {"X509": "application/pkix-cert", "PGP": "application/pgp-keys"}
_SOUND_TYPES: Final = {
    "WAVE": "audio/wav",
    "WAV": "audio/wav",
    "PCM": "audio/basic",
    "AAC": "audio/aac",
}


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


def embedded(build: CardBuilder, head: Head, value: str) -> None:
    """PHOTO, LOGO, SOUND, KEY: a link, or the bytes in base64, which become a `data:` URI."""
    known = SIMPLE[head.name]
    if head.value_type == "text":
        build.keep(head, value)
        return
    entry = members_of(head, known).copy()
    encoding = head.params.get("encoding")
    if encoding is not None and encoding[0].upper() in {"B", "BASE64"}:
        content = "".join(value.split()) if " " in value or "\t" in value else value
        if content[:5].lower() == "data:":
            entry["uri"] = content
        else:
            entry["uri"] = f"data:{_take_media_type(entry, content)};base64,{content}"
    else:
        _take_media_type(entry, "", wanted=False)
        entry["uri"] = unescape(value)
    build.add(known.collection, known.prefix, entry, head, labelled=True)


def _take_media_type(entry: Members, content: str, *, wanted: bool = True) -> str:
    params = entry.get("vCardParams")
    kind = params.get("type") if isinstance(params, dict) else None
    names = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    media_type = None
    left: list[JsonValue] = []
    for name in names:
        text = str(name)
        found = (
            IMAGE_TYPES.get(text.upper())
            or _KEY_TYPES.get(text.upper())
            or _SOUND_TYPES.get(text.upper())
            or (text.lower() if "/" in text else None)
        )
        if found is None or media_type is not None:
            left.append(name)
        else:
            media_type = found
    if media_type is not None and isinstance(params, dict):
        rest = {key: item for key, item in params.items() if key != "type"}
        if left:
            rest["type"] = left[0] if len(left) == 1 else left
        entry.pop("vCardParams")
        if rest:
            entry["vCardParams"] = rest
        if not wanted:
            entry.setdefault("mediaType", media_type)
    if media_type is not None or not wanted:
        return media_type or ""
    for start, guessed in _MAGIC.items():
        if content.startswith(start):
            return guessed
    return "application/octet-stream"


def full_name(build: CardBuilder, head: Head, value: str) -> None:
    """FN; one that was made up for a card without a full name is not taken (RFC 9554, 4.4)."""
    name = cast("Members", build.card.setdefault("name", {}))
    if head.params.get("derived", [""])[0].lower() == "true":
        if not name:
            del build.card["name"]
        return
    if "full" in name:
        build.keep(head, value)
        return
    name["full"] = unescape(value)
    if head.params or head.group:
        build.note_params("FN", singleton_params(head))


def name(build: CardBuilder, head: Head, value: str) -> None:
    """N: the parts of the name; an empty one stays an empty one."""
    if head.params.get("derived", [""])[0].lower() == "true":
        return
    known = cast("Members", build.card.setdefault("name", {}))
    if "components" in known:
        build.keep(head, value)
        return
    fields = split_value(value, ";")
    lists = build.version != "2.1" and "," in value
    parts = [
        [unescape(part) for part in split_value(text, ",")]
        if lists and "," in text
        else [unescape(text)]
        for text in fields[:7]
    ]
    # RFC 9554 repeats the secondary surname and the generation in the older fields.
    for newer, older in ((5, 0), (6, 4)):
        if len(parts) > newer:
            parts[older] = [part for part in parts[older] if not part or part not in parts[newer]]
    known["components"] = [
        {"kind": kind, "value": part}
        for kind, texts in zip(NAME_KINDS, parts, strict=False)
        for part in texts
        if part
    ]
    if len(fields) > 7:
        build.keep(head, value)
    if head.params:
        known |= named_members(head)
    if head.group:
        params = cast("Members", known.get("vCardParams", {}))
        known["vCardParams"] = {**params, "group": head.group}


def organization(build: CardBuilder, head: Head, value: str) -> None:
    """ORG: the organisation and its units."""
    entry = named_members(head).copy()
    first, *units = [unescape(part) for part in split_value(value, ";")]
    while units and not units[-1]:
        units.pop()
    if first or not units:
        entry["name"] = first
    if units:
        entry["units"] = [{"name": unit} for unit in units]
    build.add("organizations", "org", entry, head)


def address(build: CardBuilder, head: Head, value: str) -> None:
    """ADR: the newer, finer fields win over the older ones that repeat them (RFC 9554, 2.1)."""
    entry = address_members(head).copy()
    fields = split_value(value, ";")
    lists = build.version != "2.1" and "," in value
    finer = len(fields) > 7 and any(fields[7:])
    components: list[JsonValue] = []
    for kind, text in zip(OLD_ADDRESS_KINDS if finer else ADDRESS_KINDS, fields, strict=False):
        if not text or not kind:
            continue
        if lists and "," in text:
            parts = [unescape(part) for part in split_value(text, ",")]
            components += [{"kind": kind, "value": part} for part in parts if part]
        else:
            components.append({"kind": kind, "value": unescape(text)})
    if components:
        entry["components"] = components
    build.add("addresses", "adr", entry, head)


def postal_label(build: CardBuilder, head: Head, value: str) -> None:
    """LABEL (RFC 2426, section 3.2.2): how the address of the same types is written in full."""
    members = address_members(head)
    text = unescape(value)
    if head.group is None:
        for entry in build.maps.get("addresses", {}).values():
            known = cast("Members", entry)
            rest = {name: item for name, item in known.items() if name != "components"}
            if rest == members:
                known["full"] = text
                return
    build.add("addresses", "adr", {**members, "full": text}, head)


def anniversary(build: CardBuilder, head: Head, value: str) -> None:
    """BDAY, DEATHDATE, ANNIVERSARY and what phones write in their place."""
    omitted = head.params.get("x-apple-omit-year", [None])[0]
    date = anniversary_date(value, omitted)
    kind, prefix = _ANNIVERSARIES[head.name]
    entries = build.maps.get("anniversaries", {})
    extra = head.params.keys() - {"value", "x-apple-omit-year", "prop-id", "charset", "encoding"}
    taken = any(isinstance(item, dict) and item.get("kind") == kind for item in entries.values())
    if date is None or extra or head.group or taken or head.value_type == "text":
        build.keep(head, value)
        return
    entry: Members = {"kind": kind, "date": date}
    if head.params:
        named_members(head)
    build.add("anniversaries", prefix, entry, head)


_ANNIVERSARIES: Final = {
    "BDAY": ("birth", "birth"),
    "DEATHDATE": ("death", "death"),
    "ANNIVERSARY": ("wedding", "wedding"),
    "X-ANNIVERSARY": ("wedding", "wedding"),
    "X-EVOLUTION-ANNIVERSARY": ("wedding", "wedding"),
    "X-MS-ANNIVERSARY": ("wedding", "wedding"),
}


def keywords(build: CardBuilder, head: Head, value: str) -> None:
    """CATEGORIES."""
    if head.params or head.group:
        build.keep(head, value)
        return
    words = cast("Members", build.card.setdefault("keywords", {}))
    for part in split_value(value, ","):
        if part:
            words[unescape(part)] = True


def member(build: CardBuilder, head: Head, value: str) -> None:
    """MEMBER and Apple's X-ADDRESSBOOKSERVER-MEMBER."""
    if head.params or head.group:
        build.keep(head, value)
        return
    cast("Members", build.card.setdefault("members", {}))[unescape(value)] = True


def related(build: CardBuilder, head: Head, value: str) -> None:
    """RELATED: another card, by its UID."""
    if head.value_type == "text" or head.group or head.params.keys() - {"type", "value"}:
        build.keep(head, value)
        return
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
    if head.params or head.group or (isinstance(speak, dict) and "grammaticalGender" in speak):
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
    **dict.fromkeys(("PHOTO", "LOGO", "SOUND", "KEY"), embedded),
    "FN": full_name,
    "N": name,
    "ORG": organization,
    "ADR": address,
    "LABEL": postal_label,
    **dict.fromkeys(_ANNIVERSARIES, anniversary),
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
