"""From a JSContact card to content lines (RFC 9555, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, escape_text, param_text
from contactmesh.contacts.vcard.dates import date_text
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.handlers import ADDRESS_KINDS, HANDLERS, NAME_KINDS
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.properties import (
    ADDRESS_CONTEXTS,
    IMAGE_TYPES,
    SIMPLE,
    Property,
)

GroupStyle = Literal["kind", "categories", "apple"]
"""How groups are written: KIND and MEMBER, CATEGORIES of the members, or Apple's own names."""

_EMBEDDED: Final = re.compile(r"data:([^;,]*);base64,(.*)\Z", re.DOTALL)
_TYPE_NAMES: Final = {
    "application/pkix-cert": "X509",
    "application/pgp-keys": "PGP",
    "audio/wav": "WAVE",
    "audio/basic": "PCM",
    "audio/aac": "AAC",
    **{media_type: name for name, media_type in reversed(IMAGE_TYPES.items())},
}
_ADDRESS_TYPES: Final = {context: name for name, context in ADDRESS_CONTEXTS.items()}
_FINER_FIELD: Final = {kind: index for index, kind in enumerate(ADDRESS_KINDS)}
_OLD_FIELD: Final = {
    kind: index for index, kind in enumerate(ADDRESS_KINDS[:7]) if kind not in {"apartment", "name"}
} | {"apartment": 1, "name": 2}
_STREET: Final = ("number", "name", "direction")
_DATES: Final = {"birth": "BDAY", "death": "DEATHDATE", "wedding": "ANNIVERSARY"}


def lines_from(
    card: Members, shown: str, version: Literal["3.0", "4.0"], group_style: GroupStyle
) -> Emitter:
    """Write what vCard has a place for as content lines, unfolded, without BEGIN and END.

    Args:
        card: the card as JSON.
        shown: the name to show, for a card without a full name: vCard demands one.
        version: the vCard version to write.
        group_style: how a group is written.
    """
    out = Emitter(card, version)
    _name(out, card.get("name"), shown)
    for member, write in _WRITERS.items():
        value = card.get(member)
        if isinstance(value, dict):
            for key, entry in value.items():
                write(out, key, cast("Members", entry))
    _relations(out, card)
    _singles(out, card, apple=group_style == "apple")
    for prop in cast("list[JsonValue]", card.get("vCardProps", [])):
        out.kept(prop)
    if not _KNOWN_PROPERTIES.issuperset(card) or card["version"] != "1.0":
        out.certain = False
    return out


def _beside(card: Members, name: str) -> tuple[str, str]:
    every = card.get(PARAMS_PROPERTY)
    params = every.get(name) if isinstance(every, dict) else None
    if not isinstance(params, dict):
        return "", ""
    group = f"{params['group']}." if "group" in params else ""
    return group, _params_text(params)


def _params_text(params: Members) -> str:
    return "".join(
        param_text(name.upper(), cast("str | list[str]", value))
        for name, value in params.items()
        if name != "group"
    )


def _name(out: Emitter, name: JsonValue, shown: str) -> None:
    known = name if isinstance(name, dict) else {}
    if name is not None and not (_NAME_MEMBERS.issuperset(known) and known.keys() - _EXTRA):
        out.certain = False
    full = known.get("full")
    if isinstance(full, str):
        group, params = _beside(out.card, "fn") if PARAMS_PROPERTY in out.card else ("", "")
        out.line(f"{group}FN{params}", escape_text(full, is_v4=out.is_v4))
    else:
        out.line("FN;DERIVED=TRUE", escape_text(shown, is_v4=out.is_v4))
    components = known.get("components")
    if not isinstance(components, list):
        if not out.is_v4:
            out.line("N;DERIVED=TRUE", f"{escape(shown)};;;;")
        return
    fields: list[list[str]] = [[] for _ in NAME_KINDS]
    last = 0
    for part in cast("list[Members]", components):
        where = _NAME_FIELD.get(cast("str", part["kind"]), -1)
        value = cast("str", part["value"])
        # Only the first five fields, in their order, come back as they are.
        if not last <= where < 5 or not value or len(part) != 2:
            out.certain = False
        if where >= 0:
            fields[where].append(escape(value))
            last = where
    fields[0] += fields[5]
    fields[4] += fields[6]
    used = fields if fields[5] or fields[6] else fields[:5]
    extra = _params_of(known)
    head = f"N{_params_text(extra)}"
    if "vCardParams" in known:
        out.certain = False
        if "group" in extra:
            head = f"{extra['group']}.{head}"
    out.line(head, ";".join(",".join(field) for field in used))


