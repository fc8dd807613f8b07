"""The queries behind lists, what all collections need as indexes, and what is let go."""

from collections.abc import Sequence
from typing import Any, Final

from contactmesh.messaging.topology import MAX_BODY_BYTES
from contactmesh.storage.database import Collection, Database, Index
from contactmesh.storage.transaction import Document
from contactmesh.storage.windows import ascending, descending
from sync_service.domain.documents import Book, ConflictDocument, Entry, Version
from sync_service.domain.listing import DELETIONS_KEPT
from sync_service.repository import mapping
from sync_service.repository.fitting import that_fit
from sync_service.repository.mapping import CONTENTS, entry_id, version_id

ROOM_BYTES: Final = MAX_BODY_BYTES * 3 // 4
"""How much of a message a list may take, so that the envelope has room whatever it holds."""

INDEXES: Final = {
    mapping.BOOKS: [Index((("user_id", 1),))],
    mapping.ENTRIES: [
        Index((("owner", 1), ("rev", 1))),
        Index((("owner", 1), ("restorable", 1), ("rev", 1))),
        Index((("deleted_at", 1),), expire_seconds=int(DELETIONS_KEPT.total_seconds())),
    ],
    mapping.VERSIONS: [
        Index((("owner", 1), ("rev", 1))),
        Index((("owner", 1), ("uid", 1), ("rev", 1))),
        Index((("expires_at", 1),), expire_seconds=0),
    ],
    mapping.CONFLICTS: [
        Index((("owner", 1), ("conflict_id", 1))),
        Index((("owner", 1), ("uid", 1))),
        Index((("expires_at", 1),), expire_seconds=0),
    ],
}


class Reading:
    """Reads for commands that only ask. Each list is as long as a message has room for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._books = database.collection(mapping.BOOKS)
        self._entries = database.collection(mapping.ENTRIES)
        self._versions = database.collection(mapping.VERSIONS)
        self._conflicts = database.collection(mapping.CONFLICTS)

    async def prepare(self) -> None:
        """Make sure that every query has its index."""
        for name, indexes in INDEXES.items():
            await self._database.collection(name).ensure(indexes)

    async def books(self, user_id: str) -> list[Book]:
        """A user's books, by name."""
        found = await self._books.find({"user_id": user_id}, sort=[("_id", 1)])
        return [mapping.book(document) for document in found]

    async def book(self, user_id: str, book: str) -> Book:
        """A user's book, a new one where there is none."""
        empty = Book(user_id, book)
        found = await self._books.get(empty.owner)
        return empty if found is None else mapping.book(found)

    async def number_of_conflicts(self, owner: str) -> int:
        """How many conflicts wait in a book."""
        return await self._conflicts.count({"owner": owner}, limit=1_000_000)

    async def entries(
        self, book: Book, after: int, *, limit: int, cards: bool
    ) -> tuple[list[Entry], bool]:
        """Entries by revision up to the book's, deleted ones too, and whether more may follow."""
        found = await ascending(
            self._entries,
            {"owner": book.owner},
            "rev",
            # Empty windows before the first one would widen to one that holds the whole book.
            after=max(after, book.first_rev - 1),
            until=book.rev,
            limit=limit,
            without=CONTENTS,
        )
        page = that_fit(found, ROOM_BYTES, cards=cards)
        shown = await _with_contents(self._entries, page) if cards else page
        more = len(found) == limit and found[-1]["rev"] < book.rev
        return [mapping.entry(document) for document in shown], more or len(page) < len(found)

    async def named(self, owner: str, uids: Sequence[str]) -> dict[str, Entry | None]:
        """Entries by uid with their cards, as many as have room; none where there is none."""
        ids = [entry_id(owner, uid) for uid in dict.fromkeys(uids)]
        light = await self._entries.find({"_id": {"$in": ids}}, without=CONTENTS)
        sizes = {one["uid"]: one for one in light}
        asked = [sizes.get(uid, {"uid": uid, "size": 0}) for uid in dict.fromkeys(uids)]
        page = that_fit(asked, ROOM_BYTES, cards=True)
        shown = await _with_contents(self._entries, [one for one in page if "_id" in one])
        entries = {document["uid"]: mapping.entry(document) for document in shown}
        return {one["uid"]: entries.get(one["uid"]) for one in page}

    async def versions(
        self, owner: str, uid: str, before: int | None, *, limit: int, cards: bool
    ) -> tuple[list[tuple[Entry | Version, str]], bool]:
        """What an entry is and was, each with its name, the newest first; whether more follow."""
        earlier: dict[str, Any] = {} if before is None else {"rev": {"$lt": before}}
        stands = await self._entries.find(
            {"_id": entry_id(owner, uid), **earlier}, without=() if cards else CONTENTS
        )
        were = await self._versions.find(
            {"owner": owner, "uid": uid, **earlier},
            sort=[("rev", -1)],
            limit=limit + 1,
            without=CONTENTS,
        )
        # One that was replaced between the two queries is in both.
        found = {one["rev"]: one for one in (*were, *stands)}
        newest = [found[rev] for rev in sorted(found, reverse=True)]
        page = that_fit(newest[:limit], ROOM_BYTES, cards=cards)
        more = len(page) < len(newest)
        if cards:
            full = await self._versions.get_many([one["_id"] for one in page if "reason" in one])
            shown = (one if "reason" not in one else full.get(one["_id"]) for one in page)
            page = [one for one in shown if one is not None]
        return [_named(document) for document in page], more

    async def deleted(
        self, book: Book, before: int | None, *, since: int, limit: int
    ) -> tuple[list[tuple[Entry, str]], bool]:
        """Entries deleted since then that can be restored, with the names that they had.

        The newest first; and whether more follow.
        """
        owner = book.owner
        found = await descending(
            self._entries,
            {"owner": owner, "restorable": True},
            "rev",
            before=before or book.rev + 1,
            since=since,
            limit=limit + 1,
            without=CONTENTS,
        )
        page = [mapping.entry(document) for document in found[:limit]]
        ids = [version_id(owner, one.uid, one.was_rev or 0) for one in page]
        were = await self._versions.find({"_id": {"$in": ids}}, without=CONTENTS)
        names = {(one["uid"], one["rev"]): one["name"] for one in were}
        kept = [(one, names[key]) for one in page if (key := (one.uid, one.was_rev)) in names]
        # Deletions are in the order of time: the first whose contents are forgotten ends the list.
        return kept, len(page) < len(found) and len(kept) == len(page)

    async def conflicts(
        self, owner: str, before: str | None, *, limit: int
    ) -> tuple[list[ConflictDocument], bool]:
        """Conflicts that wait, the newest first; whether more follow."""
        where: dict[str, Any] = {"owner": owner}
        if before is not None:
            where["conflict_id"] = {"$lt": before}
        found = await self._conflicts.find(where, sort=[("conflict_id", -1)], limit=limit + 1)
        page = that_fit(found[:limit], ROOM_BYTES, cards=True)
        return [mapping.conflict(document) for document in page], len(page) < len(found)


async def _with_contents(collection: Collection, page: Sequence[Document]) -> list[Document]:
    full = await collection.get_many([one["_id"] for one in page])
    return [full[one["_id"]] for one in page if one["_id"] in full]


def _named(document: Document) -> tuple[Entry | Version, str]:
    kind = mapping.version if "reason" in document else mapping.entry
    return kind(document), document["name"]
