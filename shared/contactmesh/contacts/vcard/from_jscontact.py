"""From a JSContact card to content lines (RFC 9555, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, param_text
from contactmesh.contacts.vcard.dates import date_text
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.handlers import ADDRESS_KINDS, NAME_KINDS
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
) -> list[str]:
    """Return the content lines for what vCard has a place for, unfolded, without BEGIN and END.

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
    _singles(out, card, apple=group_style == "apple")
    for prop in cast("list[JsonValue]", card.get("vCardProps", [])):
        out.kept(prop)
    return out.lines


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
    full = known.get("full")
    if isinstance(full, str):
        group, params = _beside(out.card, "fn")
        out.line(f"{group}FN{params}", escape(full))
    else:
        out.line("FN;DERIVED=TRUE", escape(shown))
    components = known.get("components")
    if not isinstance(components, list):
        if not out.is_v4:
            out.line("N;DERIVED=TRUE", f"{escape(shown)};;;;")
        return
    fields: list[list[str]] = [[] for _ in NAME_KINDS]
    for part in components:
        if isinstance(part, dict) and part["kind"] in NAME_KINDS:
            fields[NAME_KINDS.index(str(part["kind"]))].append(escape(str(part["value"])))
    fields[0] += fields[5]
    fields[4] += fields[6]
    used = fields if fields[5] or fields[6] else fields[:5]
    params = known.get("vCardParams")
    head = "N" + (_params_text(params) if isinstance(params, dict) else "")
    if isinstance(params, dict) and "group" in params:
        head = f"{params['group']}.{head}"
    out.line(head, ";".join(",".join(field) for field in used))


def _simple(names: dict[str | None, str], member: str) -> Callable[[Emitter, str, Members], None]:
    properties = {kind: SIMPLE[name] for kind, name in names.items()}

    def write(out: Emitter, key: str, entry: Members) -> None:
        known = properties.get(cast("str | None", entry.get(member)))
        if known is not None:
            out.simple(known, key, entry)

    return write


def _service(out: Emitter, key: str, entry: Members) -> None:
    name = str(entry.get("vCardName", "socialprofile")).upper()
    known = SIMPLE.get(name)
    if known is None or known.collection != "onlineServices":
        return
    if "uri" in entry or known.member == "user":
        out.simple(known, key, entry)
    elif "user" in entry:
        service = entry.get("service")
        param = "SERVICE-TYPE" if out.is_v4 else "X-SERVICE-TYPE"
        params = param_text(param, service) if isinstance(service, str) else ""
        value = escape(str(entry["user"]))
        out.entry(known.name, known.prefix, key, entry, value, f"{params};VALUE=text")


def _media(out: Emitter, key: str, entry: Members) -> None:
    name = {"photo": "PHOTO", "logo": "LOGO", "sound": "SOUND"}.get(str(entry.get("kind")))
    if name is not None:
        _resource(out, SIMPLE[name], key, entry)


def _key(out: Emitter, key: str, entry: Members) -> None:
    _resource(out, SIMPLE["KEY"], key, entry)


def _resource(out: Emitter, known: Property, key: str, entry: Members) -> None:
    uri = str(entry["uri"])
    media_type = entry.get("mediaType")
    params = param_text("MEDIATYPE", media_type) if isinstance(media_type, str) else ""
    if not out.is_v4:
        embedded = _EMBEDDED.match(uri)
        if embedded is None:
            params += ";VALUE=uri"
        else:
            params += ";ENCODING=b"
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
    out.entry(known.name, known.prefix, key, entry, uri, params)


def _params_of(entry: Members) -> Members:
    params = entry.get("vCardParams")
    return params if isinstance(params, dict) else {}


def _organization(out: Emitter, key: str, entry: Members) -> None:
    units = cast("list[Members]", entry.get("units", []))
    parts = [str(entry.get("name", "")), *(str(unit["name"]) for unit in units)]
    out.entry("ORG", "org", key, entry, ";".join(escape(part) for part in parts))


