"""Which UIDs a file has used, in bounded memory."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

_MOST_IN_MEMORY: Final = 20_000


class Holder(NamedTuple):
    """The first card that used a UID: its number in the file, and the name shown."""

    card: int
    name: str


class UidRegister:
    """Remembers the first holder of each UID; from 20,000 on, in a temporary file."""

    def __init__(self) -> None:
        self._recent: dict[str, Holder] = {}
        self._older: sqlite3.Connection | None = None

    def first_holder(self, uid: str, holder: Holder) -> Holder | None:
        """Return who holds the UID already, or None after giving it to `holder`."""
        known = self._recent.get(uid)
        if known is None and self._older is not None:
            row = self._older.execute(
                "SELECT card, name FROM holder WHERE uid = ?", (uid,)
            ).fetchone()
            known = None if row is None else Holder(*row)
        if known is not None:
            return known
        if len(self._recent) >= _MOST_IN_MEMORY:
            self._spill()
        self._recent[uid] = holder
        return None

    def _spill(self) -> None:
        if self._older is None:
            # An empty name is a private file on disk, which SQLite deletes when it is closed.
            self._older = sqlite3.connect("", isolation_level=None)
            self._older.execute("PRAGMA journal_mode = OFF")
            self._older.execute(
                "CREATE TABLE holder (uid TEXT PRIMARY KEY, card INT, name TEXT) WITHOUT ROWID"
            )
        self._older.execute("BEGIN")
        self._older.executemany(
            "INSERT INTO holder VALUES (?, ?, ?)",
            ((uid, *holder) for uid, holder in self._recent.items()),
        )
        self._older.execute("COMMIT")
        self._recent.clear()

    def close(self) -> None:
        """Let go of the temporary file."""
        if self._older is not None:
            self._older.close()
            self._older = None
