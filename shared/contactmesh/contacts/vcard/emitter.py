"""The content lines that a writer collects, and how entries become parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

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

_PARAM_NAME: Final = re.compile(r"[a-z0-9-]+\Z")
_GROUP: Final = re.compile(r"[A-Za-z0-9-]+\Z")


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
        head = name
        words: list[str] = []
        contexts = entry.get("contexts")
        if contexts is not None:
            self._words(words, contexts, types)
        features = entry.get("features")
        if features is not None:
            self._words(words, features, FEATURE_TYPES)
        extra = entry.get("vCardParams")
        label = entry.get("label")
        group = None
        kept = ""
        if isinstance(extra, dict):
            group, kept = self._kept_params(words, extra)
            if group is not None:
                self._groups.add(group.lower())
        pref = entry.get("pref")
        if pref is not None:
            if pref == 1 and not self.is_v4:
                words.append("pref")
            else:
                kept += f";PREF={pref}"
        if words:
            head += f";TYPE={','.join(words)}"
        head += params + kept
        if key and key != f"{prefix}-{count}":
            head += f";PROP-ID={key}"
        if isinstance(label, str):
            group = self._label_group(group, label)
        self.line(f"{group}.{head}" if group is not None else head, value)
        if isinstance(label, str) and group is not None and group not in self._labels:
            self._labels[group] = label
            shown = f"_$!<{label}>!$_" if label in APPLE_LABELS else escape(label)
            self.line(f"{group}.X-ABLabel", shown)

    def _words(self, words: list[str], flags: JsonValue, known: Mapping[str, str]) -> None:
        if not isinstance(flags, dict) or not flags:
            self.certain = False
            return
        for flag in flags:
            word = known.get(flag)
            if word is None:
                self.certain = False
            else:
                words.append(word)

    def _kept_params(self, words: list[str], params: Members) -> tuple[str | None, str]:
        group = None
        text = ""
        self.certain = self.certain and bool(params)
        for name, value in params.items():
            values = [value] if isinstance(value, str) else value
            if not isinstance(values, list) or (len(values) < 2 and values is value):
                self.certain = False
                continue
            texts = [str(each) for each in values]
            if name == "group":
                group = texts[0] if _GROUP.match(texts[0]) else None
                self.certain = self.certain and len(texts) == 1 and group is not None
            elif name == "type":
                self.certain = self.certain and not any(map(_is_doubtful_type, texts))
                words += [_quoted(each) for each in texts]
            else:
                text += param_text(name.upper(), texts)
                if (
                    name in _READ_PARAMS
                    or not _PARAM_NAME.match(name)
                    or any(each != each.strip() or "\\" in each for each in texts)
                ):
                    self.certain = False
        return group, text

    def simple(self, known: Property, key: str, entry: Members) -> None:
        """Add the line of a simple property."""
        value = entry.get(known.member)
        if not isinstance(value, str):
            self.certain = False
            return
        if entry.keys() - known.members:
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
        if known.value != "uri":
            if value[:4].lower() == "tel:" and known.name == "TEL":
                params += ";VALUE=uri"
            value = escape_text(value, is_v4=self.is_v4)
        elif "\\" in value:
            self.certain = False
        self.entry(known.name, known.prefix, key, entry, value, params)

    def kept(self, prop: JsonValue) -> None:
        """Add a property kept in `vCardProps`, word for word."""
        if not isinstance(prop, list) or len(prop) != 4:
            self.certain = False
            return
        name, params, kind, value = prop
        if not (
            isinstance(name, str)
            and isinstance(params, dict)
            and isinstance(kind, str)
            and isinstance(value, str)
            and _PARAM_NAME.match(name)
        ):
            self.certain = False
            return
        head = _APPLE_CASE.get(name, name.upper())
        if params:
            words: list[str] = []
            group, text = self._kept_params(words, params)
            head = head if group is None else f"{group}.{head}"
            head += (f";TYPE={','.join(words)}" if words else "") + text
        if kind != "unknown":
            head += f";VALUE={kind}"
            value = escape(value) if kind == "text" else value
            self.certain = False
        if name == "x-ablabel":
            # A label is kept unless something in its group can have one.
            self.certain = self.certain and str(params.get("group")).lower() not in self._groups
        elif name in self._read_names:
            self.certain = False
        self.line(head, value)

    def _label_group(self, group: str | None, label: str) -> str:
        if group is not None or not label or label.startswith("_$!<"):
            self.certain = False
        if group is not None and self._labels.get(group, label) == label:
            return group
        if self._used_groups is None:
            self._used_groups = set(_groups(self.card))
        while f"item{self._next_item}" in self._used_groups:
            self._next_item += 1
        group = f"item{self._next_item}"
        self._next_item += 1
        return group


def _is_kept(name: str, values: list[str]) -> bool:
    """Whether a reader keeps a parameter just as it is."""
    if name in _READ_PARAMS or not _PARAM_NAME.match(name):
        return False
    return all(value == value.strip() and "\\" not in value for value in values)


def _is_doubtful_type(word: str) -> bool:
    return word.lower() in _TYPE_WORDS or "," in word or '"' in word or word != word.strip()


def _quoted(word: str) -> str:
    return param_text("", word)[2:]


def _groups(value: JsonValue) -> list[str]:
    if isinstance(value, dict):
        own = value.get("group")
        found = [own.lower()] if isinstance(own, str) else []
        return found + [group for item in value.values() for group in _groups(item)]
    if isinstance(value, list):
        return [group for item in value for group in _groups(item)]
    return []


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
