"""Groups in the three ways that phones keep them.

A group is a card of kind `group` whose `members` are UIDs (RFC 6350, KIND and MEMBER; Apple has
names of its own for both), or just a word in the CATEGORIES of each member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contactmesh.contacts.display import display_name
from contactmesh.contacts.identity import derived_uid
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.jscontact.names import Name


def is_group(card: Card) -> bool:
    """Whether a card is a group and no person."""
    return card.kind == "group"


def groups_from_keywords(cards: Iterable[Card]) -> list[Card]:
    """Return a group card for each keyword (CATEGORIES) of the cards.

    Args:
        cards: the cards of one phonebook.

    Returns:
        The groups, by name; a group keeps its UID from one run to the next.
    """
    members: dict[str, dict[str, bool]] = {}
    for card in cards:
        for keyword in card.keywords or ():
            members.setdefault(keyword, {})[card.uid] = True
    return [
        Card.model_validate(
            {
                "uid": derived_uid({"kind": "group", "name": {"full": name}}),
                "kind": "group",
                "name": {"full": name},
                "members": uids,
            }
        )
        for name, uids in sorted(members.items())
    ]


def keywords_from_groups(cards: Iterable[Card]) -> Iterator[Card]:
    """Yield the cards with each group written into its members' keywords.

    A group stays a card of its own as far as keywords cannot hold it: when it has no members or
    no name, members that are not among the cards, or anything besides name and members.

    Args:
        cards: the cards of one phonebook; all are held in memory.
    """
    known = list(cards)
    present = {card.uid for card in known if not is_group(card)}
    words: dict[str, dict[str, bool]] = {}
    left: list[Card] = []
    for group in filter(is_group, known):
        name = display_name(group)
        members = group.members or {}
        here = [uid for uid in members if uid in present] if name else []
        for uid in here:
            words.setdefault(uid, {})[name] = True
        missing = {uid: True for uid in members if uid not in here}
        if missing or not members or not _is_only_a_list(group):
            left.append(group.model_copy(update={"members": missing or None}))
    for card in known:
        if not is_group(card):
            more = words.get(card.uid)
            keywords = {**(card.keywords or {}), **more} if more else card.keywords
            yield card.model_copy(update={"keywords": keywords}) if more else card
    yield from left


def _is_only_a_list(group: Card) -> bool:
    plain = {"@type", "version", "uid", "kind", "name", "members", "updated", "created", "prodId"}
    return plain.issuperset(group.to_json()) and group.name == Name(full=display_name(group))
