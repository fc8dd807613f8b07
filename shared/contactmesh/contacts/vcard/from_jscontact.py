"""From a JSContact card to content lines (RFC 9555, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import escape, escape_text, param_text
from contactmesh.contacts.vcard.dates import date_text
from contactmesh.contacts.vcard.embedded import write_keys, write_media
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.handlers import HANDLERS
from contactmesh.contacts.vcard.localization import patched_entries
from contactmesh.contacts.vcard.names import write_name, write_organizations
from contactmesh.contacts.vcard.parameters import Entry
from contactmesh.contacts.vcard.places import write_addresses
from contactmesh.contacts.vcard.properties import SIMPLE, Property
from contactmesh.contacts.vcard.simple import WRITERS

GroupStyle = Literal["kind", "categories", "apple"]
"""How groups are written: KIND and MEMBER, CATEGORIES of the members, or Apple's own names."""

Writer = Callable[[Emitter, Any], None]
"""Writes the value of a member of the card."""

Order = tuple[tuple[str, Writer], ...]
"""What a card has, in the order of the lines, though the card's own may be any."""

_MOST_ORDERS: Final = 1024
_orders: Final[dict[tuple[str, ...], Order]] = {}
"""By the members of a card, which are the same for most cards of a phonebook."""

_DATES: Final = {"birth": "BDAY", "death": "DEATHDATE", "wedding": "ANNIVERSARY"}
_OLDER_DATES: Final = {**_DATES, "wedding": "X-ANNIVERSARY"}
_SERVICES: Final = {
    name.lower(): (known, WRITERS[name], known.fixed.get("service"))
    for name, known in SIMPLE.items()
    if known.collection == "onlineServices"
}
"""By the name in small letters: the property, its writer, and the service that it is for."""


def lines_from(card: Entry, version: Literal["3.0", "4.0"], group_style: GroupStyle) -> Emitter:
    """Write what vCard has a place for as content lines, unfolded, without BEGIN and END.

    They may have characters that no line can hold.

    Args:
        card: the card as JSON.
        version: the vCard version to write.
        group_style: how a group is written.
    """
    out = Emitter(card, version, for_apple=group_style == "apple")
    write_name(out, card.get("name"))
    if card["version"] != "1.0":
        out.certain = False
    for member, write in _orders.get(tuple(card)) or _in_order(out, card):
        write(out, card[member])
    return out


def _in_order(out: Emitter, card: Entry) -> Order:
    """Return what to write of a card, and how; remembered if there is nothing else in it."""
    order = tuple((member, write) for member, write in _WRITERS.items() if member in card)
    if not _KNOWN_MEMBERS.issuperset(card):
        out.certain = False
        return order
    if len(_orders) >= _MOST_ORDERS:
        _orders.clear()
    _orders[tuple(card)] = order
    return order


def _by_kind(names: dict[str | None, str]) -> Writer:
    """Write entries as the simple properties that their kinds say."""
    writers = {kind: WRITERS[name] for kind, name in names.items()}

    def write(out: Emitter, entries: Mapping[str, Entry]) -> None:
        for key, entry in entries.items():
            simple = writers.get(entry.get("kind"))
            if simple is None:
                out.certain = False
            else:
                simple(out, {key: entry})

    return write


def _services(out: Emitter, entries: Mapping[str, Entry]) -> None:
    for key, entry in entries.items():
        found = _SERVICES.get(entry.get("vCardName", "socialprofile").lower())
        if found is None:
            out.certain = False
            continue
        known, write, service = found
        if "uri" not in entry and known.member != "user":
            _service_user(out, known, key, entry)
            continue
        if service is not None and entry.get("service") != service:
            out.certain = False
        write(out, {key: entry})


def _service_user(out: Emitter, known: Property, key: str, entry: Entry) -> None:
    """Write a user's name where a URI is usual."""
    out.certain = False
    service = entry.get("service")
    param = "SERVICE-TYPE" if out.is_v4 else "X-SERVICE-TYPE"
    params = param_text(param, service) if isinstance(service, str) else ""
    value = escape(entry.get("user", ""))
    out.entry(known.name, known.prefix, key, entry, value, f"{params};VALUE=text")


def _anniversaries(out: Emitter, entries: Mapping[str, Entry]) -> None:
    names = _DATES if out.is_v4 else _OLDER_DATES
    if len(entries) > 1 and len({entry["kind"] for entry in entries.values()}) < len(entries):
        out.certain = False
    for key, entry in entries.items():
        kind, date = entry["kind"], entry["date"]
        name = names.get(kind)
        written = date_text(date, extended=not out.is_v4)
        if name is None or written is None:
            out.certain = False
            continue
        if not (_DATE_MEMBERS.issuperset(entry) and _PARTIAL_DATE.issuperset(date)):
            out.certain = False
        params, value = written
        out.entry(name, kind, key, entry, value, params)


