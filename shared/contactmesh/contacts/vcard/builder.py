"""The card that a reader builds up, property by property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.content import Head, escape, unescape
from contactmesh.contacts.vcard.geography import Position, locate
from contactmesh.contacts.vcard.jsprop import patched
from contactmesh.contacts.vcard.localization import localize
from contactmesh.contacts.vcard.parameters import Members, kept
from contactmesh.contacts.vcard.properties import FIRST_KEYS, MANY

_LABELS = """
Anniversary Assistant AssistantPhone Brother Car Child Company CompanyMain Daughter Father Friend
Home HomeFAX HomePage Main Manager Mobile Mother Other OtherFAX Pager Parent Partner Radio School
Sister Son Spouse Work WorkFAX iPhone
"""
APPLE_LABELS: Final = frozenset(_LABELS.split())
"""Labels that Apple writes as `_$!<Label>!$_`, so that its own software translates them."""

PARAMS_PROPERTY: Final = "contactmesh.org:params"
"""The vendor property for parameters of properties whose JSContact value is a bare string."""

Later = Callable[["CardBuilder", Head, str], bool]
"""Reads a property when all others are read; False when it does not fit them."""


class CardBuilder:
    """Collects what the lines of one vCard say.

    Args:
        version: the vCard version, `2.1`, `3.0` or `4.0`.

    All that its handlers make of a text is a valid card. As soon as something else may have come
    into it, `checked` becomes false.
    """

    __slots__ = (
        "_alternatives",
        "_by_group",
        "_labels",
        "_later",
        "_patches",
        "_positions",
        "card",
        "checked",
        "counts",
        "maps",
        "props",
        "version",
    )

    def __init__(self, version: str) -> None:
        self.version = version
        self.card: Members = {"@type": "Card", "version": "1.0"}
        self.maps: dict[str, Members] = {}
        self.props: list[JsonValue] = []
        self._by_group: dict[str, list[tuple[Members, str]]] = {}
        self.counts: dict[str, int] = {}
        self.checked = True
        self._alternatives = False
        self._labels: list[tuple[int, Head, str]] = []
        self._later: list[tuple[int, Later, Head, str]] = []
        self._patches: list[tuple[Head, str]] = []
        self._positions: list[Position] = []

    def add(
        self, collection: str, prefix: str, entry: Members, head: Head, *, labelled: bool = False
    ) -> None:
        """Add an entry to one of the card's maps, under the key that PROP-ID or its place gives."""
        entries = self.maps.get(collection)
        if entries is None:
            self.maps[collection] = entries = {}
        self.insert(entries, prefix, entry, head)
        if "altid" in head.params:
            self._alternatives = True
        if head.group is None:
            return
        if labelled:
            # Whether the group is kept is known when its label is.
            self._by_group.setdefault(head.group.lower(), []).append((entry, head.group))
        else:
            _put_group(entry, head.group)

    def insert(self, entries: Members, prefix: str, entry: Members, head: Head) -> None:
        """Add an entry to a map, with the key that its head asks for or one that is free."""
        count = self.counts.get(prefix, 0) + 1
        key = head.key
        if key is None or key in entries:
            key = FIRST_KEYS[prefix][count - 1] if count <= MANY else f"{prefix}-{count}"
            while key in entries:
                count += 1
                key = f"{prefix}-{count}"
        self.counts[prefix] = count
        entries[key] = entry

    def keep(self, head: Head, value: str) -> None:
        """Keep a property that JSContact has no place for (RFC 9555, section 3.2.1)."""
        self.props.append(self._kept(head, value))

    def _kept(self, head: Head, value: str) -> JsonValue:
        """An entry of `vCardProps`."""
        if head.kept is None:
            head.kept = _kept_params(head)
        params = head.kept
        kind = head.value_type or "unknown"
        if kind == "text":
            if escape(unescape(value)) == value:
                value = unescape(value)
            else:
                kind, params = "unknown", {**params, "value": "text"}
        return [head.name.lower(), params, kind, value]

    @staticmethod
    def keeper(head: Head) -> Callable[[CardBuilder, Head, str], None]:
        """Return what keeps the values of a head, all that is the same for each worked out."""
        if head.value_type == "text":
            return CardBuilder.keep
        name, params, kind = head.name.lower(), _kept_params(head), head.value_type or "unknown"

        def keep(build: CardBuilder, _head: Head, value: str) -> None:
            build.props.append([name, params, kind, value])

        return keep

    def label(self, head: Head, value: str) -> None:
        """Note an X-ABLabel; which entry it labels is known when all are read."""
        self._labels.append((len(self.props), head, value))

    def later(self, read: Later, head: Head, value: str) -> None:
        """Note a property that is about another, which may come after it."""
        self._later.append((len(self.props), read, head, value))

    def position(self, found: Position) -> None:
        """Note a GEO or TZ; which address it belongs to is known when all are read."""
        self._positions.append(found)

    def patch(self, head: Head, value: str) -> None:
        """Note a JSPROP; it is applied when all else is read (RFC 9555, section 2.15.1)."""
        self._patches.append((head, value))

    def singleton(self, member: str, value: str, params: Members, name: str) -> None:
        """Set a member that is a bare string, and keep its parameters beside it."""
        self.card[member] = value
        self.note_params(name, params)

    def note_params(self, name: str, params: Members) -> None:
        """Keep the parameters of a property whose JSContact value is a bare string."""
        if params:
            beside = cast("Members", self.card.setdefault(PARAMS_PROPERTY, {}))
            beside[name.lower()] = params

    def keep_bytes(self, head: Head, value: str, charset: str) -> None:
        """Keep a value whose character set is not known, in quoted-printable, byte for byte."""
        names = (name for name in head.params if name not in {"charset", "encoding"})
        params = kept(head.params, names)
        params |= {"encoding": "quoted-printable", "charset": charset}
        if head.group is not None:
            params["group"] = head.group
        self.props.append([head.name.lower(), params, "unknown", value])

    def finish(self) -> None:
        """Put the whole card, as JSON, into `card`."""
        if self._later:
            self._read_later()
        if self._by_group or self._labels:
            self._place_labels()
        card = self.card
        card.update(self.maps)
        if self._alternatives:
            localize(card)
        if self._positions:
            addresses = cast("Members", card.setdefault("addresses", {}))
            for entry, head in locate(addresses, self._positions):
                self.insert(addresses, "adr", entry, head)
        if self.props:
            card["vCardProps"] = self.props
        if self._patches:
            self.card = patched(card, self._patches)
            self.checked = False

    def _place_labels(self) -> None:
        """Give labels to the entries of their groups; keep those that have none."""
        labels: dict[str, tuple[str, bool]] = {}
        placed: list[JsonValue] = []
        taken = 0
        for place, head, value in self._labels:
            group = (head.group or "").lower()
            if group not in self._by_group or group in labels or head.params:
                # In its place among the others, so that it is written where it was.
                placed += self.props[taken:place]
                taken = place
                placed.append(self._kept(head, value))
                continue
            text = unescape(value)
            if text.startswith("_$!<") and text.endswith(">!$_") and text[4:-4] in APPLE_LABELS:
                text = text[4:-4]
            labels[group] = text, _is_generated(head.group)
        for group, entries in self._by_group.items():
            label = labels.get(group)
            is_sole = len(entries) == 1
            for entry, name in entries:
                if label is not None and label[1] and is_sole and not self._is_kept(group):
                    _drop_group(entry)
                else:
                    _put_group(entry, name)
                if label is not None:
                    entry["label"] = label[0]
        if placed:
            self.props = [*placed, *self.props[taken:]]

    def _read_later(self) -> None:
        """Read what was put off; keep what did not fit, each in its place."""
        left = [each for each in self._later if not each[1](self, *each[2:])]
        for place, _, head, value in reversed(left):
            self.props.insert(place, self._kept(head, value))

    def _is_kept(self, group: str) -> bool:
        """Whether something else in a group is kept."""
        params = [cast("list[Members]", prop)[1] for prop in self.props]
        return any("group" in each and str(each["group"]).lower() == group for each in params)


def _kept_params(head: Head) -> Members:
    params = kept(head.params, (name for name in head.params if name not in {"value", "charset"}))
    if params.get("encoding") in ("QUOTED-PRINTABLE", "8BIT", "7BIT"):
        del params["encoding"]
    if head.group is not None:
        params["group"] = head.group
    return params


def _is_generated(group: str | None) -> bool:
    return group is not None and group.startswith("item") and group[4:].isdigit()


def _put_group(entry: Members, group: str) -> None:
    entry["vCardParams"] = {**cast("Members", entry.get("vCardParams", {})), "group": group}


def _drop_group(entry: Members) -> None:
    params = cast("Members", entry.get("vCardParams", {}))
    if "group" not in params:
        return
    rest = {name: value for name, value in params.items() if name != "group"}
    if rest:
        entry["vCardParams"] = rest
    else:
        del entry["vCardParams"]
