"""Postal addresses: ADR and LABEL (RFC 9555, section 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import Head, escape, param_text, split_value, unescape
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.ordering import order_param, put_in_order
from contactmesh.contacts.vcard.parameters import Members, address_members
from contactmesh.contacts.vcard.properties import ADDRESS_CONTEXTS

_KINDS: Final = (
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

_OLDER_FIELDS: Final = 7
"""How many of them RFC 6350 has."""

_REPEATED_KINDS: Final = ("postOfficeBox", "", "", *_KINDS[3:])
"""The same when the finer fields are there, which the second and third only repeat."""

_ADDRESS_TYPES: Final = {context: name for name, context in ADDRESS_CONTEXTS.items()}

_FINER_FIELD: Final = {kind: index for index, kind in enumerate(_KINDS)}

_OLD_FIELD: Final = {
    kind: index
    for index, kind in enumerate(_KINDS[:_OLDER_FIELDS])
    if kind not in {"apartment", "name"}
} | {"apartment": 1, "name": 2}

_OLD_KINDS: Final = frozenset(_OLD_FIELD)

_STREET: Final = ("number", "name", "direction")

_UNIT: Final = frozenset({"room", "apartment", "floor", "building"})

_PLAIN_ADDRESS_MEMBERS: Final = frozenset({"components", "contexts", "pref", "vCardParams"})


def read_address(build: CardBuilder, head: Head, value: str) -> None:
    """ADR: the newer, finer fields win over the older ones that repeat them (RFC 9554, 2.1)."""
    entry = address_members(head).copy()
    fields = split_value(value, ";")
    kinds = (
        _REPEATED_KINDS if len(fields) > _OLDER_FIELDS and any(fields[_OLDER_FIELDS:]) else _KINDS
    )
    components: list[JsonValue]
    if "\\" in value or "," in value:
        components = _components(kinds, fields, lists=build.version != "2.1")
    else:
        components = [
            {"kind": kind, "value": text}
            for kind, text in zip(kinds, fields, strict=False)
            if text and kind
        ]
    if components:
        entry["components"] = components
    if "jscomps" in head.params:
        each = [[unescape(part) for part in split_value(text, ",")] for text in fields]
        put_in_order(entry, each, _KINDS)
    build.add("addresses", "adr", entry, head)


def _components(kinds: Sequence[str], fields: list[str], *, lists: bool) -> list[JsonValue]:
    components: list[JsonValue] = []
    for kind, text in zip(kinds, fields, strict=False):
        if not text or not kind:
            continue
        if lists and "," in text:
            parts = [unescape(part) for part in split_value(text, ",")]
            components += [{"kind": kind, "value": part} for part in parts if part]
        else:
            components.append({"kind": kind, "value": unescape(text)})
    return components


def read_label(build: CardBuilder, head: Head, value: str) -> None:
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


def _list(fields: list[str | None], where: int, value: str) -> None:
    before = fields[where]
    fields[where] = value if before is None else f"{before},{value}"


def write_address(out: Emitter, key: str, entry: Members) -> None:
    """Write ADR; the address in full is a parameter in 4.0, and LABEL in 3.0."""
    components = cast("list[dict[str, str]]", entry.get("components", []))
    finer = not _OLD_KINDS.issuperset([part["kind"] for part in components])
    places = _FINER_FIELD if finer else _OLD_FIELD
    fields: list[str | None] = [None] * (len(_KINDS) if finer else _OLDER_FIELDS)
    last = 0
    is_plain = _PLAIN_ADDRESS_MEMBERS.issuperset(entry)
    if finer or not components or not is_plain:
        out.certain = False
    for part in components:
        kind = part["kind"]
        text = part["value"]
        where = places.get(kind, -1)
        if where < last or not text or len(part) != 2:
            out.certain = False
        if where < 0:
            continue
        last = where
        value = escape(text)
        _list(fields, where, value)
        if not finer:
            continue
        # Readers that do not know the finer fields still show the street.
        if kind in _STREET:
            _list(fields, 2, value)
        elif kind in _UNIT:
            _list(fields, 1, value)
    joined = ";".join([field or "" for field in fields])
    if is_plain:
        out.entry("ADR", "adr", key, entry, joined, types=_ADDRESS_TYPES)
        return
    params = order_param(entry, places)
    for param, member in (("CC", "countryCode"), ("GEO", "coordinates"), ("TZ", "timeZone")):
        if isinstance(entry.get(member), str):
            params += param_text(param, str(entry[member]))
    full = entry.get("full")
    if isinstance(full, str) and out.is_v4:
        params += param_text("LABEL", full)
    out.entry("ADR", "adr", key, entry, joined, params, types=_ADDRESS_TYPES)
    if isinstance(full, str) and not out.is_v4:
        out.entry("LABEL", key, f"{key}-1", entry, escape(full), types=_ADDRESS_TYPES)