def _simple(names: dict[str | None, str], member: str) -> Callable[[Emitter, str, Members], None]:
    properties = {kind: SIMPLE[name] for kind, name in names.items()}

    def write(out: Emitter, key: str, entry: Members) -> None:
        known = properties.get(cast("str | None", entry.get(member)))
        if known is None:
            out.certain = False
        else:
            out.simple(known, key, entry)

    return write


def _service(out: Emitter, key: str, entry: Members) -> None:
    name = str(entry.get("vCardName", "socialprofile")).upper()
    known = SIMPLE.get(name)
    if known is None or known.collection != "onlineServices":
        out.certain = False
    elif "uri" in entry or known.member == "user":
        if "service" in known.fixed and entry.get("service") != known.fixed["service"]:
            out.certain = False
        out.simple(known, key, entry)
    else:
        out.certain = False
        service = entry.get("service")
        param = "SERVICE-TYPE" if out.is_v4 else "X-SERVICE-TYPE"
        params = param_text(param, service) if isinstance(service, str) else ""
        value = escape(str(entry.get("user", "")))
        out.entry(known.name, known.prefix, key, entry, value, f"{params};VALUE=text")


def _media(out: Emitter, key: str, entry: Members) -> None:
    name = {"photo": "PHOTO", "logo": "LOGO", "sound": "SOUND"}.get(str(entry.get("kind")))
    if name is None:
        out.certain = False
    else:
        _resource(out, SIMPLE[name], key, entry)


def _key(out: Emitter, key: str, entry: Members) -> None:
    _resource(out, SIMPLE["KEY"], key, entry)


def _resource(out: Emitter, known: Property, key: str, entry: Members) -> None:
    uri = str(entry["uri"])
    if "mediaType" in entry or "vCardParams" in entry or entry.keys() - known.members:
        out.certain = False
    media_type = entry.get("mediaType")
    params = param_text("MEDIATYPE", media_type) if isinstance(media_type, str) else ""
    if not out.is_v4:
        embedded = _EMBEDDED.match(uri)
        if embedded is None:
            params += ";VALUE=uri"
        else:
            params += ";ENCODING=b"
            out.certain = out.certain and embedded[1] in _TYPE_NAMES
            if embedded[1] != "application/octet-stream":
                name = _TYPE_NAMES.get(embedded[1], embedded[1])
                extra = cast("Members", entry.get("vCardParams", {})).get("type")
                if extra is None:
                    params += param_text("TYPE", name)
                else:
                    types: list[JsonValue] = [name]
                    types += extra if isinstance(extra, list) else [extra]
                    entry = {**entry, "vCardParams": {**_params_of(entry), "type": types}}
            uri = embedded[2]
    if "\\" in uri or "\n" in uri or "\r" in uri:
        out.certain = False
    out.entry(known.name, known.prefix, key, entry, uri, params)


def _params_of(entry: Members) -> Members:
    params = entry.get("vCardParams")
    return params if isinstance(params, dict) else {}


def _organization(out: Emitter, key: str, entry: Members) -> None:
    units = cast("list[Members]", entry.get("units", []))
    parts = [str(entry.get("name", "")), *(str(unit["name"]) for unit in units)]
    if (
        not _ORG_MEMBERS.issuperset(entry)
        or (units and not parts[-1])
        or not parts[0]
        or any(len(unit) != 1 for unit in units)
    ):
        out.certain = False
    out.entry("ORG", "org", key, entry, ";".join(map(escape, parts)))


