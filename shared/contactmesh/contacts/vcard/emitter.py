"""The content lines that a writer collects, and how entries become parameters."""

from __future__ import annotations

import re
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import APPLE_LABELS
from contactmesh.contacts.vcard.content import escape, param_text
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.properties import CONTEXT_TYPES, FEATURE_TYPES, Property

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_APPLE_CASE: Final = {"x-ablabel": "X-ABLabel", "x-abadr": "X-ABADR", "x-abdate": "X-ABDATE"}
_EXPERTISE: Final = {"low": "beginner", "medium": "average", "high": "expert"}


class Emitter:
    """Collects the content lines of one card.

    Args:
        card: the card as JSON.
        version: `3.0` or `4.0`.
    """

    __slots__ = ("_counts", "_labels", "_next_item", "_used_groups", "card", "is_v4", "lines")

    def __init__(self, card: Members, version: str) -> None:
        self.card = card
        self.is_v4 = version == "4.0"
        self.lines: list[str] = []
        self._counts: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        self._used_groups: set[str] | None = None
        self._next_item = 1

    def line(self, head: str, value: str) -> None:
        """Add a line; characters that no line can hold are left out, and so noticed later."""
        text = f"{head}:{value}"
        if not text.isprintable() and _UNWRITABLE.search(text) is not None:
            text = _UNWRITABLE.sub("", text)
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
        preferred: bool = True,
        contexts: dict[str, str] = CONTEXT_TYPES,
    ) -> None:
        """Add the line of one entry of a map, and its label."""
        count = self._counts.get(prefix, 0) + 1
        self._counts[prefix] = count
        group: str | None = None
        types: list[str] = []
        if "contexts" in entry:
            types += [contexts[each] for each in _names(entry["contexts"]) if each in contexts]
        if "features" in entry:
            features = _names(entry["features"])
            types += [FEATURE_TYPES[each] for each in features if each in FEATURE_TYPES]
        extra = entry.get("vCardParams")
        if isinstance(extra, dict):
            for param, given in extra.items():
                text = cast("str | list[str]", given)
                if param == "group":
                    group = str(text)
                elif param == "type":
                    types += [text] if isinstance(text, str) else text
                else:
                    params += param_text(param.upper(), text)
        pref = entry.get("pref")
        if pref is not None and preferred:
            if pref == 1 and not self.is_v4:
                types.append("pref")
            else:
                params += f";PREF={pref}"
        if types:
            params = param_text("TYPE", types) + params
        if key != f"{prefix}-{count}":
            params += f";PROP-ID={key}"
        label = entry.get("label")
        if isinstance(label, str):
            group = self._label_group(group, label)
        self.line(f"{group}.{name}{params}" if group else name + params, value)
        if isinstance(label, str) and group and group not in self._labels:
            self._labels[group] = label
            shown = f"_$!<{label}>!$_" if label in APPLE_LABELS else escape(label)
            self.line(f"{group}.X-ABLabel", shown)

    def simple(self, known: Property, key: str, entry: Members) -> None:
        """Add the line of a simple property."""
        value = entry.get(known.member)
        if not isinstance(value, str):
            return
        params = ""
        for param, member in known.params.items():
            if member in entry and not param.startswith("x-"):
                text = str(entry[member])
                if known.name == "EXPERTISE" and member == "level":
                    text = _EXPERTISE.get(text, text)
                written = "X-SERVICE-TYPE" if param == "service-type" and not self.is_v4 else param
                params += param_text(written.upper(), text)
        if known.name == "TEL" and value[:4].lower() == "tel:":
            params += ";VALUE=uri"
            value = value if self.is_v4 else escape(value)
        elif known.value != "uri":
            value = escape(value)
        self.entry(known.name, known.prefix, key, entry, value, params, preferred=known.preferred)

    def kept(self, prop: JsonValue) -> None:
        """Add a property kept in `vCardProps`, word for word."""
        if not isinstance(prop, list) or len(prop) < 4:
            return
        name, params, kind, *values = prop
        if not isinstance(name, str) or not isinstance(params, dict) or not isinstance(kind, str):
            return
        head = _APPLE_CASE.get(name, name.upper())
        if "group" in params:
            head = f"{params['group']}.{head}"
        for param, given in params.items():
            if param != "group":
                head += param_text(param.upper(), cast("str | list[str]", given))
        if kind != "unknown":
            head += f";VALUE={kind}"
        texts = [value if isinstance(value, str) else "" for value in values]
        self.line(head, texts[0] if kind != "text" else ",".join(escape(text) for text in texts))

    def _label_group(self, group: str | None, label: str) -> str:
        if group is not None and self._labels.get(group, label) == label:
            return group
        if self._used_groups is None:
            self._used_groups = set(_groups(self.card))
        while f"item{self._next_item}" in self._used_groups:
            self._next_item += 1
        group = f"item{self._next_item}"
        self._next_item += 1
        return group


def _names(flags: JsonValue) -> list[str]:
    return list(flags) if isinstance(flags, dict) else []


def _groups(value: JsonValue) -> list[str]:
    if isinstance(value, dict):
        own = value.get("group")
        found = [own.lower()] if isinstance(own, str) else []
        return found + [group for item in value.values() for group in _groups(item)]
    if isinstance(value, list):
        return [group for item in value for group in _groups(item)]
    return []