def _notes(out: Emitter, entries: Mapping[str, Entry]) -> None:
    for key, entry in entries.items():
        if _NOTE_MEMBERS.issuperset(entry):
            WRITERS["NOTE"](out, {key: entry})
        else:
            _note_said(out, key, entry)


def _note_said(out: Emitter, key: str, entry: Entry) -> None:
    """Write a note of which more is known than its text."""
    out.certain = False
    params = ""
    author = entry.get("author", {})
    for param, member in (("AUTHOR", "uri"), ("AUTHOR-NAME", "name")):
        if isinstance(author.get(member), str):
            params += param_text(param, author[member])
    if isinstance(entry.get("created"), str):
        params += param_text("CREATED", _without_hyphens(entry["created"]))
    out.entry("NOTE", "note", key, entry, escape_text(entry["note"], is_v4=out.is_v4), params)


def _localizations(out: Emitter, _: object) -> None:
    out.certain = False
    for collection, entry in patched_entries(out.card):
        _WRITERS[collection](out, {"": entry})


def _related(out: Emitter, related: Mapping[str, Entry]) -> None:
    out.certain = False
    for uid, relation in related.items():
        kinds = list(relation.get("relation", ()))
        out.line("RELATED" + (param_text("TYPE", kinds) if kinds else ""), escape(uid))


def _speak_to_as(out: Emitter, speak: Entry) -> None:
    out.certain = False
    if "grammaticalGender" in speak:
        out.line("GRAMGENDER", escape(speak["grammaticalGender"].upper()))
    for key, entry in speak.get("pronouns", {}).items():
        out.entry("PRONOUNS", "pronouns", key, entry, escape(entry["pronouns"]))


def _keywords(out: Emitter, keywords: Mapping[str, bool]) -> None:
    if "" in keywords:
        out.certain = False
    out.line("CATEGORIES", ",".join(map(escape, keywords)))


def _members(out: Emitter, members: Mapping[str, bool]) -> None:
    if "" in members or not members:
        out.certain = False
    name = "X-ADDRESSBOOKSERVER-MEMBER" if out.for_apple else "MEMBER"
    for uid in members:
        out.line(name, escape(uid))


def _kind(out: Emitter, kind: str) -> None:
    if not kind or kind != kind.lower():
        out.certain = False
    out.single("X-ADDRESSBOOKSERVER-KIND" if out.for_apple else "KIND", escape(kind))


def _single(name: str) -> Callable[[Emitter, str], None]:
    def write(out: Emitter, text: str) -> None:
        if not text:
            out.certain = False
        out.single(name, escape(text))

    return write


def _stamp(name: str) -> Callable[[Emitter, str], None]:
    def write(out: Emitter, stamp: str) -> None:
        out.single(name, _without_hyphens(stamp) if out.is_v4 else stamp)

    return write


def _without_hyphens(stamp: str) -> str:
    """Return a time stamp as RFC 6350, section 4.3.5 has it."""
    return re.sub("[-:]", "", stamp)


def _kept(out: Emitter, props: list[JsonValue]) -> None:
    out.kept(props, _READ_NAMES)


_WRITERS: Final[dict[str, Writer]] = {
    "nicknames": WRITERS["NICKNAME"],
    "organizations": write_organizations,
    "titles": _by_kind({None: "TITLE", "title": "TITLE", "role": "ROLE"}),
    "emails": WRITERS["EMAIL"],
    "onlineServices": _services,
    "phones": WRITERS["TEL"],
    "preferredLanguages": WRITERS["LANG"],
    "calendars": _by_kind({"calendar": "CALURI", "freeBusy": "FBURL"}),
    "schedulingAddresses": WRITERS["CALADRURI"],
    "addresses": write_addresses,
    "cryptoKeys": write_keys,
    "directories": _by_kind({"entry": "SOURCE", "directory": "ORG-DIRECTORY"}),
    "links": _by_kind({None: "URL", "contact": "CONTACT-URI"}),
    "media": write_media,
    "anniversaries": _anniversaries,
    "notes": _notes,
    "personalInfo": _by_kind({"expertise": "EXPERTISE", "hobby": "HOBBY", "interest": "INTEREST"}),
    "localizations": _localizations,
    "relatedTo": _related,
    "speakToAs": _speak_to_as,
    "keywords": _keywords,
    "members": _members,
    "kind": _kind,
    "language": _single("LANGUAGE"),
    "uid": _single("UID"),
    "prodId": _single("PRODID"),
    "created": _stamp("CREATED"),
    "updated": _stamp("REV"),
    "vCardProps": _kept,
}
"""In the order of the lines, but for the name, which every card has and which comes first."""

_KNOWN_MEMBERS: Final = frozenset({*_WRITERS, "@type", "version", "name"})
_DATE_MEMBERS: Final = frozenset({"kind", "date"})
_PARTIAL_DATE: Final = frozenset({"year", "month", "day"})
_NOTE_MEMBERS: Final = frozenset({"note", "vCardParams"})

_READ_NAMES: Final = frozenset(name.lower() for name in HANDLERS) | {"begin", "end", "version"}
