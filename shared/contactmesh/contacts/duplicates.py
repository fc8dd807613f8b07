"""Finding cards that may be of one person. Merging them is for a person to decide."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import phonenumbers

from contactmesh.contacts.canonical import digest
from contactmesh.contacts.display import display_name
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.merge import Merge, merge
from contactmesh.contacts.numbers import match_key

_MOST_SHARING: Final = 20
_WEIGHTS: Final = {
    "the same contents": 1.0,
    "the same UID": 0.95,
    "the same mobile number": 0.6,
    "the same e-mail address": 0.6,
    "the same online account": 0.6,
    "the same landline number": 0.2,
    "the same name and organisation": 0.55,
    "the same name": 0.3,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two cards that may be of one person.

    Args:
        first: the card that comes first in the input.
        second: the other.
        score: from 0 to 1, how likely it is.
        reasons: what they share, the strongest first.
    """

    first: Card
    second: Card
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinedCards:
    """Two cards made one, with all that is needed to take it back.

    Args:
        merge: the merged card, under the first card's UID, and what lost.
        originals: the two cards as they were.
    """

    merge: Merge
    originals: tuple[Card, Card]

    def undo(self) -> tuple[Card, Card]:
        """Return the two cards as they were."""
        return self.originals


def find_duplicates(
    cards: Iterable[Card], *, default_region: str | None = None, least_score: float = 0.5
) -> list[Candidate]:
    """Return the pairs that may be of one person, the likeliest first.

    A shared name or landline alone is not enough: families share them. Two cards with different
    mobile numbers, or e-mail addresses, that share a name and a landline stay two. What very many
    cards share (a company's number) says nothing.

    Args:
        cards: the cards of one phonebook.
        default_region: the country of phone numbers without a country code.
        least_score: the score below which a pair is not worth showing.
    """
    known = list(cards)
    shared: dict[tuple[int, int], set[str]] = {}
    sharing: dict[tuple[str, str], list[int]] = {}
    marks = [_marks(card, default_region) for card in known]
    for index, own in enumerate(marks):
        for mark in own:
            sharing.setdefault(mark, []).append(index)
    for (reason, _), indexes in sharing.items():
        if len(indexes) <= _MOST_SHARING:
            for pair in combinations(indexes, 2):
                shared.setdefault(pair, set()).add(reason)
    found = [
        Candidate(known[first], known[second], score, reasons)
        for (first, second), kinds in shared.items()
        for score, reasons in [_scored(kinds, marks[first], marks[second])]
        if score >= least_score
    ]
    return sorted(found, key=lambda each: (-each.score, each.first.uid, each.second.uid))


def join(first: Card, second: Card, *, default_region: str | None = None) -> JoinedCards:
    """Make two cards one because a person said that they are.

    All of both is kept; where they differ, the first wins and the other value is in
    `merge.conflicts`.

    Args:
        first: the card whose UID stays.
        second: the card that goes.
        default_region: the country of phone numbers without a country code.
    """
    same_uid = second.model_copy(update={"uid": first.uid})
    merged = merge(None, first, same_uid, prefer="mine", default_region=default_region)
    return JoinedCards(merged, (first, second))


Mark = tuple[str, str]


def _marks(card: Card, default_region: str | None) -> frozenset[Mark]:
    marks = {("the same contents", digest(card)), ("the same UID", card.uid)}
    for phone in (card.phones or {}).values():
        key = match_key(phone.number, default_region)
        if key is not None and key.startswith("+"):
            kind = "landline" if _is_landline(key) else "mobile"
            marks.add((f"the same {kind} number", key))
    for email in (card.emails or {}).values():
        marks.add(("the same e-mail address", email.address.strip().casefold()))
    for service in (card.online_services or {}).values():
        account = service.uri or f"{service.service}:{service.user}"
        marks.add(("the same online account", account.casefold()))
    name = _folded(display_name(card)) if card.name is not None else ""
    if name:
        marks.add(("the same name", name))
        for organization in (card.organizations or {}).values():
            if organization.name:
                where = f"{name}\\0{_folded(organization.name)}"
                marks.add(("the same name and organisation", where))
    return frozenset(marks)


def _is_landline(key: str) -> bool:
    number = phonenumbers.parse(key)
    return phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.FIXED_LINE


def _folded(text: str) -> str:
    return " ".join(sorted(unicodedata.normalize("NFKC", text).casefold().split()))


def _scored(
    kinds: set[str], first: frozenset[Mark], second: frozenset[Mark]
) -> tuple[float, tuple[str, ...]]:
    reasons = tuple(sorted(kinds, key=lambda kind: -_WEIGHTS[kind]))
    unlikely = 1.0
    for kind in reasons:
        if kind == "the same name" and "the same name and organisation" in kinds:
            continue
        unlikely *= 1 - _WEIGHTS[kind]
    score = 1 - unlikely
    # Both have something of their own that only one person has, and none of it is shared.
    for kind in ("the same mobile number", "the same e-mail address"):
        if kind not in kinds and _has(first, kind) and _has(second, kind):
            score *= 0.7
    return round(score, 2), reasons


def _has(marks: frozenset[Mark], kind: str) -> bool:
    return any(mark[0] == kind for mark in marks)
