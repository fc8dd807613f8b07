"""The rows of the owner's address book: what the server and this terminal have of each entry.

An entry is marked, for the server to be told of it, where the two differ: so a mark goes when the
server says what was sent, and stays when it was edited meanwhile.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contactmesh.terminal.rules.full_sync import Here
from contactmesh.terminal.rules.syncing import UNREADABLE, Known
from contactmesh.terminal.rules.views import CardJson

_NOW: Final = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
_MARKED: Final = "b.own IS NOT b.digest"
_TOMBSTONE_DAYS: Final = 90
"""How long a deletion is remembered, as the server does."""


@dataclass(frozen=True, slots=True)
class MarkedEntry:
    """An entry of which the server has still to be told.

    Attributes:
        known: what the server last said of it.
        updated_at: when the owner changed it last, by this terminal's clock.
        card: its JSON, none if it was deleted.
        own: the digest of its card, none if it was deleted.
    """

    uid: str
    known: Known
    updated_at: datetime
    card: str | None
    own: str | None = None


@dataclass(frozen=True, slots=True)
class BookCount:
    """How the book stands here.

    Attributes:
        known: entries that the server has, as it last said.
        deleted: those of them that were deleted here.
        waiting: entries of which the server has still to be told, and can be.
    """

    known: int
    deleted: int
    waiting: int


class BookRecords:
    """The entries of the owner's address book, on both sides."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    # What is here

    def written(self, uid: str, digest: str) -> None:
        """An entry says something else than before."""
        self._database.execute(
            f"INSERT INTO book_entries (uid, own, updated_at) VALUES (?, ?, {_NOW}) "  # noqa: S608 - a constant
            "ON CONFLICT (uid) DO UPDATE SET own = excluded.own, updated_at = excluded.updated_at, "
            "problem = NULL WHERE own IS NOT excluded.own",
            (uid, digest),
        )

    def deleted(self, uid: str) -> None:
        """An entry is no more."""
        self._database.execute(
            f"UPDATE book_entries SET own = NULL, updated_at = {_NOW}, problem = NULL "  # noqa: S608 - a constant
            "WHERE uid = ?",
            (uid,),
        )
        self._forget_what_is_nowhere(uid)

    # What the server says

    def known(self, uid: str) -> Known:
        """What the server last said of an entry."""
        row = self._database.execute(
            "SELECT rev, digest FROM book_entries WHERE uid = ?", (uid,)
        ).fetchone()
        return Known() if row is None else Known(row["rev"], row["digest"])

    def told(self, uid: str, known: Known, problem: str | None = None) -> None:
        """Keep what the server says of an entry, and why it does not take what is here."""
        self._database.execute(
            "INSERT INTO book_entries (uid, rev, digest, updated_at, problem) "  # noqa: S608 - a constant
            f"VALUES (?, ?, ?, {_NOW}, ?) ON CONFLICT (uid) DO UPDATE SET rev = excluded.rev, "
            "digest = excluded.digest, problem = excluded.problem",
            (uid, known.rev, known.digest, problem),
        )
        self._forget_what_is_nowhere(uid)

    def passed_over(self, uid: str, rev: int) -> None:
        """The server told of an entry, which was left as it was because it is marked."""
        self._database.execute(
            "UPDATE book_entries SET told_rev = max(told_rev, ?) WHERE uid = ?", (rev, uid)
        )

    def unread(self, uid: str, rev: int) -> None:
        """The server told of an entry what cannot be read here, perhaps by a later version."""
        self._database.execute(
            "INSERT INTO book_entries (uid, told_rev, updated_at) "  # noqa: S608 - a constant
            f"VALUES (?, ?, {_NOW}) ON CONFLICT (uid) DO UPDATE "
            "SET told_rev = max(told_rev, excluded.told_rev)",
            (uid, rev),
        )

    def readable(self, uid: str) -> None:
        """What stands can be read by now: what could not be taken over is asked for again."""
        self._database.execute(
            "UPDATE book_entries SET problem = NULL WHERE uid = ? AND problem = ?",
            (uid, UNREADABLE),
        )

    def never_was(self, uid: str) -> None:
        """The server has nothing of an entry, whatever it told before."""
        self._database.execute("UPDATE book_entries SET told_rev = 0 WHERE uid = ?", (uid,))
        self._forget_what_is_nowhere(uid)

    def behind(self) -> list[str]:
        """The uids of entries that are not marked any more, and older than the server told.

        Those are among them of which the server told what could not be read.
        """
        rows = self._database.execute(
            f"SELECT b.uid FROM book_entries b WHERE (NOT ({_MARKED}) OR b.problem = ?) "  # noqa: S608 - a constant
            "AND b.told_rev > coalesce(b.rev, 0)",
            (UNREADABLE,),
        )
        return [row["uid"] for row in rows]

    def forget(self, uids: Iterable[str]) -> None:
        """Keep nothing of entries that neither side has."""
        self._database.executemany(
            "DELETE FROM book_entries WHERE uid = ?", [(uid,) for uid in uids]
        )

    def _forget_what_is_nowhere(self, uid: str) -> None:
        self._database.execute(
            "DELETE FROM book_entries WHERE uid = ? AND own IS NULL AND digest IS NULL "
            "AND coalesce(rev, 0) = 0 AND told_rev = 0",
            (uid,),
        )

    def forget_old_deletions(self) -> None:
        """Keep deletions as long as the server does."""
        self._database.execute(
            "DELETE FROM book_entries WHERE own IS NULL AND digest IS NULL "
            "AND told_rev <= coalesce(rev, 0) "
            "AND updated_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)",
            (f"-{_TOMBSTONE_DAYS} days",),
        )

    # Both

    def entries(self) -> dict[str, Here]:
        """All entries, also those that were deleted, by uid."""
        rows = self._database.execute("SELECT uid, rev, digest, own FROM book_entries")
        return {row["uid"]: Here(Known(row["rev"], row["digest"]), row["own"]) for row in rows}

    def never_synced(self, digest: str) -> str | None:
        """The uid of an entry with these contents that the server, as far as known, has not."""
        row = self._database.execute(
            "SELECT uid FROM book_entries WHERE own = ? AND rev IS NULL AND digest IS NULL "
            "AND told_rev = 0 ORDER BY uid LIMIT 1",
            (digest,),
        ).fetchone()
        return None if row is None else str(row["uid"])

    def alike(self, digest: str) -> str | None:
        """The uid of the first entry here that has these contents."""
        row = self._database.execute(
            "SELECT uid FROM book_entries WHERE own = ? ORDER BY uid LIMIT 1", (digest,)
        ).fetchone()
        return None if row is None else str(row["uid"])

    def count(self) -> BookCount:
        """How the book stands here."""
        # Each by an index of its own: without, every sync reads the whole table several times.
        row = self._database.execute(
            "SELECT (SELECT count(*) FROM book_entries b WHERE b.digest IS NOT NULL) AS known, "  # noqa: S608 - a constant
            f"(SELECT count(*) FROM book_entries b WHERE {_MARKED} AND b.digest IS NOT NULL "
            "AND b.own IS NULL) AS deleted, "
            f"(SELECT count(*) FROM book_entries b WHERE {_MARKED} "
            "AND b.problem IS NULL) AS waiting"
        ).fetchone()
        return BookCount(row["known"], row["deleted"], row["waiting"])

    def marked(self, *, limit: int, new: bool) -> list[MarkedEntry]:
        """The first entries of which the server has still to be told.

        Args:
            limit: how many at most.
            new: also those of which it has never been told.
        """
        rows = self._database.execute(
            "SELECT b.uid, b.rev, b.digest, b.own, b.updated_at, c.own AS card "  # noqa: S608 - a constant
            "FROM book_entries b LEFT JOIN contacts c ON c.uid = b.uid AND c.own IS NOT NULL "
            f"WHERE {_MARKED} AND b.problem IS NULL "
            "AND (? OR b.rev IS NOT NULL OR b.digest IS NOT NULL) ORDER BY b.uid LIMIT ?",
            (new, limit),
        )
        return [
            MarkedEntry(
                uid=row["uid"],
                known=Known(row["rev"], row["digest"]),
                updated_at=datetime.fromisoformat(row["updated_at"]),
                card=row["card"],
                own=row["own"],
            )
            for row in rows
        ]

    def own(self, uid: str) -> str | None:
        """The digest of what an entry says here, none if it is not here."""
        row = self._database.execute(
            "SELECT own FROM book_entries WHERE uid = ?", (uid,)
        ).fetchone()
        return None if row is None else row["own"]

    def problems(self) -> list[tuple[str, CardJson | None, str]]:
        """The uids of entries that the server does not take, with their cards, and why."""
        rows = self._database.execute(
            "SELECT b.uid, c.own AS card, b.problem FROM book_entries b LEFT JOIN contacts c "
            "ON c.uid = b.uid AND c.own IS NOT NULL WHERE b.problem IS NOT NULL ORDER BY b.uid"
        )
        return [
            (row["uid"], None if row["card"] is None else json.loads(row["card"]), row["problem"])
            for row in rows
        ]
