"""Labels of entries, which a property of their own says: they share a group with it."""

from __future__ import annotations

from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts.vcard.builder import APPLE_LABELS, PARAMS_PROPERTY
from contactmesh.contacts.vcard.content import escape
from contactmesh.contacts.vcard.parameters import Members

_APPLE_START: Final = "_$!<"


class Labels:
    """The labels of one card as they are written.

    Args:
        card: the card as JSON.
    """

    __slots__ = ("_label_of", "_next_item", "_used")

    def __init__(self, card: Members) -> None:
        self._used = _groups(card)
        self._label_of: dict[str, str] = {}
        self._next_item = 1

    def lines(self, group: str | None, line: str, label: str) -> tuple[list[str], bool]:
        """Return an entry's line with its group and label, and whether they come back so.

        Args:
            group: the group that the entry has.
            line: its line without a group.
            label: its label.
        """
        certain = group is None and label != "" and not label.startswith(_APPLE_START)
        if group is None or self._label_of.get(group, label) != label:
            group = self._free_group()
        if group in self._label_of:
            return [f"{group}.{line}"], certain
        self._label_of[group] = label
        shown = f"{_APPLE_START}{label}>!$_" if label in APPLE_LABELS else escape(label)
        return [f"{group}.{line}", f"{group}.X-ABLabel:{shown}"], certain

    def _free_group(self) -> str:
        while (group := f"item{self._next_item}") in self._used:
            self._next_item += 1
        self._next_item += 1
        return group


def _groups(card: Members) -> set[str]:
    """Return the groups, in small letters, of all that can be written with one."""
    maps: list[Members] = [each for each in card.values() if type(each) is dict]
    grouped = [each["vCardParams"] for each in maps if "vCardParams" in each]
    if "localizations" in card or "speakToAs" in card:
        # Only these have entries of entries.
        maps += [item for each in maps for item in each.values() if type(item) is dict]
    for each in maps:
        grouped += [
            item["vCardParams"]
            for item in each.values()
            if type(item) is dict and "vCardParams" in item
        ]
    beside = card.get(PARAMS_PROPERTY)
    if type(beside) is dict:
        grouped += beside.values()
    for prop in cast("list[list[JsonValue]]", card.get("vCardProps", ())):
        grouped += [item for item in prop if type(item) is dict]
    owns = [each["group"] for each in grouped if type(each) is dict and "group" in each]
    return {own.lower() for own in owns if isinstance(own, str)}
