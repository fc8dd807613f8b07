"""What the rules work on: books, their entries, the versions that were, and conflicts.

Times are in microseconds since 1970, as revisions are (decision 2); those that let a document
expire are dates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from contactmesh.contracts.sync.records import ConflictKind, Policy, Reason

NO_CARD: Final = ""
"""The digest of an entry that is deleted."""

Contents = dict[str, Any]
"""A card as plain JSON."""


class Stamp(NamedTuple):
    """When a field was changed, and by which terminal; the later one counts."""

    at: int
    terminal_id: str


Times = Mapping[str, Stamp]
"""When fields were changed, by path as `changed_fields` writes it; the empty path is the card."""


def owner_of(user_id: str, book: str) -> str:
    """What the documents of a user's book are kept under."""
    return f"{user_id}/{book}"


@dataclass(frozen=True, slots=True)
class Book:
    """How a user's address book stands. All that is written in it raises its `etag`.

    Attributes:
        rev: the last revision that was given in the book, 0 before the first.
        first_rev: the first one, 0 before it.
        entries: how many it has, deleted ones left out.
        synced: when the last exchange ended, 0 before the first.
        synced_by: the terminal that it was with.
        deletions: when terminals deleted entries within the last hour, and how many, by the minute.
        stood: revisions that the book stood at for a day or longer, and until when; those of the
            days that tokens are good for.
    """

    user_id: str
    book: str
    rev: int = 0
    first_rev: int = 0
    policy: Policy = Policy.MERGE
    entries: int = 0
    own_card_uid: str | None = None
    synced: int = 0
    synced_by: str | None = None
    deletions: tuple[tuple[int, int], ...] = ()
    stood: tuple[tuple[int, int], ...] = ()
    etag: int = 0

    @property
    def owner(self) -> str:
        """What its documents are kept under."""
        return owner_of(self.user_id, self.book)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a book as it stands, or that it was deleted.

    Attributes:
        updated_at: when its contents were made, by the corrected clock of the terminal.
        at: when they were received.
        by: the terminal whose command made them.
        digest: of the card, `NO_CARD` where it is deleted.
        times: when its fields were changed, those of the last 30 days.
        sent: the digest of what the terminal sent, none where they were not sent but restored. It
            differs from `digest` where what was sent was merged.
        same_by: further terminals that sent these contents, when they stood already.
        updated_by: the terminal of `updated_at`, where that is one of those.
        changed_fields: in what they differ from those before.
        made: whether none stood before.
        was_rev: where it is deleted, the revision of the contents before.
        was_digest: where it is deleted, the digest of the contents before.
        erased_rev: the revision with which it was last erased, 0 if never: nothing that was made
            from what it was before may come back.
        deleted_at: where it is deleted, when; it is forgotten 90 days later.
    """

    user_id: str
    book: str
    uid: str
    rev: int
    updated_at: int
    at: int
    by: str
    digest: str
    card: Contents | None = None
    times: Times = field(default_factory=dict)
    sent: str | None = None
    same_by: tuple[str, ...] = ()
    updated_by: str | None = None
    changed_fields: tuple[str, ...] = ()
    made: bool = False
    was_rev: int | None = None
    was_digest: str = NO_CARD
    erased_rev: int = 0
    deleted_at: datetime | None = None

    @property
    def owner(self) -> str:
        """What the documents of its book are kept under."""
        return owner_of(self.user_id, self.book)

    @property
    def key(self) -> tuple[str, str]:
        """Its owner and uid."""
        return (self.owner, self.uid)

    @property
    def deleted(self) -> bool:
        """Whether it is deleted."""
        return self.digest == NO_CARD

    @property
    def erased(self) -> bool:
        """Whether it is deleted, and was erased."""
        return self.erased_rev == self.rev


@dataclass(frozen=True, slots=True)
class Version:
    """Contents that an entry had, or that were sent and lost; fields are as in `Entry`.

    One whose entry was erased has no uid and nothing else of it: it stays because tokens may hold
    its revision.
    """

    user_id: str
    book: str
    uid: str
    rev: int
    reason: Reason
    updated_at: int
    at: int
    by: str
    digest: str
    expires_at: datetime
    card: Contents | None = None
    times: Times = field(default_factory=dict)
    sent: str | None = None
    same_by: tuple[str, ...] = ()
    changed_fields: tuple[str, ...] = ()
    made: bool = False

    @property
    def owner(self) -> str:
        """What the documents of its book are kept under."""
        return owner_of(self.user_id, self.book)

    @property
    def key(self) -> tuple[str, str, int]:
        """Its owner, uid and revision; the revision alone is unique in a book."""
        return (self.owner, self.uid, self.rev)

    def erased(self) -> "Version":
        """What is left of it when its entry is erased."""
        return replace(
            self,
            uid="",
            digest=NO_CARD,
            card=None,
            times={},
            sent=None,
            same_by=(),
            changed_fields=(),
        )


@dataclass(frozen=True, slots=True)
class ConflictDocument:
    """A conflict that waits for its owner, as `ConflictView` shows it.

    Attributes:
        conflict_id: sorts by the time of the conflict.
        rev: the entry's revision after it.
        at: when it was received.
        lost_rev: the version that holds what lost.
    """

    user_id: str
    book: str
    conflict_id: str
    kind: ConflictKind
    uid: str
    name: str
    rev: int
    at: int
    lost_rev: int
    lost_by: str
    expires_at: datetime
    path: str = ""
    kept: Any = None
    lost: Any = None

    @property
    def owner(self) -> str:
        """What the documents of its book are kept under."""
        return owner_of(self.user_id, self.book)

    @property
    def key(self) -> tuple[str, str]:
        """Its owner and id."""
        return (self.owner, self.conflict_id)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator allows.

    Attributes:
        books: books of one user.
        entries: entries of one book.
        card_bytes: a card without its embedded media, and these media.
        page: how many entries one exchange gives, and one step of restoring a book looks at.
        reply_bytes: how much of a reply cards may take.
        kept: how long versions and conflicts are kept, and tokens are good for.
    """

    books: int = 32
    entries: int = 50_000
    card_bytes: int = 256 * 1024
    page: int = 200
    reply_bytes: int = 512 * 1024
    kept: timedelta = timedelta(days=30)
