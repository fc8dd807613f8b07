"""Names and organisations: FN, N, ORG (RFC 9555, sections 2.3 and 2.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

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
from contactmesh.contacts.vcard.localization import add_patch
from contactmesh.contacts.vcard.ordering import (
    components_of,
    order_param,
    plain_value,
    put_in_order,
)
from contactmesh.contacts.vcard.parameters import (
    Entry,
    Members,
    drop_param,
    named_members,
    params_of,
    singleton_params,
)

NAME_KINDS: Final = ("surname", "given", "given2", "title", "credential", "surname2", "generation")
"""The fields of N (RFC 6350, section 6.2.2; RFC 9554, section 2.2) as JSContact kinds."""

_OLDER_FIELDS: Final = 5
"""How many of them RFC 6350 has."""

_NAME_FIELD: Final = {kind: index for index, kind in enumerate(NAME_KINDS)}

_OLDER_FIELD: Final = {kind: index for index, kind in enumerate(NAME_KINDS[:_OLDER_FIELDS])}

_SORTED_BY: Final = (["surname"], ["surname", "given"])

_NAME_MEMBERS: Final = frozenset({"full", "components"})


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
        if language is None:
            build.keep(head, value)
        else:
            add_patch(build.card, language, "name/full", unescape(value))
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
    if "components" in known:
        build.keep(head, value)
        return
    fields = split_value(value, ";")
    lists = "," in value and build.version != "2.1"
    if len(fields) <= _OLDER_FIELDS:
        known["components"] = components_of(NAME_KINDS, fields, lists=lists)
    else:
        known["components"] = [
            {"kind": kind, "value": part}
            for kind, texts in zip(NAME_KINDS, _name_parts(fields, lists=lists), strict=False)
            for part in texts
            if part
        ]
        if len(fields) > len(NAME_KINDS):
            build.keep(head, value)
    if head.params:
        known |= named_members(head)
        if "jscomps" in head.params:
            put_in_order(known, _name_parts(fields, lists=lists), NAME_KINDS)
        _sort_as(known)
    if head.group:
        params = cast("Members", known.get("vCardParams", {}))
        known["vCardParams"] = {**params, "group": head.group}


def _name_parts(fields: list[str], *, lists: bool) -> list[list[str]]:
    parts = [
        [unescape(part) for part in split_value(text, ",")]
        if lists and "," in text
        else [unescape(text)]
        for text in fields[: len(NAME_KINDS)]
    ]
    # RFC 9554 repeats the secondary surname and the generation in the older fields.
    for newer, older in ((5, 0), (6, 4)):
        if len(parts) > newer:
            parts[older] = [part for part in parts[older] if not part or part not in parts[newer]]
    return parts


def _sort_as(name: Members) -> None:
    """SORT-AS of a name: the surname, then the given name (RFC 9555, section 2.2)."""
    params = name.get("vCardParams")
    given = params.get("sort-as") if isinstance(params, dict) else None
    texts = [given] if isinstance(given, str) else given
    if isinstance(texts, list) and 1 <= len(texts) <= 2:
        name["sortAs"] = dict(zip(("surname", "given"), texts, strict=False))
        drop_param(name, "sort-as")


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
    params = entry.get("vCardParams")
    if isinstance(params, dict) and isinstance(params.get("sort-as"), str):
        entry["sortAs"] = params["sort-as"]
        drop_param(entry, "sort-as")
    build.add("organizations", "org", entry, head)


def write_name(out: Emitter, name: Entry | None) -> None:
    """Write FN and N; both versions demand FN, and 3.0 also N."""
    known = name or {}
    is_plain = _NAME_MEMBERS.issuperset(known)
    if name is not None and not (known and is_plain):
        out.certain = False
    full = known.get("full")
    if full is None:
        out.line("FN;DERIVED=TRUE", escape_text(name_shown(out.card), is_v4=out.is_v4))
    else:
        out.single("FN", escape_text(full, is_v4=out.is_v4))
        if "localizations" in out.card:
            _write_translations(out)
    components = known.get("components")
    if components is None:
        if not out.is_v4:
            out.line("N;DERIVED=TRUE", f"{escape(name_shown(out.card))};;;;")
        return
    head = "N" if is_plain else _name_head(known)
    value = plain_value(components, _OLDER_FIELD, _OLDER_FIELDS)
    out.line(head, _value(out, components) if value is None else value)


def _value(out: Emitter, components: list[dict[str, str]]) -> str:
    """Return N's value for any parts."""
    fields: list[str | None] = [None] * len(NAME_KINDS)
    last = 0
    for part in components:
        where = _NAME_FIELD.get(part["kind"], -1)
        value = part["value"]
        # Only the first five fields, in their order, come back as they are.
        if not last <= where < 5 or not value or len(part) != 2:
            out.certain = False
        if where >= 0:
            before, text = fields[where], escape(value)
            fields[where] = text if before is None else f"{before},{text}"
            last = where
    used = fields[:_OLDER_FIELDS]
    if fields[5] is not None or fields[6] is not None:
        # Readers that do not know the newer fields still show them.
        used = [_listed(fields[0], fields[5]), *fields[1:4], _listed(fields[4], fields[6])]
        used += fields[_OLDER_FIELDS:]
    return ";".join([field or "" for field in used])


def _name_head(name: Members) -> str:
    extra = params_of(name)
    head = f"{group_prefix(extra)}N{params_text(extra)}{order_param(name, _NAME_FIELD)}"
    sort_as = name.get("sortAs")
    if isinstance(sort_as, dict) and list(sort_as) in _SORTED_BY:
        head += param_text("SORT-AS", [str(text) for text in sort_as.values()])
    return head


def _listed(texts: str | None, others: str | None) -> str | None:
    if texts is None or others is None:
        return others if texts is None else texts
    return f"{texts},{others}"


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
        params = param_text("SORT-AS", entry["sortAs"]) if "sortAs" in entry else ""
        out.entry("ORG", "org", key, entry, joined_fields(fields), params)