def _address(out: Emitter, key: str, entry: Members) -> None:
    components = cast("list[Members]", entry.get("components", []))
    finer = any(part["kind"] not in _OLD_FIELD for part in components)
    fields: list[list[str]] = [[] for _ in (ADDRESS_KINDS if finer else ADDRESS_KINDS[:7])]
    last = 0
    if finer or not components or not _PLAIN_ADDRESS_MEMBERS.issuperset(entry):
        out.certain = False
    for part in components:
        kind = cast("str", part["kind"])
        text = cast("str", part["value"])
        where = (_FINER_FIELD if finer else _OLD_FIELD).get(kind, -1)
        if where < last or not text or len(part) != 2:
            out.certain = False
        if where < 0:
            continue
        last = where
        value = escape(text)
        fields[where].append(value)
        # Readers that do not know the finer fields still show the street.
        if finer and kind in _STREET:
            fields[2].append(value)
        elif finer and kind in _UNIT:
            fields[1].append(value)
    params = ""
    for param, member in (("CC", "countryCode"), ("GEO", "coordinates"), ("TZ", "timeZone")):
        if isinstance(entry.get(member), str):
            params += param_text(param, str(entry[member]))
    full = entry.get("full")
    if isinstance(full, str) and out.is_v4:
        params += param_text("LABEL", full)
    joined = ";".join([",".join(field) for field in fields])
    out.entry("ADR", "adr", key, entry, joined, params, types=_ADDRESS_TYPES)
    if isinstance(full, str) and not out.is_v4:
        out.entry("LABEL", key, f"{key}-1", entry, escape(full), types=_ADDRESS_TYPES)


def _anniversary(out: Emitter, key: str, entry: Members) -> None:
    name = _DATES.get(str(entry["kind"]))
    written = date_text(cast("Members", entry["date"]), extended=not out.is_v4)
    if name is None or written is None:
        out.certain = False
        return
    dates = cast("Members", out.card["anniversaries"])
    if not _DATE_MEMBERS.issuperset(entry) or (len(dates) > 1 and _kinds_repeat(dates)):
        out.certain = False
    if not _PARTIAL_DATE.issuperset(cast("Members", entry["date"])):
        out.certain = False
    if name == "ANNIVERSARY" and not out.is_v4:
        name = "X-ANNIVERSARY"
    params, value = written
    out.entry(name, str(entry["kind"]), key, entry, value, params)


def _kinds_repeat(dates: Members) -> bool:
    kinds = [cast("Members", entry)["kind"] for entry in dates.values()]
    return len(kinds) != len({str(kind) for kind in kinds})


def _note(out: Emitter, key: str, entry: Members) -> None:
    params = ""
    if not _NOTE_MEMBERS.issuperset(entry):
        out.certain = False
    author = entry.get("author")
    if isinstance(author, dict):
        for param, member in (("AUTHOR", "uri"), ("AUTHOR-NAME", "name")):
            if isinstance(author.get(member), str):
                params += param_text(param, str(author[member]))
    if isinstance(entry.get("created"), str):
        params += param_text("CREATED", re.sub("[-:]", "", str(entry["created"])))
    out.entry("NOTE", "note", key, entry, escape_text(str(entry["note"]), is_v4=out.is_v4), params)


def _relations(out: Emitter, card: Members) -> None:
    related = card.get("relatedTo")
    if isinstance(related, dict):
        out.certain = False
        for uid, relation in related.items():
            kinds = cast("Members", cast("Members", relation).get("relation", {}))
            out.line("RELATED" + (param_text("TYPE", list(kinds)) if kinds else ""), escape(uid))
    speak = card.get("speakToAs")
    if isinstance(speak, dict):
        out.certain = False
        if isinstance(speak.get("grammaticalGender"), str):
            out.line("GRAMGENDER", escape(str(speak["grammaticalGender"]).upper()))
        for key, entry in cast("Members", speak.get("pronouns", {})).items():
            each = cast("Members", entry)
            out.entry("PRONOUNS", "pronouns", key, each, escape(str(each["pronouns"])))


