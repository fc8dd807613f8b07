"""Commands to sync_service, each with its result (rows Y1-Y6)."""

from datetime import datetime
from typing import ClassVar, Final

from pydantic import AwareDatetime, Field

from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import MAIN_BOOK
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import Rev, TerminalId
from contactmesh.contracts.multi_sim.records import ContactUid
from contactmesh.contracts.reply import Done, Result
from contactmesh.contracts.sync.records import (
    BookEntry,
    BookId,
    Change,
    ChangeResult,
    ConflictId,
    ConflictView,
    ListedEntry,
    Policy,
    TerminalTime,
    Token,
    Version,
)

MOST_CHANGES: Final = 200
"""How many changes one exchange carries, and gives back; more go in pages."""
MOST_LISTED: Final = 2_000
MOST_WITH_CARDS: Final = 200
MOST_RESTORED: Final = 200
"""How many entries one command restores; the reply says how many are left."""


class _BookCommand(Command):
    SERVICE: ClassVar[str] = "sync_service"

    book: BookId = MAIN_BOOK


class Exchanged(Result):
    """What became of each change, in their order, and what changed on the server.

    `changes` has what the terminal has not seen, its own changes left out. `token` is for the next
    exchange; send it at once while `has_more`. `own_card_uid` is the entry that is the sender's own
    card, if one of this book is.
    """

    TYPE: ClassVar[str] = "sync.exchange"

    results: tuple[ChangeResult, ...]
    changes: tuple[BookEntry, ...]
    token: Token
    has_more: bool
    own_card_uid: ContactUid | None = None


class Exchange(_BookCommand):
    """Send what changed on the terminal, and get what changed on the server (rows Y1-Y6).

    Without a token only an empty book is begun; a book that holds entries is listed first, and
    the listing gives the token. A token that cannot be continued from is `full_sync_required`:
    list the book. The message takes at most 200 changes, and 1 MiB.

    `sent_all` says that with these changes nothing is left to send that changed before `sent_at`:
    what follows changed later, whatever the terminal's clock says.

    `supports` names the card properties that the terminal can hold, all by default: what it cannot
    hold it has not removed. An exchange that would delete more than half of the book, and more
    than ten entries, is a `conflict` with `deleted` and `of` unless `confirm_deletions` is set;
    deletions of the last hour count too.
    """

    TYPE: ClassVar[str] = "sync.exchange"
    RESULT: ClassVar[type[Result]] = Exchanged

    token: Token | None = None
    changes: tuple[Change, ...] = Field(default=(), max_length=MOST_CHANGES)
    sent_at: TerminalTime
    sent_all: bool = False
    supports: frozenset[str] | None = None
    confirm_deletions: bool = False


class BookListing(Result):
    """One page of a book by revision, deleted entries included; go on with `after` while it is set.

    An entry that is edited meanwhile comes again with its new revision, and counts as it comes
    last; none is missed. `token` is of the moment before the first page: exchange with that of the
    first page after the last. An entry that the terminal has with a newer revision than listed, or
    that is not listed although its revision is later than `since`, was lost by a restore of the
    database: send it again. One that is not listed and older was deleted long ago; but after
    `full_sync_required` with the reason `restored` nothing was that the terminal had not been told
    of.
    """

    TYPE: ClassVar[str] = "sync.list"

    entries: tuple[ListedEntry, ...]
    after: int | None = None
    token: Token
    since: int


class ListBook(_BookCommand):
    """Ask what a book holds: the full sync, which sends again nothing that is unchanged."""

    TYPE: ClassVar[str] = "sync.list"
    RESULT: ClassVar[type[Result]] = BookListing
    READS: ClassVar[bool] = True

    after: Rev | None = None
    cards: bool = False
    limit: int = Field(default=MOST_LISTED, ge=1, le=MOST_LISTED)


class Fetched(Result):
    """The entries asked for that the message has room for; ask for the others again.

    One that is not there, or is deleted, comes without a card, and with revision 0 where it never
    was.
    """

    TYPE: ClassVar[str] = "sync.fetch"

    entries: tuple[BookEntry, ...]


class Fetch(_BookCommand):
    """Ask for entries by uid."""

    TYPE: ClassVar[str] = "sync.fetch"
    RESULT: ClassVar[type[Result]] = Fetched
    READS: ClassVar[bool] = True

    uids: tuple[ContactUid, ...] = Field(min_length=1, max_length=MOST_WITH_CARDS)


class BookView(Message):
    """A book as its owner sees it."""

    TYPE: ClassVar[str] = "book_view"

    book: BookId
    policy: Policy
    entries: int
    conflicts: int
    own_card_uid: ContactUid | None = None
    last_sync_at: datetime | None = None
    last_sync_by: TerminalId | None = None


class BookList(Result):
    """The sender's books by name."""

    TYPE: ClassVar[str] = "sync.books"

    books: tuple[BookView, ...]


class ListBooks(Command):
    """Ask for the sender's books."""

    SERVICE: ClassVar[str] = "sync_service"
    TYPE: ClassVar[str] = "sync.books"
    RESULT: ClassVar[type[Result]] = BookList
    READS: ClassVar[bool] = True


