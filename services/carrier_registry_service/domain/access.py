"""Who may look at what (row C7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Grant:
    """What an owner has said about a viewer.

    `revoked` is more than the absence of a grant: it overrides what groups imply.
    """

    owner_id: str
    viewer_id: str
    details: bool = False
    state: bool = False
    usage: bool = False
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Membership:
    """A user's place in a group, with those whom they block there."""

    group_id: str
    user_id: str
    blocked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Access:
    """What a viewer may see of an owner. State and usage are shown beside a number, never alone."""

    details: bool = False
    state: bool = False
    usage: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of what may be seen, for the owner's log."""
        return tuple(name for name in ("details", "state", "usage") if getattr(self, name))


EVERYTHING: Final = Access(details=True, state=True, usage=True)
NOTHING: Final = Access()


def access_of(
    grant: Grant | None,
    shared: Iterable[Membership],
    viewer_id: str,
    *,
    blocked: bool = False,
) -> Access:
    """What a viewer may see.

    Args:
        grant: what the owner has said about the viewer, if anything.
        shared: the owner's memberships in the groups that the viewer is in too.
        viewer_id: the viewer.
        blocked: whether the owner blocks the viewer wherever they meet, or in any group, be the
            viewer still in it or not: nobody lifts a block on themselves by leaving.

    Deny wins: a revocation, a block everywhere, and one in whatever group. Otherwise
    sharing a group lets the viewer see the numbers, and a grant adds to that.
    """
    groups = tuple(shared)
    if blocked or any(viewer_id in one.blocked for one in groups):
        return NOTHING
    if grant is None:
        return Access(details=bool(groups))
    if grant.revoked or not (grant.details or groups):
        return NOTHING
    return Access(details=True, state=grant.state, usage=grant.usage)
