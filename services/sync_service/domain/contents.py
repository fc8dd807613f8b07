"""Contents as cards, what somebody made, and what lost against it."""

from dataclasses import InitVar, dataclass, field
from typing import Any

from contactmesh.contacts import Card, digest
from contactmesh.contracts.sync.records import ConflictKind
from sync_service.domain.documents import NO_CARD, Contents, Times


@dataclass(frozen=True, slots=True)
class Made:
    """Contents, or a deletion, that somebody made.

    Attributes:
        card: none for a deletion.
        updated_at: when, by the server's clock.
        times: when the fields of the card were changed.
        sent: the digest of what a terminal sent, none where it was not sent.
        known: the digest of the card, where it has been worked out already.
        digest: of the card, or of a deletion.
        contents: the card as it is kept.
    """

    card: Card | None
    updated_at: int
    times: Times = field(default_factory=dict)
    sent: str | None = None
    known: InitVar[str | None] = None
    digest: str = field(init=False)
    contents: Contents | None = field(init=False)

    def __post_init__(self, known: str | None) -> None:
        """Work out once what every step asks for: it is most of what a change costs."""
        object.__setattr__(self, "digest", digest_of(self.card) if known is None else known)
        object.__setattr__(self, "contents", contents_of(self.card))


@dataclass(frozen=True, slots=True)
class Clash:
    """What lost against something else.

    Attributes:
        lost_rev: the version that holds it, none where it is what was sent.
    """

    kind: ConflictKind
    lost_by: str
    lost_rev: int | None = None
    path: str = ""
    kept: Any = None
    lost: Any = None


def card_of(contents: Contents | None) -> Card | None:
    """Contents as a card."""
    return None if contents is None else Card.model_validate(contents)


def contents_of(card: Card | None) -> Contents | None:
    """A card as it is kept."""
    return None if card is None else dict(card.to_json())


def digest_of(card: Card | None) -> str:
    """The digest of a card, or of a deletion."""
    return NO_CARD if card is None else digest(card)
