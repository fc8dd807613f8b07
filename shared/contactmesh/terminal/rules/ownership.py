"""Who owns which part of a contact, and what is shown of it.

The member owns what a published card says of them: name, phones, e-mails, addresses and so on. The
owner of the phonebook owns notes, nicknames, keywords, relations, the labels and preferences on
entries, and entries of their own beside the member's. A member's update changes the member's part
and never the owner's.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from pydantic import JsonValue

from contactmesh.contacts import match_key
from contactmesh.terminal.rules.views import CardJson, Claim, Claims, View

MEMBER_MAPS: Final = (
    # Organisations come before titles, which point to them.
    "organizations",
    "titles",
    "phones",
    "emails",
    "onlineServices",
    "addresses",
    "anniversaries",
    "media",
    "links",
    "calendars",
    "schedulingAddresses",
    "cryptoKeys",
    "directories",
    "personalInfo",
    "preferredLanguages",
)
"""The member's properties that hold entries under keys (RFC 9553, section 1.4.3)."""

MEMBER_SINGLES: Final = ("kind", "name", "language", "speakToAs")
"""The member's properties that hold one value."""

_SAYS: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    "phones": (("number",),),
    "emails": (("address",),),
    "onlineServices": (("uri",), ("service", "user")),
    "organizations": (("name", "units"),),
    "titles": (("name", "kind"),),
    "addresses": (("components",), ("full",)),
    "anniversaries": (("kind", "date"),),
    "personalInfo": (("kind", "value"),),
    "preferredLanguages": (("language",),),
}
"""What tells the entries of a property apart: the first of these that an entry has."""

_MEMBER_PROPERTIES: Final = frozenset((*MEMBER_MAPS, *MEMBER_SINGLES))
_OWNER_MARKS: Final = ("label", "pref")
"""What the owner may set on a member's entry."""

Kept = TypeVar("Kept")

Entry = Mapping[str, JsonValue]
Entries = Mapping[str, Entry]
Inherited = Mapping[str, Mapping[str, Entry]]
"""Entries that came from a member: property, key, the owner's marks on the entry."""


def plain_text(text: str) -> str:
    """A text for comparing: width, case and spacing do not count (Unicode NFKC, case folding)."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def entry_value(name: str, entry: Entry, region: str | None = None) -> str | None:
    """What makes two entries of a property the same one, however they are labelled.

    A phone is its match key, so that `138…` and `+86138…` are the same in China; an e-mail address
    and an account are compared without case; anything else by what it says.

    Args:
        name: the property.
        entry: the entry.
        region: the country (ISO 3166) of numbers without a country code.

    Returns:
        The value, or none if the entry has nothing that could be compared.
    """
    if name == "phones" and (key := match_key(_text(entry, "number"), region)) is not None:
        return key
    for members in _SAYS.get(name, (("uri",),)):
        if (value := _joined(entry, *members)) is not None:
            return value
    return None


def _text(entry: Entry, name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _joined(entry: Entry, *names: str) -> str | None:
    parts = ["\t".join(_leaves(entry.get(name))) for name in names]
    return "\n".join(parts) if any(parts) else None


def _leaves(value: JsonValue) -> Iterable[str]:
    match value:
        case dict():
            for name in sorted(value):
                if name != "@type":
                    yield from _leaves(value[name])
        case list():
            for item in value:
                yield from _leaves(item)
        case None:
            return
        case _:
            yield plain_text(str(value))


def entries_of(card: CardJson | None, name: str) -> Entries:
    """The entries of a property, none if the card has no such property."""
    if card is None:
        return {}
    found = card.get(name)
    return cast("Entries", found) if isinstance(found, dict) else {}


def claims_by(own: CardJson | None, card: CardJson, rev: int, region: str | None = None) -> Claims:
    """Which of the owner's entries a member's card shows to be the member's."""
    claims: dict[str, dict[str, Claim]] = {}
    for name in MEMBER_MAPS:
        keys: dict[str, str] = {}
        for key, entry in sorted(entries_of(card, name).items()):
            value = entry_value(name, entry, region)
            if value is not None:
                keys.setdefault(value, key)
        for own_key, entry in entries_of(own, name).items():
            value = entry_value(name, entry, region)
            if value is not None and value in keys:
                claims.setdefault(name, {})[own_key] = Claim(keys[value], rev)
    return claims


def still_theirs(
    entries: Mapping[str, Mapping[str, Kept]], before: CardJson | None, after: CardJson
) -> dict[str, dict[str, Kept]]:
    """What is known of the owner's entries, less those that the owner has edited since."""
    kept: dict[str, dict[str, Kept]] = {}
    for name, known in entries.items():
        old, new = entries_of(before, name), entries_of(after, name)
        for key, item in known.items():
            if key in old and key in new:
                value = entry_value(name, new[key])
                if value is not None and value == entry_value(name, old[key]):
                    kept.setdefault(name, {})[key] = item
    return kept


@dataclass(frozen=True, slots=True)
class Composed:
    """What is shown for a contact.

    Attributes:
        card: the card.
        from_member: which of its entries are the member's, with the owner's marks on each.
    """

    card: CardJson
    from_member: Inherited


