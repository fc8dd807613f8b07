"""The order of name and address parts: the JSCOMPS parameter (RFC 9555, section 3.3.1).

A structured value has its parts by field; JSCOMPS says in which order a name or an address has
them, and with what between: `;1;0` is "the second field, then the first".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import (
    escape,
    joined_fields,
    param_text,
    split_value,
    unescape,
)
from contactmesh.contacts.vcard.parameters import Members, drop_param, params_of

SEPARATOR: Final = "separator"
_POSITION: Final = re.compile(r"([0-9]{1,2})(?:,([0-9]{1,3}))?\Z")


def ordered(jscomps: str, fields: Sequence[Sequence[str]], kinds: Sequence[str]) -> Members | None:
    """Return `components`, `isOrdered` and `defaultSeparator`, or None when JSCOMPS does not fit.

    Args:
        jscomps: the parameter's value.
        fields: the parts of each field.
        kinds: the JSContact kind of each field.
    """
    first, *entries = split_value(jscomps, ";")
    members: Members = {"isOrdered": True}
    if first:
        if not first.startswith("s,"):
            return None
        members["defaultSeparator"] = unescape(first[2:])
    components: list[JsonValue] = []
    for entry in entries:
        if entry.startswith("s,"):
            components.append({"kind": SEPARATOR, "value": unescape(entry[2:])})
            continue
        match = _POSITION.match(entry)
        if match is None:
            return None
        field, place = int(match[1]), int(match[2] or 0)
        if field >= min(len(fields), len(kinds)) or place >= len(fields[field]):
            return None
        components.append({"kind": kinds[field], "value": fields[field][place]})
    members["components"] = components
    return members


def jscomps_of(name: Mapping[str, JsonValue], positions: Mapping[str, int]) -> str | None:
    """Return the JSCOMPS for an ordered name or address, or None when it has none.

    Args:
        name: the name or address, as JSContact has it.
        positions: the field of each kind.
    """
    components = name.get("components")
    if name.get("isOrdered") is not True or not isinstance(components, list):
        return None
    used: dict[int, int] = {}
    default = name.get("defaultSeparator")
    entries = ["" if default is None else f"s,{escape(str(default))}"]
    for each in cast("list[Members]", components):
        kind = str(each["kind"])
        if kind == SEPARATOR:
            entries.append(f"s,{escape(str(each['value']))}")
            continue
        field = positions.get(kind)
        if field is None:
            return None
        place = used.get(field, 0)
        used[field] = place + 1
        entries.append(f"{field},{place}" if place else str(field))
    return ";".join(entries)


def components_of(kinds: Sequence[str], fields: Sequence[str], *, lists: bool) -> list[JsonValue]:
    """Return the components that the fields of a structured value are.

    Args:
        kinds: the JSContact kind of each field; empty for one that says nothing of its own.
        fields: the fields, still escaped.
        lists: whether there are commas, which divide the values of a field.
    """
    components: list[JsonValue] = []
    for kind, text in zip(kinds, fields, strict=False):
        if not text or not kind:
            continue
        if lists and "," in text:
            parts = [unescape(part) for part in split_value(text, ",")]
            components += [{"kind": kind, "value": part} for part in parts if part]
        else:
            components.append({"kind": kind, "value": unescape(text) if "\\" in text else text})
    return components


def plain_value(
    components: Sequence[Mapping[str, str]], positions: Mapping[str, int], count: int
) -> str | None:
    """Return the structured value of parts that have a field each, in order, as most have.

    Args:
        components: the parts.
        positions: the field of each kind that may be there.
        count: how many fields there are.
    """
    fields = [""] * count
    last = -1
    for part in components:
        where = positions.get(part["kind"], -1)
        text = part["value"]
        if where <= last or not text or len(part) != 2:
            return None
        fields[where] = text
        last = where
    return joined_fields(fields)


def put_in_order(entry: Members, fields: list[list[str]], kinds: Sequence[str]) -> None:
    """Order the parts as JSCOMPS says, if it says so and fits (RFC 9555, section 3.3.1)."""
    jscomps = params_of(entry).get("jscomps")
    found = ordered(jscomps, fields, kinds) if isinstance(jscomps, str) else None
    if found is not None:
        entry |= found
        drop_param(entry, "jscomps")


def order_param(entry: Members, positions: Mapping[str, int]) -> str:
    """Return the JSCOMPS parameter of a name or an address; nothing if its parts have no order."""
    jscomps = jscomps_of(entry, positions)
    return "" if jscomps is None else param_text("JSCOMPS", jscomps)
