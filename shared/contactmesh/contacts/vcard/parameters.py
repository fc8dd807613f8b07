"""What the parameters of a property say in JSContact (RFC 9555, section 2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import Head
from contactmesh.contacts.vcard.dates import utc_date_time
from contactmesh.contacts.vcard.properties import (
    ADDRESS_CONTEXTS,
    CONTEXTS,
    FEATURES,
    Property,
)

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,255}\Z")
_PLAIN_VALUE_TYPES: Final = frozenset({"uri", "text", "binary", "phone-number", "inline", "url"})
_DECODED: Final = frozenset({"encoding", "charset"})
_LEVELS: Final = {"beginner": "low", "average": "medium", "expert": "high"}
_ADDRESS_MEMBERS: Final = {"label": "full", "cc": "countryCode", "geo": "coordinates"}
_AUTHOR_MEMBERS: Final = {"author": "uri", "author-name": "name"}

Members = dict[str, JsonValue]

Entry = dict[str, Any]
"""The same of a card that is known to be valid, and so what each member is."""


def kept(params: Mapping[str, list[str]], names: Iterable[str]) -> Members:
    """Return the named parameters as `vCardParams` (RFC 9555, section 3.2.2)."""
    return {
        name: params[name][0] if len(params[name]) == 1 else list[JsonValue](params[name])
        for name in names
    }


def members_of(head: Head, known: Property) -> Members:
    """Return the members that a head says of a simple property, made once for each head."""
    if head.template is None:
        head.template = _members(head, known)
    return head.template


def _members(head: Head, known: Property) -> Members:
    members: Members = dict(known.fixed)
    rest: Members = {}
    for name, values in head.params.items():
        if name == "type":
            left = _read_types(
                members,
                values,
                CONTEXTS if known.contexts else {},
                FEATURES if known.features else {},
                preferred=known.preferred,
            )
            if left:
                rest["type"] = left
        elif name == "pref" and known.preferred:
            _read_preference(members, rest, values)
        elif name in known.params and len(values) == 1:
            member = known.params[name]
            value = _converted(member, values[0], known.name)
            if value is None or member in members:
                rest |= kept(head.params, (name,))
            else:
                members[member] = value
        elif name in _AUTHOR_MEMBERS and known.name == "NOTE":
            author = members.setdefault("author", {})
            if isinstance(author, dict):
                author[_AUTHOR_MEMBERS[name]] = values[0]
        else:
            _read_common(head, rest, name, values)
    if rest:
        members["vCardParams"] = rest
    return members


def _read_common(head: Head, rest: Members, name: str, values: list[str]) -> None:
    if name == "prop-id" and len(values) == 1 and _ID.match(values[0]):
        head.key = values[0]
    elif name in _DECODED or (name == "value" and values[0].lower() in _PLAIN_VALUE_TYPES):
        return
    else:
        rest |= kept(head.params, (name,))


def _converted(member: str, value: str, name: str) -> JsonValue:
    if member == "listAs":
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
    if member == "level":
        return _LEVELS.get(value.lower(), value) if name == "EXPERTISE" else value
    if member == "created":
        return utc_date_time(value)
    return value


def _read_types(
    members: Members,
    values: list[str],
    contexts: Mapping[str, str],
    features: Mapping[str, str],
    *,
    preferred: bool,
) -> JsonValue:
    left: list[JsonValue] = []
    found_contexts: Members = {}
    found_features: Members = {}
    for value in values:
        small = value.lower()
        if small in contexts:
            found_contexts[contexts[small]] = True
        elif small in features:
            found_features[features[small]] = True
        elif small == "pref" and preferred:
            members.setdefault("pref", 1)
        elif small:
            left.append(value)
    if found_contexts:
        members["contexts"] = found_contexts
    if found_features:
        members["features"] = found_features
    return left[0] if len(left) == 1 else left


def _read_preference(members: Members, rest: Members, values: list[str]) -> None:
    text = values[0]
    if len(values) == 1 and re.fullmatch("[1-9][0-9]?|100", text, re.ASCII):
        members["pref"] = int(text)
    else:
        rest["pref"] = text


def address_members(head: Head) -> Members:
    """Return the members that the head of an ADR says, made once for each head."""
    if head.template is not None:
        return head.template
    members: Members = {}
    rest: Members = {}
    for name, values in head.params.items():
        if name == "type":
            left = _read_types(members, values, ADDRESS_CONTEXTS, {}, preferred=True)
            if left:
                rest["type"] = left
        elif name == "pref":
            _read_preference(members, rest, values)
        elif name in _ADDRESS_MEMBERS and len(values) == 1:
            members[_ADDRESS_MEMBERS[name]] = values[0]
        elif name == "tz" and len(values) == 1 and "/" in values[0]:
            members["timeZone"] = values[0]
        else:
            _read_common(head, rest, name, values)
    if rest:
        members["vCardParams"] = rest
    head.template = members
    return members


def named_members(head: Head) -> Members:
    """Return the members of an ORG, N or PRONOUNS head, made once for each head."""
    if head.template is not None:
        return head.template
    members: Members = {}
    rest: Members = {}
    for name, values in head.params.items():
        if name == "type" and head.name != "N":
            left = _read_types(members, values, CONTEXTS, {}, preferred=head.name == "PRONOUNS")
            if left:
                rest["type"] = left
        elif name == "pref" and head.name == "PRONOUNS":
            _read_preference(members, rest, values)
        else:
            _read_common(head, rest, name, values)
    if rest:
        members["vCardParams"] = rest
    head.template = members
    return members


def singleton_params(head: Head) -> Members:
    """Return all that a head says about a property whose JSContact value is a bare string."""
    if not head.params and head.group is None:
        return {}
    names = [
        name
        for name in head.params
        if name not in _DECODED
        and not (name == "value" and head.params[name][0].lower() in _PLAIN_VALUE_TYPES)
    ]
    rest = kept(head.params, names)
    if head.group is not None:
        rest["group"] = head.group
    return rest


def params_of(entry: Members) -> Members:
    """Return the `vCardParams` of an entry, none if it has none."""
    params = entry.get("vCardParams")
    return params if isinstance(params, dict) else {}


def drop_param(entry: Members, name: str) -> None:
    """Take a parameter out of the `vCardParams` of an entry."""
    params = cast("Members", entry["vCardParams"])
    rest = {param: value for param, value in params.items() if param != name}
    if rest:
        entry["vCardParams"] = rest
    else:
        del entry["vCardParams"]
