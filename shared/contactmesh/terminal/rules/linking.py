"""Which of the owner's entries is a member: one that agrees in two of uid, name and reach."""

from collections.abc import Iterable
from dataclasses import dataclass

from contactmesh.contacts import Card, display_name, match_key
from contactmesh.terminal.rules.ownership import entries_of, plain_text
from contactmesh.terminal.rules.views import CardJson


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry of the owner's that no member is linked to."""

    contact_id: str
    card: CardJson


def reach_keys(card: CardJson, region: str | None = None) -> frozenset[str]:
    """The phones and e-mail addresses by which two cards can be found to be the same person.

    A number that cannot safely be matched, such as a local one, is none of them.

    Args:
        card: the card.
        region: the country (ISO 3166) of numbers without a country code.
    """
    phones = (
        match_key(str(entry.get("number", "")), region)
        for entry in entries_of(card, "phones").values()
    )
    emails = (
        plain_text(str(entry.get("address", ""))) for entry in entries_of(card, "emails").values()
    )
    return frozenset((*filter(None, phones), *filter(None, emails)))


def own_entry_for(
    card: CardJson, candidates: Iterable[Candidate], region: str | None = None
) -> str | None:
    """The contact that a member's card belongs to, if the owner has one.

    An equal uid decides if the name or a phone or e-mail address agrees too: a member says what
    uid their card has, so the uid alone proves nothing. Otherwise it takes the same display name
    (width and case do not count) and a common phone or e-mail address, in exactly one entry: a
    shared landline or a common name alone links nobody, and of two possible entries the owner has
    to choose.

    Returns:
        The contact's id, or none.
    """
    reach, name = reach_keys(card, region), shown_name(card)
    found = []
    for candidate in candidates:
        reached = bool(reach & reach_keys(candidate.card, region))
        named = shown_name(candidate.card) == name
        if candidate.card["uid"] == card["uid"] and (reached or named):
            return candidate.contact_id
        if reached and named:
            found.append(candidate.contact_id)
    return found[0] if len(found) == 1 else None


def strangers(one: CardJson, other: CardJson, region: str | None = None) -> bool:
    """Whether two cards that came to have one uid have nothing else of one person in common."""
    return (
        shown_name(one) != shown_name(other)
        and not reach_keys(one, region) & reach_keys(other, region)
        and not _as_written(one) & _as_written(other)
    )


def _as_written(card: CardJson) -> set[str]:
    """Numbers that cannot safely be matched are of one person where the card is the same."""
    return {str(entry.get("number", "")) for entry in entries_of(card, "phones").values()}


def shown_name(card: CardJson) -> str:
    """The display name, made comparable."""
    return plain_text(display_name(Card.model_validate(card)))
