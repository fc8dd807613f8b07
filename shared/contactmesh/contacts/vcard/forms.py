"""Heads for what entries say besides their value, and for properties that are merely kept.

Nearly all entries say one of a few things: what that makes of a head is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import param_text
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.properties import (
    ADDRESS_CONTEXTS,
    ADDRESS_TYPES,
    CONTEXT_TYPES,
    FEATURE_TYPES,
    FEATURES,
    Property,
)

_APPLE_CASE: Final = {"x-ablabel": "X-ABLabel", "x-abadr": "X-ABADR", "x-abdate": "X-ABDATE"}
_EXPERTISE: Final = {"low": "beginner", "medium": "average", "high": "expert"}
_TYPE_WORDS: Final = frozenset({"pref", "", *ADDRESS_CONTEXTS, *FEATURES})
_PARAMS = """
    altid author author-name cc charset created derived encoding geo index jscomps jsptr label
    language level mediatype pref prop-id service-type sort-as tz username value x-apple-omit-year
    x-service-type x-user
    """
_READ_PARAMS: Final = frozenset(_PARAMS.split())
"""Parameters that mean something to a reader: kept under such a name, they may not survive."""

_DECODING_PARAMS: Final = frozenset({"charset", "encoding", "value"})
"""The same for properties that are kept as they are."""

_ADDRESSES: Final = frozenset({"ADR", "LABEL"})
_DATES: Final = frozenset({"bday", "deathdate", "anniversary"})
_PARAM_NAME: Final = re.compile(r"[a-z0-9-]+\Z")
GROUP: Final = re.compile(r"[A-Za-z0-9-]+\Z")

Form = tuple[str, str | None, bool]
"""A head without its group, the group, and whether a reader makes the same entry of it."""

Said = tuple[JsonValue, JsonValue, JsonValue, JsonValue]
"""What an entry says besides its value: `contexts`, `features`, `vCardParams`, `pref`."""

_MOST_FORMS: Final = 4096
_LARGEST_SHAPE: Final = 512
WITHOUT_REFS: Final = 2
"""The version of marshal that gives equal values equal bytes: it does not look at identity."""

Shape = bytes | str | tuple[str, str, bool, bytes]
"""What a form depends on; just the name, of a property that is kept without parameters."""

_forms: Final[dict[Shape, Form]] = {}

remembered: Final[Callable[[Any], Form | None]] = _forms.get
"""The form that is remembered for a shape."""


def simple_form(
    shape: bytes, known: Property, others: Members, *, is_v4: bool, is_uri: bool
) -> Form:
    """Return the head for all members of a simple property's entry but its value and label.

    Args:
        shape: the members and what else the head depends on, under which it is remembered.
        known: the property.
        others: the members.
        is_v4: whether it is written for version 4.0.
        is_uri: whether the value is a URI, where it could be text.
    """
    params, certain = _own_params(known, others, is_v4=is_v4)
    if is_uri:
        params += ";VALUE=uri"
    get = others.get
    said = get("contexts"), get("features"), get("vCardParams"), get("pref")
    head, group, survives = _entry_form(known.name, params, said, is_v4=is_v4)
    form = head, group, certain and survives
    _remember(shape, form)
    return form


def _own_params(known: Property, others: Members, *, is_v4: bool) -> tuple[str, bool]:
    """Return the parameters that only some properties have."""
    certain = known.members.issuperset(others)
    params = ""
    for param, member in known.params.items():
        if member in others and not param.startswith("x-") and member not in known.fixed:
            text = str(others[member])
            if known.name == "EXPERTISE" and member == "level":
                text = _EXPERTISE.get(text, text)
            written = "X-SERVICE-TYPE" if param == "service-type" and not is_v4 else param
            params += param_text(written.upper(), text)
            if member not in {"service", "user"}:
                certain = False
    return params, certain


def entry_form(shape: tuple[str, str, bool, bytes], said: Said) -> Form:
    """Return the head for what an entry says besides its value.

    Args:
        shape: the vCard property, parameters that only this property has, whether it is written
            for version 4.0, and what the entry says; it is remembered under this.
        said: what the entry says.
    """
    name, params, is_v4, _ = shape
    form = _entry_form(name, params, said, is_v4=is_v4)
    _remember(shape, form)
    return form


def kept_form(
    shape: Shape, name: JsonValue, params: JsonValue, kind: JsonValue, read_names: frozenset[str]
) -> Form:
    """Return the head of a kept property; an empty one if it can be none.

    Args:
        shape: all of the next three, under which it is remembered.
        name: the property, in small letters.
        params: its parameters.
        kind: the type of its value.
        read_names: the properties that a reader does not merely keep.
    """
    form = _kept_form(name, params, kind, read_names)
    _remember(shape, form)
    return form


def _remember(shape: Shape, form: Form) -> None:
    if len(_forms) >= _MOST_FORMS:
        _forms.clear()
    parts = shape if isinstance(shape, tuple) else (shape,)
    if sum(len(part) for part in parts if isinstance(part, str | bytes)) <= _LARGEST_SHAPE:
        _forms[shape] = form


def _entry_form(name: str, params: str, said: Said, *, is_v4: bool) -> Form:
    contexts, features, extra, pref = said
    types = ADDRESS_TYPES if name in _ADDRESSES else CONTEXT_TYPES
    certain = True
    words: list[str] = []
    for flags, known in ((contexts, types), (features, FEATURE_TYPES)):
        if flags is not None:
            certain &= _add_words(words, flags, known)
    group = None
    kept = ""
    if isinstance(extra, dict):
        group, kept, survives = _kept_params(words, extra, _READ_PARAMS)
        certain &= survives
    if pref is not None:
        if pref == 1 and not is_v4:
            words.append("pref")
        else:
            kept += f";PREF={pref}"
    head = f"{name};TYPE={','.join(words)}" if words else name
    return head + params + kept, group, certain


def _kept_form(
    name: JsonValue, params: JsonValue, kind: JsonValue, read_names: frozenset[str]
) -> Form:
    if not (isinstance(name, str) and isinstance(params, dict) and isinstance(kind, str)):
        return "", None, False
    if not _PARAM_NAME.match(name):
        return "", None, False
    words: list[str] = []
    group, text, certain = None, "", True
    if params:
        group, text, certain = _kept_params(words, params, _DECODING_PARAMS)
    head = _APPLE_CASE.get(name, name.upper())
    head += (f";TYPE={','.join(words)}" if words else "") + text
    if kind != "unknown":
        head += f";VALUE={kind}"
        certain = certain and _PARAM_NAME.match(kind) is not None
    # A date that has alternatives is none that JSContact has a place for.
    is_date_kept = name in _DATES and "altid" in params
    is_kept = name not in read_names or name == "x-ablabel" or is_date_kept
    return head, group, certain and is_kept


def _add_words(words: list[str], flags: JsonValue, known: Mapping[str, str]) -> bool:
    """Add the TYPE values for flags; False when a reader would not make the same flags of them."""
    if not isinstance(flags, dict) or not flags:
        return False
    found = [known[flag] for flag in flags if flag in known]
    words += found
    return len(found) == len(flags)


def _kept_params(
    words: list[str], params: Members, read_params: frozenset[str]
) -> tuple[str | None, str, bool]:
    """Return the group of `vCardParams`, their text, and whether a reader keeps just them.

    Args:
        words: takes the TYPE values.
        params: the parameters.
        read_params: those that a reader makes something else of.
    """
    group = None
    text = ""
    certain = bool(params)
    for name, value in params.items():
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or (len(values) < 2 and values is value):
            certain = False
            continue
        texts = [str(each) for each in values]
        if name == "group":
            group = texts[0] if GROUP.match(texts[0]) else None
            certain = certain and len(texts) == 1 and group is not None
        elif name == "type":
            certain = certain and not any(map(_is_doubtful_type, texts))
            words += [_quoted(each) for each in texts]
        else:
            text += param_text(name.upper(), texts)
            certain = certain and _is_kept(name, texts, read_params)
    return group, text, certain


def _is_kept(name: str, values: list[str], read_params: frozenset[str]) -> bool:
    """Whether a reader keeps a parameter just as it is."""
    if name in read_params or not _PARAM_NAME.match(name):
        return False
    return all(value == value.strip() and "\\" not in value for value in values)


def _is_doubtful_type(word: str) -> bool:
    return word.lower() in _TYPE_WORDS or "," in word or '"' in word or word != word.strip()


def _quoted(word: str) -> str:
    return param_text("", word)[2:]
