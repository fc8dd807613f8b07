"""The content lines that a writer collects for one card."""

from __future__ import annotations

from collections.abc import Iterable
from marshal import dumps
from typing import Any, Final

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape, param_text
from contactmesh.contacts.vcard.forms import (
    GROUP,
    WITHOUT_REFS,
    entry_form,
    kept_form,
    remembered,
)
from contactmesh.contacts.vcard.labels import Labels
from contactmesh.contacts.vcard.parameters import Entry, Members
from contactmesh.contacts.vcard.properties import FIRST_KEYS, MANY

_NO_PARAMS: Final[Members] = {}
_NOTHING: Final = (None, None, None, None)


class Emitter:
    """Collects the content lines of one card.

    Nearly all cards are of parts that are known to come back as they were. As soon as something
    else turns up, `certain` becomes false, and the writer reads back what it wrote.

    Args:
        card: the card as JSON.
        version: `3.0` or `4.0`.
        for_apple: whether groups are written under Apple's own names.

    Attributes:
        lines: the lines so far.
        counts: how many entries there are so far whose keys begin alike, when readers choose them.
        certain: whether a reader makes the same of the lines.
    """

    __slots__ = ("_groups", "_labels", "card", "certain", "counts", "for_apple", "is_v4", "lines")

    def __init__(self, card: Entry, version: str, *, for_apple: bool) -> None:
        self.card = card
        self.is_v4 = version == "4.0"
        self.for_apple = for_apple
        self.lines: list[str] = []
        self.certain = True
        self.counts: dict[str, int] = {}
        self._groups: set[str] = set()
        self._labels: Labels | None = None

    def line(self, head: str, value: str) -> None:
        """Add a line."""
        self.lines.append(f"{head}:{value}")

    def single(self, name: str, value: str) -> None:
        """Add the line of a property whose JSContact value is a bare string."""
        if PARAMS_PROPERTY in self.card:
            params = self.card[PARAMS_PROPERTY]
            beside = params.get(name.lower()) if isinstance(params, dict) else None
            if isinstance(beside, dict):
                self.lines.append(f"{group_prefix(beside)}{name}{params_text(beside)}:{value}")
                return
        self.lines.append(f"{name}:{value}")

    def entry(
        self,
        name: str,
        prefix: str,
        key: str,
        entry: Members,
        value: str,
        params: str = "",
    ) -> None:
        """Add the line of one entry of a map, and its label.

        Args:
            name: the vCard property.
            prefix: how the keys begin that a reader chooses for it.
            key: the entry's key, empty if the reader is to choose one.
            entry: the entry.
            value: its value as the line has it.
            params: parameters that only this property has.
        """
        get = entry.get
        said = get("contexts"), get("features"), get("vCardParams"), get("pref")
        head, group = name + params, None
        if said != _NOTHING:
            shape = name, params, self.is_v4, dumps(said, WITHOUT_REFS)
            head, group, certain = remembered(shape) or entry_form(shape, said)
            if not certain:
                self.certain = False
        counts = self.counts
        place = counts.get(prefix, 0)
        counts[prefix] = place + 1
        if key and key != (FIRST_KEYS[prefix][place] if place < MANY else later_key(prefix, place)):
            head += f";PROP-ID={key}"
        label = get("label")
        if group is None and label is None:
            self.lines.append(f"{head}:{value}")
        else:
            self.grouped(group, f"{head}:{value}", label)

    def grouped(self, group: str | None, line: str, label: JsonValue) -> None:
        """Add a line that has a group or a label, which needs one."""
        if group is not None:
            self._groups.add(group.lower())
        if isinstance(label, str):
            if self._labels is None:
                self._labels = Labels(self.card)
            lines, certain = self._labels.lines(group, line, label)
            self.lines += lines
            if not certain:
                self.certain = False
        else:
            self.lines.append(line if group is None else f"{group}.{line}")

    def kept(self, props: Iterable[JsonValue], read_names: frozenset[str]) -> None:
        """Add the properties kept in `vCardProps`, word for word.

        Args:
            props: the properties.
            read_names: the properties, in small letters, that a reader does not merely keep.
        """
        lines = self.lines
        for prop in props:
            if not isinstance(prop, list) or len(prop) != 4:
                self.certain = False
                continue
            name, params, kind, value = prop
            # Most have no parameters.
            is_bare = params == _NO_PARAMS and kind == "unknown" and isinstance(name, str)
            shape: Any = name if is_bare else dumps((name, params, kind), WITHOUT_REFS)
            form = remembered(shape) or kept_form(shape, name, params, kind, read_names)
            head, group, certain = form
            if not head or not isinstance(value, str):
                self.certain = False
                continue
            if not certain:
                self.certain = False
            if group is None and kind != "text":
                lines.append(f"{head}:{value}")
                continue
            if group is not None:
                # A label is kept unless something in its group can have one.
                if name == "x-ablabel" and group.lower() in self._groups:
                    self.certain = False
                head = f"{group}.{head}"
            lines.append(f"{head}:{escape(value) if kind == 'text' else value}")


def later_key(prefix: str, place: int) -> str:
    """Return the key that a reader chooses for the entry at a place, from 0, far behind."""
    return f"{prefix}-{place + 1}"


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
