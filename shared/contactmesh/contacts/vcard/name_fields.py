"""The fields of N (RFC 6350, section 6.2.2; RFC 9554, section 2.2) as components, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import escape, split_value, unescape
from contactmesh.contacts.vcard.emitter import Emitter
from contactmesh.contacts.vcard.ordering import components_of, plain_value

NAME_KINDS: Final = ("surname", "given", "given2", "title", "credential", "surname2", "generation")
"""The fields as JSContact kinds."""

_OLDER_FIELDS: Final = 5
"""How many of them RFC 6350 has."""

NAME_FIELD: Final = {kind: index for index, kind in enumerate(NAME_KINDS)}

_OLDER_FIELD: Final = {kind: index for index, kind in enumerate(NAME_KINDS[:_OLDER_FIELDS])}


def name_components(fields: Sequence[str], *, lists: bool) -> list[JsonValue]:
    """Return the components that the fields of a name are.

    Args:
        fields: the fields, still escaped.
        lists: whether there are commas, which divide the values of a field.
    """
    if len(fields) <= _OLDER_FIELDS:
        return components_of(NAME_KINDS, fields, lists=lists)
    return [
        {"kind": kind, "value": part}
        for kind, texts in zip(NAME_KINDS, name_parts(fields, lists=lists), strict=False)
        for part in texts
        if part
    ]


def name_parts(fields: Sequence[str], *, lists: bool) -> list[list[str]]:
    """Return the parts of each field."""
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


def name_value(out: Emitter, components: list[dict[str, str]]) -> str:
    """Return the value of N for any parts."""
    value = plain_value(components, _OLDER_FIELD, _OLDER_FIELDS)
    return _value(out, components) if value is None else value


def _value(out: Emitter, components: list[dict[str, str]]) -> str:
    fields: list[str | None] = [None] * len(NAME_KINDS)
    last = 0
    for part in components:
        where = NAME_FIELD.get(part["kind"], -1)
        value = part["value"]
        # Only the first five fields, in their order, come back as they are.
        if not last <= where < _OLDER_FIELDS or not value or len(part) != 2:
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


def _listed(texts: str | None, others: str | None) -> str | None:
    if texts is None or others is None:
        return others if texts is None else texts
    return f"{texts},{others}"
