"""What a terminal knows of one member in one group, and which of two messages is the newer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from contactmesh.contracts.group.views import MemberState, Role

CardJson = Mapping[str, JsonValue]
"""A card as JSContact JSON (RFC 9553)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An entry of the owner's that turned out to be the member's.

    Attributes:
        member_key: the key under which the member's card has the entry.
        rev: the revision of the card that showed it.
    """

    member_key: str
    rev: int


Claims = Mapping[str, Mapping[str, Claim]]
"""The owner's entries that are the member's: property, the owner's key for the entry, claim."""


@dataclass(frozen=True, slots=True)
class View:
    """A member as one group shows them to this user.

    Attributes:
        rev: orders what is learnt of this member in this group, by push and by pull alike.
        role: how the member came in, none until a message said so.
        role_rev: the revision of the message that said so.
        claims: which of the owner's entries the member's cards have shown to be theirs.
    """

    group_id: str
    user_id: str
    rev: int
    state: MemberState
    card: CardJson | None = None
    role: Role | None = None
    role_rev: int = -1
    claims: Claims = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """Whether the member is in the group."""
        return self.state is MemberState.ACTIVE

    @property
    def shown(self) -> bool:
        """Whether there is a card to show."""
        return self.active and self.card is not None


def _freshness(view: View) -> tuple[int, bool, bool]:
    # Revisions decide. At equal ones the message that carries more wins, so that the order in
    # which the two came does not matter: a departure over a presence, a card over none.
    return (view.rev, not view.active, view.card is not None)


def newest(stored: View | None, arrived: View) -> View:
    """Join what arrived with what is stored; late and repeated messages change nothing.

    The role is kept apart from the rest, because only some messages carry it: one that comes
    after a newer card still tells it. Whatever the order of messages and however often each
    comes, the outcome is the same.
    """
    if stored is None:
        return arrived
    winner = arrived if _freshness(arrived) > _freshness(stored) else stored
    by_role = max(
        stored, arrived, key=lambda view: (view.role_rev, view.role is not None, view.role or "")
    )
    claims = join_claims(stored.claims, arrived.claims) if winner.active else {}
    return replace(winner, role=by_role.role, role_rev=by_role.role_rev, claims=claims)


def join_claims(one: Claims, other: Claims) -> Claims:
    """Both claims together; where they speak of the same entry, the newer card's stands."""
    joined: dict[str, dict[str, Claim]] = {name: dict(entries) for name, entries in one.items()}
    for name, entries in other.items():
        mine = joined.setdefault(name, {})
        for key, claim in entries.items():
            known = mine.get(key)
            if known is None or (claim.rev, claim.member_key) > (known.rev, known.member_key):
                mine[key] = claim
    return joined