def compose(
    own: CardJson,
    views: Iterable[View],
    inherited: Inherited | None = None,
    region: str | None = None,
) -> Composed:
    """The card that is shown for a contact: the owner's part with the member's.

    Of the groups that the owner has in common with the member, the newest revision wins, entry by
    entry and value by value; a value that the owner has too is shown once, the member's, with the
    owner's label and preference.

    Args:
        own: the owner's part; empty if a group brought the contact.
        views: what the common groups show of the member, in any order.
        inherited: the entries of `own` that came from this member earlier. While the member is
            there, they give way to what the member says now.
        region: the country (ISO 3166) of numbers without a country code.
    """
    shown = sorted((view for view in views if view.shown), key=_age, reverse=True)
    cards = [view.card for view in shown if view.card is not None]
    if not cards:
        return Composed(own, {})
    if own:
        composed = {name: own[name] for name in own if name not in _MEMBER_PROPERTIES}
    else:
        composed = {name: cards[0][name] for name in ("@type", "version", "uid")}
    for name in MEMBER_SINGLES:
        for card in (*cards, own):
            if name in card:
                composed[name] = card[name]
                break
    from_member: dict[str, Mapping[str, Entry]] = {}
    organizations: Mapping[str, str] = {}
    for name in MEMBER_MAPS:
        earlier = (inherited or {}).get(name, {})
        property_ = _Property(name, entries_of(own, name), shown, earlier, region)
        property_.add_own_extras(organizations)
        if property_.entries:
            composed[name] = cast("JsonValue", property_.entries)
        if property_.marks:
            from_member[name] = property_.marks
        if name == "organizations":
            organizations = property_.placed
    localizations = _localizations(own, cards)
    composed.pop("localizations", None)
    if localizations:
        composed["localizations"] = localizations
    return Composed(composed, from_member)


def _age(view: View) -> tuple[int, str]:
    return (view.rev, view.group_id)


class _Property:
    """One property of the composed card.

    Attributes:
        entries: its entries by key; at first the member's alone.
        marks: the owner's marks on each of the member's entries.
        placed: the key under which each of the owner's entries is shown.
    """

    def __init__(
        self,
        name: str,
        own: Entries,
        views: Sequence[View],
        inherited: Mapping[str, Entry],
        region: str | None,
    ) -> None:
        self._own = own
        self.entries: dict[str, dict[str, JsonValue]] = {}
        self.placed: dict[str, str] = {}
        keys: dict[str, str] = {}
        for view in views:
            newer = set(keys)
            for key, entry in entries_of(view.card, name).items():
                value = entry_value(name, entry, region)
                if key in self.entries or value in newer:
                    continue
                self.entries[key] = dict(entry)
                if value is not None:
                    keys.setdefault(value, key)
        self.marks: dict[str, Entry] = {key: {} for key in self.entries}
        self._theirs: set[str] = set()
        ranks: dict[str, tuple[bool, int, str]] = {}
        for own_key, entry in own.items():
            value = entry_value(name, entry, region)
            equal = keys.get(value) if value is not None else None
            claim = _claim(name, own_key, views)
            if claim is None and own_key in inherited:
                claim = Claim(own_key, -1)
            if equal is None and claim is None:
                continue
            self._theirs.add(own_key)
            at = equal or (claim.member_key if claim else "")
            rank = (equal is not None, claim.rev if claim else -1, own_key)
            if at in self.entries:
                self.placed[own_key] = at
                if rank >= ranks.get(at, rank):
                    ranks[at] = rank
                    self.marks[at] = inherited.get(own_key, _marks(entry))
        self._mark()

    def _mark(self) -> None:
        if any("pref" in entry for entry in self.marks.values()) or any(
            "pref" in entry for key, entry in self._own.items() if key not in self._theirs
        ):
            # The owner has an order of their own; the member's would get mixed into it.
            for entry in self.entries.values():
                entry.pop("pref", None)
        for key, marks in self.marks.items():
            self.entries[key].update(marks)

    def add_own_extras(self, organizations: Mapping[str, str]) -> None:
        """Add the owner's own entries; a title follows its organisation to where it is shown."""
        for own_key, entry in self._own.items():
            if own_key in self._theirs:
                continue
            copy = dict(entry)
            organization = copy.pop("organizationId", None)
            if isinstance(organization, str) and organization in organizations:
                copy["organizationId"] = organizations[organization]
            self.placed[own_key] = _free_key(own_key, self.entries)
            self.entries[self.placed[own_key]] = copy


def _marks(entry: Entry) -> Entry:
    return {mark: entry[mark] for mark in _OWNER_MARKS if mark in entry}


def _claim(name: str, own_key: str, views: Sequence[View]) -> Claim | None:
    """The newest claim on an entry of the owner's; the views come newest first."""
    for view in views:
        claim = view.claims.get(name, {}).get(own_key)
        if claim is not None:
            return claim
    return None


def _free_key(key: str, taken: Iterable[str]) -> str:
    """A key for the owner's entry that no entry of the member has (at most 255 characters)."""
    used = frozenset(taken)
    candidate, number = key, 0
    while candidate in used:
        number += 1
        candidate = f"own{number}-{key}"[:255]
    return candidate


def _localizations(own: CardJson, cards: Sequence[CardJson]) -> dict[str, JsonValue]:
    """Translations follow what they translate (RFC 9553, section 2.7.1).

    Those of the member's properties are the newest card's, those of the owner's the owner's.
    """
    merged: dict[str, dict[str, JsonValue]] = {}
    for card, of_member in ((cards[0], True), (own, False)):
        for language, patch in entries_of(card, "localizations").items():
            for pointer, value in patch.items():
                if (pointer.partition("/")[0] in _MEMBER_PROPERTIES) is of_member:
                    merged.setdefault(language, {})[pointer] = value
    return cast("dict[str, JsonValue]", merged)