class SetPolicy(_BookCommand):
    """Set what becomes of edits that meet (row Y4)."""

    TYPE: ClassVar[str] = "sync.set_policy"
    RESULT: ClassVar[type[Result]] = Done

    policy: Policy


class SetOwnCard(_BookCommand):
    """Say which entry is the sender's own card: its changes are published to the groups.

    Without a uid none is. At most one entry over all books is the sender's own.
    """

    TYPE: ClassVar[str] = "sync.set_own_card"
    RESULT: ClassVar[type[Result]] = Done

    uid: ContactUid | None = None


class History(Result):
    """An entry's versions, the newest first; go on with `before` while it is set."""

    TYPE: ClassVar[str] = "sync.history"

    versions: tuple[Version, ...]
    before: int | None = None


class ListHistory(_BookCommand):
    """Ask for the versions of an entry of the last 30 days."""

    TYPE: ClassVar[str] = "sync.history"
    RESULT: ClassVar[type[Result]] = History
    READS: ClassVar[bool] = True

    uid: ContactUid
    before: Rev | None = None
    cards: bool = False
    limit: int = Field(default=50, ge=1, le=MOST_WITH_CARDS)


class Deleted(Message):
    """A deleted entry that can still be restored."""

    TYPE: ClassVar[str] = "deleted"

    uid: ContactUid
    name: str
    rev: int
    at: datetime
    terminal_id: TerminalId | None = None


class DeletedList(Result):
    """The latest deleted entries, the newest first; go on with `before` while it is set."""

    TYPE: ClassVar[str] = "sync.deleted"

    entries: tuple[Deleted, ...]
    before: int | None = None


class ListDeleted(_BookCommand):
    """Ask which entries were deleted in the last 30 days. `rev` is of the version before."""

    TYPE: ClassVar[str] = "sync.deleted"
    RESULT: ClassVar[type[Result]] = DeletedList
    READS: ClassVar[bool] = True

    before: Rev | None = None
    limit: int = Field(default=100, ge=1, le=MOST_WITH_CARDS)


class Restored(Result):
    """The entry's revision now."""

    TYPE: ClassVar[str] = "sync.restore"

    rev: int


class Restore(_BookCommand):
    """Let an entry be again as one of its versions is. What stands goes into the history."""

    TYPE: ClassVar[str] = "sync.restore"
    RESULT: ClassVar[type[Result]] = Restored

    uid: ContactUid
    rev: Rev


class BookRestored(Result):
    """How many entries this command restored, and how many it looked at.

    While `through` is set, send the command again with it. `before` is the moment before the first
    step, by the server's clock: restoring the book to it takes all steps back.
    """

    TYPE: ClassVar[str] = "sync.restore_book"

    restored: int
    looked_at: int
    before: datetime
    through: int | None = None
    after: int | None = None


class RestoreBook(_BookCommand):
    """Let the whole book be as it was at a time of the last 30 days, a page at a time.

    Entries made since then are deleted, and can be restored in turn. A page looks at up to 200
    entries that changed since `at`; `through` and `after` are those of the page before.
    """

    TYPE: ClassVar[str] = "sync.restore_book"
    RESULT: ClassVar[type[Result]] = BookRestored

    at: AwareDatetime
    through: Rev | None = None
    after: Rev | None = None


class ConflictList(Result):
    """Conflicts that wait, the newest first; go on with `before` while it is set."""

    TYPE: ClassVar[str] = "sync.conflicts"

    conflicts: tuple[ConflictView, ...]
    before: ConflictId | None = None


class ListConflicts(_BookCommand):
    """Ask for the conflicts of the last 30 days that nobody has settled."""

    TYPE: ClassVar[str] = "sync.conflicts"
    RESULT: ClassVar[type[Result]] = ConflictList
    READS: ClassVar[bool] = True

    before: ConflictId | None = None
    limit: int = Field(default=100, ge=1, le=MOST_WITH_CARDS)


class Settled(Result):
    """The entry's revision now."""

    TYPE: ClassVar[str] = "sync.settle"

    rev: int


class Settle(_BookCommand):
    """Settle a conflict: leave things as they are, or take the value that lost instead."""

    TYPE: ClassVar[str] = "sync.settle"
    RESULT: ClassVar[type[Result]] = Settled

    conflict_id: ConflictId
    take_lost: bool


class Erased(Result):
    """The entries that the book had, deleted ones too; of the others there was nothing to erase."""

    TYPE: ClassVar[str] = "sync.erase"

    uids: tuple[ContactUid, ...]


class Erase(_BookCommand):
    """Erase entries with their history and conflicts, so that nothing can restore them.

    Other terminals are told so and keep nothing of them. What they had changed meanwhile is
    rejected as `erased`.
    """

    TYPE: ClassVar[str] = "sync.erase"
    RESULT: ClassVar[type[Result]] = Erased

    uids: tuple[ContactUid, ...] = Field(min_length=1, max_length=MOST_RESTORED)