def _singles(out: Emitter, card: Members, *, apple: bool) -> None:
    keywords = card.get("keywords")
    if isinstance(keywords, dict):
        if "" in keywords:
            out.certain = False
        out.line("CATEGORIES", ",".join(escape(word) for word in keywords))
    members = card.get("members")
    if isinstance(members, dict):
        if "" in members or not members:
            out.certain = False
        name = "X-ADDRESSBOOKSERVER-MEMBER" if apple else "MEMBER"
        for uid in members:
            out.line(name, escape(uid))
    for name, member in _SINGLES:
        text = card.get(member)
        if isinstance(text, str):
            written = "X-ADDRESSBOOKSERVER-KIND" if name == "KIND" and apple else name
            group, params = _beside(card, written.lower()) if PARAMS_PROPERTY in card else ("", "")
            if not text or (member == "kind" and text != text.lower()):
                out.certain = False
            if member in {"updated", "created"} and out.is_v4:
                text = re.sub("[-:]", "", text)
            out.line(f"{group}{written}{params}", escape(text))


_SINGLES: Final = (
    ("KIND", "kind"),
    ("LANGUAGE", "language"),
    ("UID", "uid"),
    ("PRODID", "prodId"),
    ("CREATED", "created"),
    ("REV", "updated"),
)

_WRITERS: Final[dict[str, Callable[[Emitter, str, Members], None]]] = {
    "nicknames": _simple({None: "NICKNAME"}, "vCardName"),
    "organizations": _organization,
    "titles": _simple({None: "TITLE", "title": "TITLE", "role": "ROLE"}, "kind"),
    "phones": _simple({None: "TEL"}, "vCardName"),
    "emails": _simple({None: "EMAIL"}, "vCardName"),
    "addresses": _address,
    "links": _simple({None: "URL", "contact": "CONTACT-URI"}, "kind"),
    "onlineServices": _service,
    "anniversaries": _anniversary,
    "notes": _note,
    "preferredLanguages": _simple({None: "LANG"}, "vCardName"),
    "calendars": _simple({"calendar": "CALURI", "freeBusy": "FBURL"}, "kind"),
    "schedulingAddresses": _simple({None: "CALADRURI"}, "vCardName"),
    "directories": _simple({"entry": "SOURCE", "directory": "ORG-DIRECTORY"}, "kind"),
    "personalInfo": _simple(
        {"expertise": "EXPERTISE", "hobby": "HOBBY", "interest": "INTEREST"}, "kind"
    ),
    "media": _media,
    "cryptoKeys": _key,
}

_NAME_FIELD: Final = {kind: index for index, kind in enumerate(NAME_KINDS)}
_NAME_MEMBERS: Final = frozenset({"full", "components", "vCardParams"})
_EXTRA: Final = frozenset({"vCardParams"})
_ORG_MEMBERS: Final = frozenset({"name", "units", "contexts", "vCardParams"})
_PLAIN_ADDRESS_MEMBERS: Final = frozenset({"components", "contexts", "pref", "vCardParams"})
_DATE_MEMBERS: Final = frozenset({"kind", "date"})
_PARTIAL_DATE: Final = frozenset({"year", "month", "day"})
_NOTE_MEMBERS: Final = frozenset({"note", "vCardParams"})
_UNIT: Final = frozenset({"room", "apartment", "floor", "building"})
_KNOWN_PROPERTIES: Final = frozenset(
    {
        *_WRITERS,
        *(member for _, member in _SINGLES),
        "@type",
        "version",
        "name",
        "keywords",
        "members",
        "relatedTo",
        "speakToAs",
        "vCardProps",
    }
)

Emitter.known_names = frozenset(name.lower() for name in HANDLERS) | {"begin", "end", "version"}
