"""The content lines that a writer collects for one card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import APPLE_LABELS, PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, escape_text, param_text
from contactmesh.contacts.vcard.forms import GROUP, entry_form, kept_form, said_by, simple_form
from contactmesh.contacts.vcard.parameters import Entry, Members
from contactmesh.contacts.vcard.properties import CONTEXT_TYPES, FIRST_KEYS, MANY, Property

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_CONTROLS: Final = bytes([*range(9), *range(10, 32), 127])
_LONG: Final = 4096
_NOTHING: Final = (None, None, None, None)


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

    def __init__(self, card: Entry, version: str, read_names: frozenset[str]) -> None:
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
        """Add a line."""
        self.lines.append(f"{head}:{value}")

    def clean(self) -> None:
        """Leave out the characters that no line can hold."""
        lines = self.lines
        if max(map(len, lines)) <= _LONG:
            if _is_writable("".join(lines)):
                return
        elif _is_writable("".join([line for line in lines if len(line) <= _LONG])) and not any(
            _may_end_early(line) for line in lines if len(line) > _LONG
        ):
            return
        for index, line in enumerate(lines):
            # Long values are embedded media: what could end the line early is found much faster.
            doubtful = len(line) <= _LONG or _may_end_early(line)
            if doubtful and _UNWRITABLE.search(line) is not None:
                lines[index] = _UNWRITABLE.sub("", line)
                self.certain = False

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
        head, group = name + params, None
        said = said_by(entry)
        if said != _NOTHING:
            head, group, certain = entry_form(name, params, types, said, is_v4=self.is_v4)
            if not certain:
                self.certain = False
        place = self._counts.get(prefix, 0)
        self._counts[prefix] = place + 1
        if key and key != usual_key(prefix, place):
            head += f";PROP-ID={key}"
        self._grouped(group, head, value, entry.get("label"))

    def simple(self, known: Property, entries: Iterable[tuple[str, Members]]) -> None:
        """Add the lines of entries of one simple property, each with its key."""
        name, member, prefix, is_v4 = known.name, known.member, known.prefix, self.is_v4
        is_text, is_number = known.value != "uri", name == "TEL"
        usual_keys = FIRST_KEYS[prefix]
        place = self._counts.get(prefix, 0)
        for key, entry in entries:
            value = entry.get(member)
            if not isinstance(value, str):
                self.certain = False
                continue
            head, group, label = name, None, None
            is_uri = is_number and ":" in value and value[:4].lower() == "tel:"
            if len(entry) > 1 or is_uri:
                others = entry.copy()
                del others[member]
                label = others.pop("label", None)
                head, group, certain = simple_form(known, others, is_v4=is_v4, is_uri=is_uri)
                if not certain or (label is not None and not known.labelled):
                    self.certain = False
            if is_text:
                if "\\" in value or ";" in value or "," in value or "\n" in value:
                    value = escape_text(value, is_v4=is_v4)
            elif "\\" in value:
                self.certain = False
            usual = usual_keys[place] if place < MANY else usual_key(prefix, place)
            place += 1
            if key != usual and key:
                head += f";PROP-ID={key}"
            if group is None and label is None:
                self.lines.append(f"{head}:{value}")
            else:
                self._grouped(group, head, value, label)
        self._counts[prefix] = place

    def _grouped(self, group: str | None, head: str, value: str, label: JsonValue) -> None:
        """Add a line that has a group or a label, which needs one."""
        if group is not None:
            self._groups.add(group.lower())
        if not isinstance(label, str):
            self.line(head if group is None else f"{group}.{head}", value)
            return
        group = self._label_group(group, label)
        self.line(f"{group}.{head}", value)
        if group not in self._labels:
            self._labels[group] = label
            shown = f"_$!<{label}>!$_" if label in APPLE_LABELS else escape(label)
            self.line(f"{group}.X-ABLabel", shown)

    def kept(self, prop: JsonValue) -> None:
        """Add a property kept in `vCardProps`, word for word."""
        if not isinstance(prop, list) or len(prop) != 4:
            self.certain = False
            return
        name, params, kind, value = prop
        head, group, certain = kept_form(name, params, kind, self._read_names)
        if not head or not isinstance(value, str):
            self.certain = False
            return
        if not certain:
            self.certain = False
        if kind == "text":
            value = escape(value)
        if group is not None:
            # A label is kept unless something in its group can have one.
            if name == "x-ablabel" and group.lower() in self._groups:
                self.certain = False
            head = f"{group}.{head}"
        self.lines.append(f"{head}:{value}")

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


def _is_writable(text: str) -> bool:
    """Whether a text is known to have no character that no line can hold."""
    if text.isascii():
        # Taking out bytes takes less than half the time of asking what each character is.
        return len(text.encode().translate(None, _CONTROLS)) == len(text)
    return text.isprintable()


def _may_end_early(line: str) -> bool:
    """Whether a long line may have a character that ends it before its end."""
    return "\n" in line or "\r" in line or not line.isascii()


def usual_key(prefix: str, place: int) -> str:
    """Return the key that a reader chooses for the entry at a place, from 0."""
    return FIRST_KEYS[prefix][place] if place < MANY else f"{prefix}-{place + 1}"


def _groups(card: Members) -> set[str]:
    """Return the groups, in small letters, of all that can be written with one."""
    maps: list[Members] = [each for each in card.values() if type(each) is dict]
    entries = [item for each in maps for item in each.values() if type(item) is dict]
    if "localizations" in card or "speakToAs" in card:
        # Only these have entries of entries.
        entries += [item for each in entries for item in each.values() if type(item) is dict]
    grouped = [each["vCardParams"] for each in chain(maps, entries) if "vCardParams" in each]
    if PARAMS_PROPERTY in card:
        grouped += entries
    for prop in cast("list[list[JsonValue]]", card.get("vCardProps", [])):
        grouped += [item for item in prop if type(item) is dict]
    owns = [each["group"] for each in grouped if type(each) is dict and "group" in each]
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
    return f"{group}." if isinstance(group, str) and GROUP.match(group) else ""


def params_text(params: Members) -> str:
    """Return `vCardParams` as they are written, without the group."""
    text = ""
    for name, value in params.items():
        values = [value] if isinstance(value, str) else value
        if name != "group" and isinstance(values, list):
            text += param_text(name.upper(), [str(each) for each in values])
    return text
