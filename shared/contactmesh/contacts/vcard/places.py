"""Postal addresses: ADR and LABEL (RFC 9555, section 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.content import (
    Head,
    escape,
    param_text,
    split_value,
    unescape,
)
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.ordering import (
    components_of,
    order_param,
    plain_value,
    put_in_order,
)
from contactmesh.contacts.vcard.parameters import Entry, Members, address_members

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
    is_finer = len(fields) > _OLDER_FIELDS and any(fields[_OLDER_FIELDS:])
    kinds = _REPEATED_KINDS if is_finer else _KINDS
    lists = "," in value and build.version != "2.1"
    components = components_of(kinds, fields, lists=lists)
    if components:
        entry["components"] = components
    if "jscomps" in head.params:
        each = [[unescape(part) for part in split_value(text, ",")] for text in fields]
        put_in_order(entry, each, _KINDS)
    build.add("addresses", "adr", entry, head)


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


def write_addresses(out: Emitter, entries: Mapping[str, Entry]) -> None:
    """Write ADR; the address in full is a parameter in 4.0, and LABEL in 3.0."""
    for key, entry in entries.items():
        components = entry.get("components")
        value = plain_value(components, _OLD_FIELD, _OLDER_FIELDS) if components else None
        if value is not None and _PLAIN_ADDRESS_MEMBERS.issuperset(entry):
            out.entry("ADR", "adr", key, entry, value)
        else:
            _any_address(out, key, entry)


def _any_address(out: Emitter, key: str, entry: Entry) -> None:
    """Write an address with whatever it has."""
    components = entry.get("components", [])
    places = _OLD_FIELD
    if not _OLD_KINDS.issuperset([part["kind"] for part in components]):
        places = _FINER_FIELD
    value = _value(out, components, places)
    if _PLAIN_ADDRESS_MEMBERS.issuperset(entry):
        out.entry("ADR", "adr", key, entry, value)
        return
    out.certain = False
    params = order_param(entry, places)
    for param, member in (("CC", "countryCode"), ("GEO", "coordinates"), ("TZ", "timeZone")):
        if isinstance(entry.get(member), str):
            params += param_text(param, str(entry[member]))
    full = entry.get("full")
    if isinstance(full, str) and out.is_v4:
        params += param_text("LABEL", full)
    out.entry("ADR", "adr", key, entry, value, params)
    if isinstance(full, str) and not out.is_v4:
        out.entry("LABEL", "label", "", entry, escape(full))


def _value(out: Emitter, components: list[dict[str, str]], places: Mapping[str, int]) -> str:
    """Return ADR's value for any parts."""
    finer = places is _FINER_FIELD
    fields: list[str | None] = [None] * (len(_KINDS) if finer else _OLDER_FIELDS)
    last = 0
    if finer or not components:
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
    return ";".join([field or "" for field in fields])


def _list(fields: list[str | None], where: int, value: str) -> None:
    before = fields[where]
    fields[where] = value if before is None else f"{before},{value}"
