"""What names are sorted by: SORT-AS and SORT-STRING (RFC 6350, section 5.9; RFC 2426, 3.6.5)."""

from __future__ import annotations

from typing import Final, cast

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, escape, param_text, unescape
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.parameters import Entry, Members, drop_param, params_of

_KINDS: Final = ("surname", "given")
"""What the values of SORT-AS are for, in a name (RFC 9555, section 2.2)."""

_SORTED_BY: Final = (["surname"], ["surname", "given"])


def read_sort_string(build: CardBuilder, head: Head, value: str) -> None:
    """SORT-STRING: what version 3.0 sorts the name by, the surname first."""
    name = build.card.get("name")
    if not value or (isinstance(name, dict) and "sortAs" in name):
        build.keep(head, value)
        return
    name = cast("Members", build.card.setdefault("name", {}))
    name["sortAs"] = {"surname": unescape(value)}


def sort_name(name: Members) -> None:
    """Read the SORT-AS of a name; it stays a parameter where something else is said already."""
    texts = _texts(name)
    if len(texts) == 1:
        # RFC 6350 quotes the whole list in its examples: SORT-AS="Harten,Rene".
        texts = texts[0].split(",")
    if not 1 <= len(texts) <= len(_KINDS):
        return
    sorted_by: Members = dict(zip(_KINDS, texts, strict=False))
    if name.setdefault("sortAs", sorted_by) == sorted_by:
        drop_param(name, "sort-as")


def sort_organization(organization: Members) -> None:
    """Read the SORT-AS of an organisation, which may go on with its units."""
    texts = _texts(organization)
    units = cast("list[Members]", organization.get("units", []))
    if not 1 <= len(texts) <= len(units) + 1:
        return
    first, *others = texts
    if first or not others:
        organization["sortAs"] = first
    for unit, text in zip(units, others, strict=False):
        if text:
            unit["sortAs"] = text
    drop_param(organization, "sort-as")


def _texts(entry: Members) -> list[str]:
    given = params_of(entry).get("sort-as")
    if isinstance(given, list):
        return [str(text) for text in given]
    return [given] if isinstance(given, str) else []


def organization_param(organization: Entry) -> str:
    """Return the SORT-AS parameter of an organisation, nothing if it has none."""
    units = organization.get("units", ())
    texts = [organization.get("sortAs"), *[unit.get("sortAs") for unit in units]]
    while texts and texts[-1] is None:
        texts.pop()
    return param_text("SORT-AS", [text or "" for text in texts]) if texts else ""


def name_param(out: Emitter, name: Members) -> str:
    """Return the SORT-AS parameter of a name, nothing where SORT-STRING says it."""
    sort_as = name.get("sortAs")
    if not isinstance(sort_as, dict) or list(sort_as) not in _SORTED_BY or _by_surname(out, name):
        return ""
    return param_text("SORT-AS", [str(text) for text in sort_as.values()])


def write_sort_string(out: Emitter, name: Members) -> None:
    """Write SORT-STRING, if the name has one that version 3.0 can say."""
    text = _by_surname(out, name)
    if text:
        out.line("SORT-STRING", escape(text))


def _by_surname(out: Emitter, name: Members) -> str:
    sort_as = name.get("sortAs")
    if out.is_v4 or not isinstance(sort_as, dict) or list(sort_as) != ["surname"]:
        return ""
    return str(sort_as["surname"])
