"""From a JSContact card to content lines (RFC 9555, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, cast

from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, escape_text, param_text
from contactmesh.contacts.vcard.dates import date_text
from contactmesh.contacts.vcard.embedded import write_key, write_media
from contactmesh.contacts.vcard.emitter import Emitter, beside
from contactmesh.contacts.vcard.handlers import HANDLERS
from contactmesh.contacts.vcard.localization import patched_entries
from contactmesh.contacts.vcard.names import write_name, write_organization
from contactmesh.contacts.vcard.parameters import Entry, Members
from contactmesh.contacts.vcard.places import write_address
from contactmesh.contacts.vcard.properties import SIMPLE, Property

GroupStyle = Literal["kind", "categories", "apple"]
"""How groups are written: KIND and MEMBER, CATEGORIES of the members, or Apple's own names."""

Writer = Property | Callable[[Emitter, str, Entry], None]
"""How the entries of a map are written: as one simple property, or by a function for each."""

_DATES: Final = {"birth": "BDAY", "death": "DEATHDATE", "wedding": "ANNIVERSARY"}


def lines_from(card: Entry, version: Literal["3.0", "4.0"], group_style: GroupStyle) -> Emitter:
    """Write what vCard has a place for as content lines, unfolded, without BEGIN and END.

    Args:
        card: the card as JSON.
        version: the vCard version to write.
        group_style: how a group is written.
    """
    out = Emitter(card, version, _READ_NAMES)
    write_name(out, card.get("name"))
    # In one order, whichever the card has: it may be a reader's own.
    for member in filter(card.get, _WRITERS):
        _write_entries(out, _WRITERS[member], card[member])
    if "localizations" in card:
        for collection, entry in patched_entries(card):
            _write_entries(out, _WRITERS[collection], {"": entry})
    if "relatedTo" in card or "speakToAs" in card:
        _relations(out, card)
    _singles(out, card, apple=group_style == "apple")
    for prop in card.get("vCardProps", ()):
        out.kept(prop)
    if not _KNOWN_PROPERTIES.issuperset(card) or card["version"] != "1.0":
        out.certain = False
    out.clean()
    return out


def _write_entries(out: Emitter, write: Writer, entries: Mapping[str, Entry]) -> None:
    if isinstance(write, Property):
        out.simple(write, entries.items())
    else:
        for key, entry in entries.items():
            write(out, key, entry)


def _simple(names: dict[str | None, str], member: str) -> Callable[[Emitter, str, Entry], None]:
    properties = {kind: SIMPLE[name] for kind, name in names.items()}

    def write(out: Emitter, key: str, entry: Entry) -> None:
        known = properties.get(entry.get(member))
        if known is None:
            out.certain = False
        else:
            out.simple(known, ((key, entry),))

    return write


def _service(out: Emitter, key: str, entry: Members) -> None:
    name = str(entry.get("vCardName", "socialprofile")).upper()
    known = SIMPLE.get(name)
    if known is None or known.collection != "onlineServices":
        out.certain = False
    elif "uri" in entry or known.member == "user":
        if "service" in known.fixed and entry.get("service") != known.fixed["service"]:
            out.certain = False
        out.simple(known, ((key, entry),))
    else:
        out.certain = False
        service = entry.get("service")
        param = "SERVICE-TYPE" if out.is_v4 else "X-SERVICE-TYPE"
        params = param_text(param, service) if isinstance(service, str) else ""
        value = escape(str(entry.get("user", "")))
        out.entry(known.name, known.prefix, key, entry, value, f"{params};VALUE=text")


def _anniversary(out: Emitter, key: str, entry: Entry) -> None:
    kind, date = entry["kind"], entry["date"]
    name = _DATES.get(kind)
    written = date_text(date, extended=not out.is_v4)
    if name is None or written is None:
        out.certain = False
        return
    dates = out.card["anniversaries"]
    if not (_DATE_MEMBERS.issuperset(entry) and _PARTIAL_DATE.issuperset(date)):
        out.certain = False
    if len(dates) > 1 and len(dates) != len({other["kind"] for other in dates.values()}):
        out.certain = False
    if name == "ANNIVERSARY" and not out.is_v4:
        name = "X-ANNIVERSARY"
    params, value = written
    out.entry(name, kind, key, entry, value, params)


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


def _singles(out: Emitter, card: Entry, *, apple: bool) -> None:
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
        if member in card:
            text = card[member]
            written = "X-ADDRESSBOOKSERVER-KIND" if name == "KIND" and apple else name
            group, params = beside(card, written.lower()) if PARAMS_PROPERTY in card else ("", "")
            if not text or (member == "kind" and text != text.lower()):
                out.certain = False
            if out.is_v4 and member in {"updated", "created"}:
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

_WRITERS: Final[dict[str, Writer]] = {
    "nicknames": SIMPLE["NICKNAME"],
    "organizations": write_organization,
    "titles": _simple({None: "TITLE", "title": "TITLE", "role": "ROLE"}, "kind"),
    "emails": SIMPLE["EMAIL"],
    "onlineServices": _service,
    "phones": SIMPLE["TEL"],
    "preferredLanguages": SIMPLE["LANG"],
    "calendars": _simple({"calendar": "CALURI", "freeBusy": "FBURL"}, "kind"),
    "schedulingAddresses": SIMPLE["CALADRURI"],
    "addresses": write_address,
    "cryptoKeys": write_key,
    "directories": _simple({"entry": "SOURCE", "directory": "ORG-DIRECTORY"}, "kind"),
    "links": _simple({None: "URL", "contact": "CONTACT-URI"}, "kind"),
    "media": write_media,
    "anniversaries": _anniversary,
    "notes": _note,
    "personalInfo": _simple(
        {"expertise": "EXPERTISE", "hobby": "HOBBY", "interest": "INTEREST"}, "kind"
    ),
}
"""In the order of the model."""

_DATE_MEMBERS: Final = frozenset({"kind", "date"})
_PARTIAL_DATE: Final = frozenset({"year", "month", "day"})
_NOTE_MEMBERS: Final = frozenset({"note", "vCardParams"})
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

_READ_NAMES: Final = frozenset(name.lower() for name in HANDLERS) | {"begin", "end", "version"}
