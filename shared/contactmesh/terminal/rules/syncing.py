"""What a sync makes of an entry of the owner's on this terminal (rows Y1 to Y5).

An entry has two sides: what the server last said it is, and what it is here. Where they differ the
entry is marked. Nothing that was changed here is ever overwritten or deleted by what comes.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contactmesh.contacts import Card, digest, merge
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.records import ChangeResult, Outcome

FORGOTTEN: Final = frozenset({ErrorCode.NOT_FOUND, ErrorCode.CONFLICT})
"""Why a change is rejected whose base the server has forgotten."""
UNREADABLE: Final = "What stands on the server cannot be read here. Update the terminal."


@dataclass(frozen=True, slots=True)
class Known:
    """What the server last said of an entry.

    Attributes:
        rev: the entry's revision there, none if the server has never been told of the entry, or
            has forgotten that revision.
        digest: of its contents there, none if it has none: never had, or deleted.
    """

    rev: int | None = None
    digest: str | None = None


class Mark(StrEnum):
    """What the server has still to be told of an entry (row Y2)."""

    MODIFIED = "modified"
    DELETED = "deleted"


def mark(known: Known, here: str | None) -> Mark | None:
    """What the server has still to be told, none of an entry that is the same on both sides.

    Args:
        known: what the server last said.
        here: the digest of the contents here, none if the entry was deleted here.
    """
    if here == known.digest:
        return None
    return Mark.DELETED if here is None else Mark.MODIFIED


@dataclass(frozen=True, slots=True)
class Became:
    """What an entry is after the server has spoken.

    Attributes:
        known: what the server says now.
        own: the contents here, none if there are none any more.
        problem: why the server does not take what is here; it is not sent again until it is edited.
    """

    known: Known
    own: Card | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SentChange:
    """A change as it was sent: what was known, and the contents; none for a deletion."""

    known: Known
    card: Card | None


def after_result(sent: SentChange, result: ChangeResult, own: Card | None) -> Became:
    """What the server's result makes of an entry.

    What was edited while the exchange was under way stays: it is laid over what stands now, and
    will be sent in its turn.

    Args:
        sent: what was sent.
        result: what became of it.
        own: the contents here now.

    Raises:
        ValidationError: the card of the result is none that this terminal can read.
    """
    if result.outcome is Outcome.REJECTED:
        return _after_rejection(sent, result, own)
    stands = _standing(sent, result)
    known = Known(result.rev, _digest(stands))
    if _alike(own, sent.card):
        return Became(known, stands)
    if own is None and not _alike(stands, sent.card):
        # Deleted here without having seen what others did: the server is to find that out.
        return Became(sent.known, None)
    if own is None or stands is None:
        return Became(known, own)
    return Became(known, merge(sent.card, own, stands, prefer="mine").card)


def _after_rejection(sent: SentChange, result: ChangeResult, own: Card | None) -> Became:
    if result.erased:
        return Became(Known(), None)
    if result.code in FORGOTTEN and sent.known.rev is not None:
        # Without a base the server joins both sides and takes nothing away.
        return Became(Known(digest=sent.known.digest if own is None else None), own)
    if result.code is ErrorCode.UNAVAILABLE or not _alike(own, sent.card):
        return Became(sent.known, own)
    return Became(sent.known, own, result.problem)


def _standing(sent: SentChange, result: ChangeResult) -> Card | None:
    if result.deleted:
        return None
    return sent.card if result.card is None else Card.model_validate(result.card)


def after_news(known: Known, own: Card | None, rev: int, card: Card | None) -> Became | None:
    """What an entry becomes by what the server tells of it, none if it stays as it is.

    What is late or known changes nothing. A marked entry is left for the exchange, in which the
    server joins both sides, unless both sides have done the same.

    Args:
        known: what the server last said.
        own: the contents here, none if there are none.
        rev: the revision that is told.
        card: the contents that are told, none for a deletion.
    """
    if known.rev is not None and rev <= known.rev:
        return None
    told = Known(rev, _digest(card))
    if told.digest == _digest(own) or (known.rev is not None and told.digest == known.digest):
        # Nothing but the revision is new.
        return Became(told, own)
    return Became(told, card) if mark(known, _digest(own)) is None else None


def _digest(card: Card | None) -> str | None:
    return None if card is None else digest(card)


def _alike(one: Card | None, other: Card | None) -> bool:
    return _digest(one) == _digest(other)
