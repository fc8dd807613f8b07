"""How large a card may be."""

from __future__ import annotations

from dataclasses import dataclass

from contactmesh.contacts.errors import CardTooLarge
from contactmesh.contacts.jscontact.card import Card


@dataclass(frozen=True, slots=True)
class CardLimits:
    """The largest sizes accepted, in bytes.

    Args:
        card_bytes: the card as UTF-8 JSON, without its embedded media.
        media_bytes: all embedded media together, as the `data:` URIs they are written as.
    """

    card_bytes: int = 256 * 1024
    media_bytes: int = 2 * 1024 * 1024


DEFAULT_LIMITS = CardLimits()


def check_size(card: Card, limits: CardLimits = DEFAULT_LIMITS) -> None:
    """Refuse a card that is too large.

    Args:
        card: the card.
        limits: the limits.

    Raises:
        CardTooLarge: the card or its media are over their limit.
    """
    size = len(card.__pydantic_serializer__.to_json(card, by_alias=True, exclude_none=True))
    embedded = sum(
        len(medium.uri.encode("utf-8", "surrogatepass"))
        for medium in (card.media or {}).values()
        if medium.uri[:5].lower() == "data:"
    )
    if embedded > limits.media_bytes:
        raise CardTooLarge("media", embedded, limits.media_bytes)
    if size - embedded > limits.card_bytes:
        raise CardTooLarge("card", size - embedded, limits.card_bytes)
