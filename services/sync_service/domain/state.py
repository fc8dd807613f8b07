"""The documents that a unit of work looks at, who asks, and what comes of it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.deciding.table import Table
from sync_service.domain.documents import (
    Book,
    ConflictDocument,
    Entry,
    Limits,
    Version,
    owner_of,
)
from sync_service.domain.times import micros


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks and when; tokens are signed with `key`."""

    user_id: str
    terminal_id: str
    now: datetime
    limits: Limits
    key: bytes

    @property
    def received(self) -> int:
        """When the command was received, in microseconds."""
        return micros(self.now)


@dataclass(frozen=True, slots=True)
class Page:
    """Entries of a book after a revision, by revision, as they were loaded.

    Attributes:
        entries: the revision and uid of each; the entries themselves are in the state.
        complete: whether none are known to follow.
    """

    entries: tuple[tuple[int, str], ...] = ()
    complete: bool = True


class Entries(Table[tuple[str, str], Entry]):
    """Entries by owner and uid, with their cards; and which of them are new."""

    def __init__(self) -> None:
        super().__init__()
        self._stored: set[tuple[str, str]] = set()

    def load(self, documents: Iterable[tuple[tuple[str, str], Entry]]) -> None:
        """Take entries in as they are stored."""
        found = dict(documents)
        self._stored.update(found)
        super().load(found.items())

    def is_new(self, key: tuple[str, str]) -> bool:
        """Whether an entry was not there when the unit of work looked for it."""
        return key not in self._stored


class Versions(Table[tuple[str, str, int], Version]):
    """Versions by owner, uid and revision, and those of an entry together."""

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[tuple[str, str], set[int]] = defaultdict(set)

    def load(self, documents: Iterable[tuple[tuple[str, str, int], Version]]) -> None:
        """Take versions in as they are stored."""
        found = dict(documents)
        for owner, uid, rev in found:
            self._of[owner, uid].add(rev)
        super().load(found.items())

    def put(self, key: tuple[str, str, int], document: Version) -> None:
        """Add a version."""
        self._of[key[:2]].add(key[2])
        super().put(key, document)

    def drop(self, key: tuple[str, str, int]) -> None:
        """Delete a version."""
        self._of[key[:2]].discard(key[2])
        super().drop(key)

    def of(self, owner: str, uid: str) -> list[Version]:
        """The loaded versions of an entry, the oldest first."""
        found = (self.get((owner, uid, rev)) for rev in sorted(self._of[owner, uid]))
        return [version for version in found if version is not None]


class State:
    """Everything that a unit of work has loaded. A refused command has changed nothing in it.

    All books of a sender are loaded. Beside them:

    `Exchange` looks at the entries that its changes name; where the `base_rev` of a change is not
    the entry's revision, also at the version of that revision, at the sending terminal's newest
    version of the entry after it, and at the version `was_rev` of a deleted entry. With a token
    (`tokens.read_token` gives its revision) it looks at the page of entries after that revision,
    and whether the book stands at that revision, or an entry or a version has it; the same of the
    last revision of each range of the terminal's own.

    `Restore` looks at the entry and the version. `RestoreBook` looks at the page of entries after
    the later one of `at` and `after`; and for each of these at its newest version that is not
    lost, with a revision not after `at`. `Settle` looks at the conflict, its entry, and the
    version `lost_rev`. `Erase` looks at the entries with all their versions and conflicts.
    `SetOwnCard` looks at the entry.
    """

    def __init__(self) -> None:
        self.books: Table[str, Book] = Table()
        """by owner"""
        self.entries = Entries()
        """(owner, uid), with their cards"""
        self.versions = Versions()
        """(owner, uid, revision), with their cards except for `Erase`"""
        self.conflicts: Table[tuple[str, str], ConflictDocument] = Table()
        """(owner, conflict)"""
        self.pages: dict[tuple[str, int], Page] = {}
        """(owner, revision): the entries after it"""
        self.known: set[tuple[str, int]] = set()
        """(owner, revision): the book stood at it at loading, or an entry or a version has it"""
        self.erased: set[str] = set()
        """owners of books that entries were erased from"""

    def books_of(self, user_id: str) -> list[Book]:
        """A user's books, by name."""
        own = (book for book in self.books if book.user_id == user_id)
        return sorted(own, key=lambda book: book.book)

    def book(self, asking: Asking, name: str) -> Book:
        """A book of the sender's, a new one where there is none.

        Raises:
            Refusal: `quota_exceeded`.
        """
        found = self.books.get(owner_of(asking.user_id, name))
        if found is not None:
            return found
        if len(self.books_of(asking.user_id)) >= asking.limits.books:
            raise Refusal(
                ErrorCode.QUOTA_EXCEEDED,
                f"You may have {asking.limits.books} books. Use one of yours.",
                limit=asking.limits.books,
            )
        return Book(asking.user_id, name)

    def put_book(self, book: Book) -> None:
        """Set a book's new state."""
        self.books.put(book.owner, book)

    def put_entry(self, entry: Entry) -> None:
        """Set an entry's new state."""
        self.entries.put(entry.key, entry)


def no_entry() -> Refusal:
    """There is no such entry, or it is deleted."""
    return Refusal(ErrorCode.NOT_FOUND, "Your book has no such entry; list what it holds.")
