"""Loading what a unit of work looks at, and writing what it changed."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Document, Write
from contactmesh.storage.windows import ascending
from sync_service.domain.documents import Limits, owner_of
from sync_service.domain.state import Page, State
from sync_service.repository import mapping
from sync_service.repository.fitting import that_fit
from sync_service.repository.mapping import CONTENTS, conflict_id, entry_id, version_id
from sync_service.wanted import Wanted


class Loaded:
    """A state with the guards of those users who may get one book more."""

    def __init__(self) -> None:
        self.state = State()
        self.guards: dict[str, int] = {}

    def writes(self) -> list[Write]:
        """What the batch changed: all that is written in a book is guarded by the book's `etag`.

        A new entry is written as such, which costs the database a fraction of looking for one to
        be replaced.
        """
        books = [book for book in self.state.books.changed.values() if book is not None]
        found = [
            Write(
                mapping.BOOKS,
                book.owner,
                {**mapping.stored_book(book), "etag": book.etag + 1},
                guard=book.etag,
            )
            for book in books
        ]
        for user_id in sorted({book.user_id for book in books if book.etag == 0}):
            etag = self.guards[user_id]
            found.append(Write(mapping.OWNERS, user_id, {"etag": etag + 1}, guard=etag))
        return found + [
            Write(
                collection,
                id_of(*key),
                None if document is None else stored(document),
                guard=0 if name == "entries" and self.state.entries.is_new(key) else None,
            )
            for name, collection, id_of, stored in PLAIN
            for key, document in getattr(self.state, name).changed.items()
        ]


PLAIN: Final[tuple[tuple[str, str, Callable[..., str], Callable[[Any], Document]], ...]] = (
    ("entries", mapping.ENTRIES, entry_id, mapping.stored_entry),
    ("versions", mapping.VERSIONS, version_id, mapping.stored_version),
    ("conflicts", mapping.CONFLICTS, conflict_id, mapping.stored_conflict),
)
"""What is written under the guard of its book."""


class Loading:
    """Loads the documents that a unit of work looks at."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._limits = limits
        self._owners = database.collection(mapping.OWNERS)
        self._books = database.collection(mapping.BOOKS)
        self._entries = database.collection(mapping.ENTRIES)
        self._versions = database.collection(mapping.VERSIONS)
        self._conflicts = database.collection(mapping.CONFLICTS)

    async def begin(self, books: Iterable[tuple[str, str]]) -> Loaded:
        """Load all books of users, each named by a user and a book, to which `load` adds.

        Whatever another process commits meanwhile, a book's `etag` is outdated when the unit of
        work commits; for a book that is not there yet, its owner's guard is.
        """
        loaded = Loaded()
        named = set(books)
        users = sorted({user_id for user_id, _ in named})
        await self._load_books(loaded.state, users)
        missing = {
            user_id
            for user_id, book in named
            if loaded.state.books.get(owner_of(user_id, book)) is None
        }
        if missing:
            guards = await self._owners.get_many(sorted(missing))
            loaded.guards = {one: guards.get(one, {"etag": 0})["etag"] for one in missing}
            await self._load_books(loaded.state, sorted(missing))
        return loaded

    async def load(self, state: State, want: Wanted) -> None:
        """Load what is wanted, in as few round trips as it takes to find it."""
        await self._load_conflicts(state, want)
        await asyncio.gather(
            *(self._load_page(state, want, *one) for one in sorted(want.pages)),
            *(self._load_known(state, *one) for one in _by_owner(want.known).items()),
        )
        await self._load_entries(state, want)
        await asyncio.gather(
            *(self._find_own(want, *one) for one in self._bases(state, want).items()),
            *(self._find_stood(state, want, *one) for one in sorted(want.stood)),
            *(self._load_whole(state, *one) for one in _by_owner(want.whole).items()),
        )
        await self._load_versions(state, want)

    async def _load_books(self, state: State, user_ids: list[str]) -> None:
        found = await self._books.find({"user_id": {"$in": user_ids}}) if user_ids else []
        state.books.load((book.owner, book) for book in map(mapping.book, found))

    async def _load_conflicts(self, state: State, want: Wanted) -> None:
        found = await self._conflicts.get_many([conflict_id(*one) for one in want.conflicts])
        for conflict in map(mapping.conflict, found.values()):
            state.conflicts.load([(conflict.key, conflict)])
            want.entries.add((conflict.owner, conflict.uid))
            want.versions.add((conflict.owner, conflict.uid, conflict.lost_rev))

    async def _load_page(self, state: State, want: Wanted, owner: str, since: int) -> None:
        """Find which entries follow; they are looked at if their cards have room in a reply."""
        book = state.books.get(owner)
        if book is None or book.rev <= since:
            state.pages[owner, since] = Page()
            return
        limit = self._limits.page
        found = await ascending(
            self._entries,
            {"owner": owner},
            "rev",
            after=max(since, book.first_rev - 1),
            until=book.rev,
            limit=limit,
            without=CONTENTS,
        )
        page = that_fit(found, self._limits.reply_bytes, cards=True)
        whole = len(found) < limit or found[-1]["rev"] == book.rev
        state.pages[owner, since] = Page(
            tuple((one["rev"], one["uid"]) for one in page),
            complete=whole and len(page) == len(found),
        )
        want.entries |= {(owner, one["uid"]) for one in page}

    async def _load_known(self, state: State, owner: str, revs: list[int]) -> None:
        book = state.books.get(owner)
        if book is None:
            return
        # Another command of the batch may write in the book before the one that asks.
        state.known.add((owner, book.rev))
        asked = [rev for rev in revs if rev != book.rev]
        if not asked:
            return
        where = {"owner": owner, "rev": {"$in": asked}}
        for collection in (self._entries, self._versions):
            found = await collection.find(where, without=CONTENTS)
            state.known |= {(owner, one["rev"]) for one in found}

    async def _load_entries(self, state: State, want: Wanted) -> None:
        found = await self._entries.get_many([entry_id(*one) for one in sorted(want.entries)])
        state.entries.load((entry.key, entry) for entry in map(mapping.entry, found.values()))

    def _bases(self, state: State, want: Wanted) -> dict[tuple[str, str], dict[str, int]]:
        """The changes that others have overtaken: by owner and terminal, their base by uid."""
        overtaken: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for owner, uid, rev, terminal_id in sorted(want.bases):
            entry = state.entries.get((owner, uid))
            if entry is None or entry.rev == rev:
                continue
            want.versions |= {
                (owner, uid, each) for each in (rev, entry.was_rev) if each is not None and each
            }
            overtaken[owner, terminal_id].setdefault(uid, rev)
        return overtaken

    async def _find_own(self, want: Wanted, by: tuple[str, str], bases: dict[str, int]) -> None:
        """Find what a terminal has sent last of entries, after what it changed."""
        owner, terminal_id = by
        where = {
            "owner": owner,
            "uid": {"$in": sorted(bases)},
            "rev": {"$gt": min(bases.values())},
            "$or": [{"by": terminal_id, "sent": {"$ne": None}}, {"same_by": terminal_id}],
        }
        found = await self._versions.find(where, without=CONTENTS)
        want.versions |= _newest(one for one in found if one["rev"] > bases[one["uid"]])

    async def _find_stood(
        self, state: State, want: Wanted, owner: str, since: int, at: int
    ) -> None:
        """Find what the entries of a page were at a time."""
        page = state.pages[owner, since]
        where = {
            "owner": owner,
            "uid": {"$in": [uid for _, uid in page.entries]},
            "rev": {"$lte": at},
            "reason": "replaced",
        }
        if page.entries:
            want.versions |= _newest(await self._versions.find(where, without=CONTENTS))

    async def _load_whole(self, state: State, owner: str, uids: list[str]) -> None:
        where = {"owner": owner, "uid": {"$in": uids}}
        versions = map(mapping.version, await self._versions.find(where, without=CONTENTS))
        state.versions.load((version.key, version) for version in versions)
        conflicts = map(mapping.conflict, await self._conflicts.find(where))
        state.conflicts.load((conflict.key, conflict) for conflict in conflicts)

    async def _load_versions(self, state: State, want: Wanted) -> None:
        found = await self._versions.get_many([version_id(*one) for one in sorted(want.versions)])
        versions = map(mapping.version, found.values())
        state.versions.load((version.key, version) for version in versions)


def _newest(found: Iterable[Document]) -> set[tuple[str, str, int]]:
    newest: dict[tuple[str, str], int] = defaultdict(int)
    for one in found:
        key = (one["owner"], one["uid"])
        newest[key] = max(newest[key], one["rev"])
    return {(*key, rev) for key, rev in newest.items()}


def _by_owner(keys: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for owner, rest in sorted(keys):
        found[owner].append(rest)
    return found
