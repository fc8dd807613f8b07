"""What group_service stores, as the rules see it."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from contactmesh.contracts.group.views import MemberState, Role


@dataclass(frozen=True, slots=True)
class Group:
    """A group's head.

    Every change within the group raises `etag`, so that two processes never decide on the same
    state.

    `rev` is the last revision given out in the group: microseconds since 1970, or one more than
    the last if the clock has not moved on. A counter would tell a blocked member by its gaps that
    something has happened; a time tells nothing.
    """

    group_id: str
    name: str
    owner_id: str
    rev: int
    audience_version: int
    member_count: int
    created_at: datetime
    dissolved: bool = False
    etag: int = 0

    def advanced(self, now: datetime) -> "Group":
        """The head with the next revision."""
        return replace(self, rev=max(self.rev + 1, int(now.timestamp() * 1_000_000)))

    def with_new_audience(self) -> "Group":
        """The head after the audience has changed."""
        return replace(self, audience_version=self.audience_version + 1)


@dataclass(frozen=True, slots=True)
class Member:
    """A membership with the card that the member published, if any.

    `joined_version` is the audience version of joining; `rev` is the last change that anyone may
    see, of the membership (`membership_rev`) or of the
    card (`card_rev`). `frozen_here` counts the blocks that hold the present card for their blocked.
    """

    group_id: str
    user_id: str
    role: Role
    state: MemberState
    joined_at: datetime
    joined_version: int
    membership_rev: int
    rev: int
    card: dict[str, Any] | None = None
    card_rev: int | None = None
    card_digest: str | None = None
    card_uid: str | None = None
    frozen_here: int = 0
    muted_terminals: tuple[str, ...] = ()

    @property
    def active(self) -> bool:
        """Whether the membership stands."""
        return self.state is MemberState.ACTIVE


@dataclass(frozen=True, slots=True)
class Block:
    """`setter_id` does, or did, not want `blocked_id` to learn of changes in this group (G1b).

    While it stands, the blocked one is shown the card of revision `frozen_card_rev` under the
    revision `shown_rev`. After lifting, the current card is shown under `lifted_rev`, so that
    neither the number nor the time of the changes missed can be told; `lifted_version` is the
    group's audience version of the lifting, before which nothing is delivered even late. If nothing
    was missed, the card of revision `same_card_rev` goes on being shown under `lifted_rev`, the one
    known before: a change that was taken back is none.

    `excepted` marks a block that was lifted here while the setter blocked the other everywhere: it
    stays lifted when the two come to share the group again.
    """

    group_id: str
    setter_id: str
    blocked_id: str
    active: bool
    frozen_card_rev: int | None = None
    shown_rev: int = 0
    lifted_rev: int | None = None
    lifted_version: int | None = None
    frozen_digest: str | None = None
    same_card_rev: int | None = None
    excepted: bool = False


@dataclass(frozen=True, slots=True)
class StandingBlock:
    """A block in all groups: it also holds in those that the two come to share later."""

    setter_id: str
    blocked_id: str


@dataclass(frozen=True, slots=True)
class FrozenCard:
    """A card as it was when blocks were set, kept for the `holders` of these blocks."""

    group_id: str
    user_id: str
    card_rev: int
    card: dict[str, Any]
    holders: int


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """An entry that a withdrawn number took off a card, and the card's revision without it.

    The carrier may name a successor later. While the card is still of this revision its owner has
    not touched it, and the entry can come back with the successor's number.
    """

    group_id: str
    key: str
    phone: dict[str, Any]
    card_rev: int


@dataclass(frozen=True, slots=True)
class Succession:
    """What became of one of a user's carrier registrations, as of the line event `rev`.

    `before` and `after` are references such as `cn-mobile:1048577`; without `after` the number was
    withdrawn. Successions are kept because line events come in any order: what replaced a number
    may be known before the number's own replacement is.
    """

    owner_id: str
    before: str
    before_number: str
    rev: int
    after: str | None = None
    after_number: str | None = None
    withdrawn: tuple[Withdrawn, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnCard:
    """Which entry of their address books a user published last as their own card.

    `rev` is the entry's revision, `at` when that was told of, in microseconds.
    """

    user_id: str
    book: str | None
    uid: str
    rev: int
    at: int

    def knows(self, other: "OwnCard") -> bool:
        """Whether what was told of an entry is as old as this, or older.

        Of one entry its revision says so. The owner may choose another one, and a former one
        again, whose revisions are older: then the time of telling does.
        """
        if (other.book, other.uid) == (self.book, self.uid):
            return other.rev <= self.rev
        return other.at <= self.at


class InvitationState(StrEnum):
    """What has become of an invitation."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation: single-use, for one user, until `expires_at`."""

    invitation_id: str
    group_id: str
    group_name: str
    inviter_id: str
    invitee_id: str
    created_at: datetime
    expires_at: datetime
    state: InvitationState = InvitationState.OPEN

    def is_open(self, now: datetime) -> bool:
        """Whether it can still be answered."""
        return self.state is InvitationState.OPEN and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of the quotas a user has used up, counted when it is loaded."""

    user_id: str
    owned_groups: int
    open_invitations: int


@dataclass(frozen=True, slots=True)
class PullInterval:
    """How often a terminal wants to pull, in seconds."""

    terminal_id: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator allows."""

    owned_groups: int = 100
    open_invitations: int = 200
    members: int = 5_000
    invitation_days: int = 14
    card_bytes: int = 256 * 1024
    default_pull_seconds: int = 900
