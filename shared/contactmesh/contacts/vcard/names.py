"""Names and organisations: FN, N, ORG (RFC 9555, sections 2.3 and 2.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.display import name_shown
from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY, CardBuilder
from contactmesh.contacts.vcard.content import (
    Head,
    escape,
    escape_text,
    joined_fields,
    param_text,
    split_value,
    unescape,
)
from contactmesh.contacts.vcard.emitter import Emitter, group_prefix, params_text
from contactmesh.contacts.vcard.localization import add_patches, patch_of
from contactmesh.contacts.vcard.name_fields import (
    NAME_FIELD,
    NAME_KINDS,
    name_components,
    name_parts,
    name_value,
)
from contactmesh.contacts.vcard.ordering import order_param, put_in_order
from contactmesh.contacts.vcard.parameters import (
    Entry,
    Members,
    named_members,
    params_of,
    singleton_params,
)
from contactmesh.contacts.vcard.phonetics import speak, write_parts, write_phonetics
from contactmesh.contacts.vcard.sorting import (
    name_param,
    organization_param,
    sort_name,
    sort_organization,
    write_sort_string,
)

_NAME_MEMBERS: Final = frozenset({"full", "components"})
_SPOKEN_NAME: Final = frozenset({"full", "components", "phoneticScript"})


_ORG_MEMBERS: Final = frozenset({"name", "units", "contexts", "vCardParams"})


def read_full_name(build: CardBuilder, head: Head, value: str) -> None:
    """FN; one that was made up for a card without a full name is not taken (RFC 9554, 4.4)."""
    name = cast("Members", build.card.setdefault("name", {}))
    if head.params and head.params.get("derived", [""])[0].lower() == "true":
        if not name:
            del build.card["name"]
        return
    if "full" in name:
        language = _other_language(head, _noted(build, "fn"))
        patch: Members = {"name/full": unescape(value)}
        if language is None or not add_patches(build.card, language, patch):
            build.keep(head, value)
        return
    name["full"] = unescape(value)
    if head.params or head.group:
        build.note_params("FN", singleton_params(head))


def _noted(build: CardBuilder, name: str) -> Members:
    every = build.card.get(PARAMS_PROPERTY)
    params = every.get(name) if isinstance(every, dict) else None
    return params if isinstance(params, dict) else {}


def _other_language(head: Head, first: Members) -> str | None:
    """The language of an alternative to a property with the given parameters, if it is one."""
    if head.params.keys() != {"altid", "language"} or head.group is not None:
        return None
    language = head.params["language"][0]
    if head.params["altid"] != [first.get("altid")] or language in ("", first.get("language")):
        return None
    return language


def read_name(build: CardBuilder, head: Head, value: str) -> None:
    """N: the parts of the name; an empty one stays an empty one."""
    if head.params and head.params.get("derived", [""])[0].lower() == "true":
        return
    known = cast("Members", build.card.setdefault("name", {}))
    fields = split_value(value, ";")
    lists = "," in value and build.version != "2.1"
    if "components" in known:
        if not _read_alternative(build, head, fields, lists=lists):
            build.keep(head, value)
        return
    known["components"] = name_components(fields, lists=lists)
    if len(fields) > len(NAME_KINDS):
        build.keep(head, value)
    if head.params:
        known |= named_members(head)
        if "jscomps" in head.params:
            put_in_order(known, name_parts(fields, lists=lists), NAME_KINDS)
        sort_name(known)
    if head.group:
        params = cast("Members", known.get("vCardParams", {}))
        known["vCardParams"] = {**params, "group": head.group}


def _read_alternative(build: CardBuilder, head: Head, fields: list[str], *, lists: bool) -> bool:
    """Read an N after the first: the name in another language, or how it is spoken."""
    name = cast("Members", build.card["name"])
    if len(fields) > len(NAME_KINDS) or "isOrdered" in name:
        return False
    if "phonetic" in head.params:
        return speak(build, head, name_parts(fields, lists=lists))
    language = _other_language(head, params_of(name))
    components = name_components(fields, lists=lists)
    return language is not None and add_patches(
        build.card, language, {"name/components": components}
    )


def read_organization(build: CardBuilder, head: Head, value: str) -> None:
    """ORG: the organisation and its units."""
    entry = named_members(head).copy() if head.params else {}
    first, *units = [unescape(part) for part in split_value(value, ";")]
    while units and not units[-1]:
        units.pop()
    if first or not units:
        entry["name"] = first
    if units:
        entry["units"] = [{"name": unit} for unit in units]
    if head.params:
        sort_organization(entry)
    build.add("organizations", "org", entry, head)


def write_name(out: Emitter, name: Entry | None) -> None:
    """Write FN and N; both versions demand FN, and 3.0 also N."""
    known = name or {}
    is_plain = _NAME_MEMBERS.issuperset(known)
    is_spoken = not is_plain and _is_spoken(known)
    if name is not None and not (known and (is_plain or is_spoken)):
        out.certain = False
    full = known.get("full")
    if full is None:
        out.line("FN;DERIVED=TRUE", escape_text(name_shown(out.card), is_v4=out.is_v4))
    else:
        out.single("FN", escape_text(full, is_v4=out.is_v4))
        if "localizations" in out.card:
            _write_translations(out)
    if "sortAs" in known:
        write_sort_string(out, known)
    components = known.get("components")
    if components is None:
        if not out.is_v4:
            out.line("N;DERIVED=TRUE", f"{escape(name_shown(out.card))};;;;")
        return
    if is_spoken:
        bare = [{"kind": part["kind"], "value": part["value"]} for part in components]
        out.line("N", name_value(out, bare))
        if not write_parts(out, components, known["phoneticScript"]):
            out.certain = False
        return
    head = "N" if is_plain else _name_head(out, known)
    out.line(head, name_value(out, components))
    if not out.certain:
        _write_alternatives(out, known)


def _is_spoken(name: Entry) -> bool:
    """Whether a name has nothing special but how its parts are spoken, as phones write it."""
    return "phoneticScript" in name and "components" in name and _SPOKEN_NAME.issuperset(name)


def _name_head(out: Emitter, name: Members) -> str:
    extra = params_of(name)
    order = order_param(name, NAME_FIELD)
    return f"{group_prefix(extra)}N{params_text(extra)}{order}{name_param(out, name)}"


def _write_translations(out: Emitter) -> None:
    """Write the full names in other languages, beside one that says which ALTID they share."""
    every = out.card.get(PARAMS_PROPERTY)
    own = every.get("fn") if isinstance(every, dict) else None
    altid = own.get("altid") if isinstance(own, dict) else None
    if not isinstance(altid, str):
        return
    for language, patch in cast("dict[str, Members]", out.card.get("localizations", {})).items():
        full = patch.get("name/full")
        if isinstance(full, str):
            params = param_text("ALTID", altid) + param_text("LANGUAGE", language)
            out.line(f"FN{params}", escape_text(full, is_v4=out.is_v4))


def _write_alternatives(out: Emitter, name: Entry) -> None:
    """Write the name in other languages, and how it is spoken."""
    altid = params_of(name).get("altid")
    for language in out.card.get("localizations", ()):
        components = patch_of(out.card, language).get("name/components")
        if isinstance(altid, str) and _are_components(components):
            params = param_text("ALTID", altid) + param_text("LANGUAGE", language)
            out.line(f"N{params}", name_value(out, cast("list[dict[str, str]]", components)))
    write_phonetics(out, name)


def _are_components(value: JsonValue) -> bool:
    """Whether a patch, which may be anything, gives the parts of a name."""
    return isinstance(value, list) and all(
        isinstance(part, dict)
        and isinstance(part.get("kind"), str)
        and isinstance(part.get("value"), str)
        for part in value
    )


def write_organizations(out: Emitter, entries: Mapping[str, Entry]) -> None:
    """Write ORG."""
    for key, entry in entries.items():
        name = entry.get("name", "")
        fields = [name]
        if "units" in entry:
            units = entry["units"]
            fields += [unit["name"] for unit in units]
            if not fields[-1] or not units or max(map(len, units)) > 1:
                out.certain = False
        if not name or not _ORG_MEMBERS.issuperset(entry):
            out.certain = False
        params = organization_param(entry) if "sortAs" in entry or not out.certain else ""
        out.entry("ORG", "org", key, entry, joined_fields(fields), params)