def _address(out: Emitter, key: str, entry: Members) -> None:
    components = cast("list[Members]", entry.get("components", []))
    finer = any(part["kind"] not in _OLD_FIELD for part in components)
    fields: list[list[str]] = [[] for _ in (ADDRESS_KINDS if finer else ADDRESS_KINDS[:7])]
    for part in components:
        kind = str(part["kind"])
        value = escape(str(part["value"]))
        where = (_FINER_FIELD if finer else _OLD_FIELD).get(kind)
        if where is not None:
            fields[where].append(value)
        if finer and kind in _STREET:
            # Readers that do not know the finer fields still show the street.
            fields[2].append(value)
        elif finer and kind in {"room", "apartment", "floor", "building"}:
            fields[1].append(value)
    params = ""
    for param, member in (("CC", "countryCode"), ("GEO", "coordinates"), ("TZ", "timeZone")):
        if isinstance(entry.get(member), str):
            params += param_text(param, str(entry[member]))
    full = entry.get("full")
    if isinstance(full, str):
        params += param_text("LABEL", full)
    value = ";".join(",".join(field) for field in fields)
    out.entry("ADR", "adr", key, entry, value, params, contexts=_ADDRESS_TYPES)


def _anniversary(out: Emitter, key: str, entry: Members) -> None:
    name = _DATES.get(str(entry["kind"]))
    written = date_text(cast("Members", entry["date"]), extended=not out.is_v4)
    if name is None or written is None:
        return
    if name == "ANNIVERSARY" and not out.is_v4:
        name = "X-ANNIVERSARY"
    params, value = written
    out.entry(name, str(entry["kind"]), key, entry, value, params)


def _note(out: Emitter, key: str, entry: Members) -> None:
    params = ""
    author = entry.get("author")
    if isinstance(author, dict):
        for param, member in (("AUTHOR", "uri"), ("AUTHOR-NAME", "name")):
            if isinstance(author.get(member), str):
                params += param_text(param, str(author[member]))
    if isinstance(entry.get("created"), str):
        params += param_text("CREATED", re.sub("[-:]", "", str(entry["created"])))
    out.entry("NOTE", "note", key, entry, escape(str(entry["note"])), params)


def _singles(out: Emitter, card: Members, *, apple: bool) -> None:
    keywords = card.get("keywords")
    if isinstance(keywords, dict):
        out.line("CATEGORIES", ",".join(escape(word) for word in keywords))
    related = card.get("relatedTo")
    if isinstance(related, dict):
        for uid, relation in related.items():
            kinds = cast("Members", cast("Members", relation).get("relation", {}))
            out.line("RELATED" + (param_text("TYPE", list(kinds)) if kinds else ""), escape(uid))
    speak = card.get("speakToAs")
    if isinstance(speak, dict):
        if isinstance(speak.get("grammaticalGender"), str):
            out.line("GRAMGENDER", escape(str(speak["grammaticalGender"]).upper()))
        for key, entry in cast("Members", speak.get("pronouns", {})).items():
            text = cast("Members", entry)
            value = escape(str(text["pronouns"]))
            out.entry("PRONOUNS", "pronouns", key, text, value)
    members = card.get("members")
    if isinstance(members, dict):
        name = "X-ADDRESSBOOKSERVER-MEMBER" if apple else "MEMBER"
        for uid in members:
            out.line(name, escape(uid))
    for name, member in _SINGLES:
        value = card.get(member)
        if isinstance(value, str):
            group, params = _beside(card, name.lower())
            if member in {"updated", "created"} and out.is_v4:
                value = re.sub("[-:]", "", value)
            if member == "kind" and apple:
                name = "X-ADDRESSBOOKSERVER-KIND"  # noqa: PLW2901
            out.line(f"{group}{name}{params}", escape(value))


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
