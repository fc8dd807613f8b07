"""The content lines that a writer collects, and how entries become parameters."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from marshal import dumps
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import APPLE_LABELS, PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, escape_text, param_text
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.properties import (
    ADDRESS_CONTEXTS,
    CONTEXT_TYPES,
    FEATURE_TYPES,
    FEATURES,
    Property,
)

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"[\\;,\n]")
_LONG: Final = 4096
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

_DATES: Final = frozenset({"bday", "deathdate", "anniversary"})
_PARAM_NAME: Final = re.compile(r"[a-z0-9-]+\Z")
_GROUP: Final = re.compile(r"[A-Za-z0-9-]+\Z")


Form = tuple[str, str | None, bool]
"""A head without its group, the group, and whether a reader makes the same entry of it."""

_MOST_FORMS: Final = 4096
_LONGEST_FORM: Final = 256
_WITHOUT_REFS: Final = 2
"""The version of marshal that gives equal values equal bytes: it does not look at identity."""
_forms: Final[dict[Hashable, Form]] = {}
"""By what an entry says besides its value, or by what a kept property does."""


class Emitter:
    """Collects the content lines of one card.

    Nearly all cards are of parts that are known to come back as they were. As soon as something
    else turns up, `certain` becomes false, and the writer reads back what it wrote.

    Args:
        card: the card as JSON.
        version: `3.0` or `4.0`.
        read_names: the properties, in small letters, that a reader does not merely keep.
    """

    __slots__ = (
        "_counts",
        "_groups",
        "_labels",
        "_next_item",
        "_read_names",
        "_used_groups",
        "card",
        "certain",
        "is_v4",
        "lines",
    )

    def __init__(self, card: Members, version: str, read_names: frozenset[str]) -> None:
        self.card = card
        self.is_v4 = version == "4.0"
        self._read_names = read_names
        self.lines: list[str] = []
        self.certain = True
        self._counts: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        self._groups: set[str] = set()
        self._used_groups: set[str] | None = None
        self._next_item = 1

    def line(self, head: str, value: str) -> None:
        """Add a line; characters that no line can hold are left out."""
        text = f"{head}:{value}"
        # Long values are embedded media: what could end the line early is found much faster.
        if len(text) > _LONG:
            doubtful = "\n" in text or "\r" in text or not text.isascii()
        else:
            doubtful = not text.isprintable()
        if doubtful and _UNWRITABLE.search(text) is not None:
            text = _UNWRITABLE.sub("", text)
            self.certain = False
        self.lines.append(text)

    def entry(
        self,
        name: str,
        prefix: str,
        key: str,
        entry: Members,
        value: str,
        params: str = "",
        *,
        types: Mapping[str, str] = CONTEXT_TYPES,
    ) -> None:
        """Add the line of one entry of a map, and its label.

        Args:
            name: the vCard property.
            prefix: how the keys begin that a reader chooses for it.
            key: the entry's key, empty if the reader is to choose one.
            entry: the entry.
            value: its value as the line has it.
            params: parameters that only this property has.
            types: the contexts that TYPE can say.
        """
        self._counts[prefix] = count = self._counts.get(prefix, 0) + 1
        contexts = entry.get("contexts")
        features = entry.get("features")
        extra = entry.get("vCardParams")
        pref = entry.get("pref")
        group = None
        if contexts is features is extra is pref is None:
            head = name + params
        else:
            # Nearly all entries say one of a few things: what that makes of a head is remembered.
            shape = (
                name,
                params,
                types is CONTEXT_TYPES,
                self.is_v4,
                None if contexts is None else tuple(cast("Members", contexts)),
                None if features is None else tuple(cast("Members", features)),
                None if extra is None else dumps(extra, _WITHOUT_REFS),
                pref,
            )
            form = _forms.get(shape)
            if form is None:
                form = self._form(name, params, types, (contexts, features, extra, pref))
                _remember(shape, form)
            head, group, certain = form
            if not certain:
                self.certain = False
            if group is not None:
                self._groups.add(group.lower())
        if key and key != f"{prefix}-{count}":
            head += f";PROP-ID={key}"
        if "label" in entry and isinstance(entry["label"], str):
            self._labelled(group, head, value, entry["label"])
            return
        text = f"{head}:{value}" if group is None else f"{group}.{head}:{value}"
        if len(text) <= _LONG and text.isprintable():
            self.lines.append(text)
        else:
            self.line(head if group is None else f"{group}.{head}", value)

    def _labelled(self, group: str | None, head: str, value: str, label: str) -> None:
        group = self._label_group(group, label)
        self.line(f"{group}.{head}", value)
        if group not in self._labels:
            self._labels[group] = label
            shown = f"_$!<{label}>!$_" if label in APPLE_LABELS else escape(label)
            self.line(f"{group}.X-ABLabel", shown)

    def _form(
        self,
        name: str,
        params: str,
        types: Mapping[str, str],
        said: tuple[JsonValue, JsonValue, JsonValue, JsonValue],
    ) -> Form:
        """Return the head for what an entry says besides its value."""
        contexts, features, extra, pref = said
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
            if pref == 1 and not self.is_v4:
                words.append("pref")
            else:
                kept += f";PREF={pref}"
        head = f"{name};TYPE={','.join(words)}" if words else name
        return head + params + kept, group, certain

    def simple(self, known: Property, key: str, entry: Members) -> None:
        """Add the line of a simple property."""
        value = entry.get(known.member)
        if not isinstance(value, str):
            self.certain = False
            return
        params = "" if known.plain.issuperset(entry) else self._own_params(known, entry)
        if known.value != "uri":
            if known.name == "TEL" and value[:4].lower() == "tel:":
                params += ";VALUE=uri"
            if _ESCAPED.search(value) is not None:
                value = escape_text(value, is_v4=self.is_v4)
        elif "\\" in value:
            self.certain = False
        self.entry(known.name, known.prefix, key, entry, value, params)

    def _own_params(self, known: Property, entry: Members) -> str:
        """Return the parameters that only some properties have."""
        if not known.members.issuperset(entry):
            self.certain = False
        params = ""
        for param, member in known.params.items():
            if member in entry and not param.startswith("x-") and member not in known.fixed:
                text = str(entry[member])
                if known.name == "EXPERTISE" and member == "level":
                    text = _EXPERTISE.get(text, text)
                written = "X-SERVICE-TYPE" if param == "service-type" and not self.is_v4 else param
                params += param_text(written.upper(), text)
                if member not in {"service", "user"}:
                    self.certain = False
        return params

    def kept(self, prop: JsonValue) -> None:
        """Add a property kept in `vCardProps`, word for word."""
        if not isinstance(prop, list) or len(prop) != 4:
            self.certain = False
            return
        name, params, kind, value = prop
        shape = dumps((name, params, kind), _WITHOUT_REFS)
        form = _forms.get(shape)
        if form is None:
            form = _kept_form(name, params, kind, self._read_names)
            _remember(shape, form)
        head, group, certain = form
        if not certain:
            self.certain = False
        if not head or not isinstance(value, str):
            self.certain = False
            return
        if kind == "text":
            value = escape(value)
        # A label is kept unless something in its group can have one.
        if (
            name == "x-ablabel"
            and str(cast("Members", params).get("group")).lower() in self._groups
        ):
            self.certain = False
        self.line(f"{group}.{head}" if group is not None else head, value)

    def _label_group(self, group: str | None, label: str) -> str:
        if group is not None or not label or label.startswith("_$!<"):
            self.certain = False
        if group is not None and self._labels.get(group, label) == label:
            return group
        if self._used_groups is None:
            self._used_groups = _groups(self.card)
        while f"item{self._next_item}" in self._used_groups:
            self._next_item += 1
        group = f"item{self._next_item}"
        self._next_item += 1
        return group


def _remember(shape: Hashable, form: Form) -> None:
    head, group, certain = form
    # One that is certain holds all of its shape: if it is short, so is the shape.
    if certain and len(head) + len(group or "") <= _LONGEST_FORM:
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        _forms[shape] = form


def _kept_form(
    name: JsonValue, params: JsonValue, kind: JsonValue, read_names: frozenset[str]
) -> Form:
    """Return the head of a kept property; an empty one if it can be none."""
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
            group = texts[0] if _GROUP.match(texts[0]) else None
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


def _groups(card: Members) -> set[str]:
    """Return the groups, in small letters, of all that can be written with one."""
    grouped: list[Members] = []
    left: list[Members] = [each for each in card.values() if type(each) is dict]
    # Groups stand in the parameters of an entry, or of an entry of an entry as in `speakToAs`.
    for _ in range(3):
        grouped += left
        left = [item for each in left for item in each.values() if type(item) is dict]
    grouped += left
    for prop in cast("list[list[JsonValue]]", card.get("vCardProps", [])):
        grouped += [item for item in prop if type(item) is dict]
    owns = [each["group"] for each in grouped if "group" in each]
    return {own.lower() for own in owns if isinstance(own, str)}


def beside(card: Members, name: str) -> tuple[str, str]:
    """Return group and parameters of a property whose JSContact value is a bare string."""
    every = card.get(PARAMS_PROPERTY)
    params = every.get(name) if isinstance(every, dict) else None
    if not isinstance(params, dict):
        return "", ""
    return group_prefix(params), params_text(params)


def group_prefix(params: Members) -> str:
    """Return the group in `vCardParams` with its dot, nothing if it has none that can be."""
    group = params.get("group")
    return f"{group}." if isinstance(group, str) and _GROUP.match(group) else ""


def params_text(params: Members) -> str:
    """Return `vCardParams` as they are written, without the group."""
    text = ""
    for name, value in params.items():
        values = [value] if isinstance(value, str) else value
        if name != "group" and isinstance(values, list):
            text += param_text(name.upper(), [str(each) for each in values])
    return text
