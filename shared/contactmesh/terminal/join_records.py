"""The rows of entries that were made one, kept so that it can be undone."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from contactmesh.terminal.database import json_text
from contactmesh.terminal.rules.views import CardJson

JOINS_KEPT: Final = timedelta(days=30)
"""How long a join can be undone, as versions are kept by the server."""


@dataclass(frozen=True, slots=True)
class JoinRecord:
    """Two entries that were made one, under the uid of the one that stayed.

    Attributes:
        first: the one that stayed, as it was.
        second: the other as it was.
        joined: what came of them.
        linked_to: the member that was behind the second, and has been behind the first since.
    """

    join_id: str
    joined_at: datetime
    first: CardJson
    second: CardJson
    joined: CardJson
    linked_to: str | None


class JoinRecords:
    """Which entries were made one."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def save(self, join: JoinRecord) -> None:
        """Keep a join."""
        self._database.execute(
            "INSERT INTO joined_entries VALUES (?, ?, ?, ?, ?, ?)",
            (
                join.join_id,
                join.joined_at.isoformat(),
                json_text(join.first),
                json_text(join.second),
                json_text(join.joined),
                join.linked_to,
            ),
        )

    def join(self, join_id: str) -> JoinRecord | None:
        """A join."""
        row = self._database.execute(
            "SELECT * FROM joined_entries WHERE join_id = ?", (join_id,)
        ).fetchone()
        return None if row is None else _join(row)

    def joins(self) -> list[JoinRecord]:
        """All joins that can be undone, the latest first."""
        rows = self._database.execute("SELECT * FROM joined_entries ORDER BY joined_at DESC")
        return [_join(row) for row in rows]

    def forget(self, join_id: str) -> None:
        """Keep nothing of a join."""
        self._database.execute("DELETE FROM joined_entries WHERE join_id = ?", (join_id,))

    def forget_of(self, uid: str) -> None:
        """Keep nothing of the joins of an entry."""
        self._database.execute(
            "DELETE FROM joined_entries WHERE first ->> '$.uid' = ? OR second ->> '$.uid' = ?",
            (uid, uid),
        )

    def forget_old(self, now: datetime) -> None:
        """Keep joins as long as they can be undone."""
        self._database.execute(
            "DELETE FROM joined_entries WHERE joined_at < ?", ((now - JOINS_KEPT).isoformat(),)
        )


def _join(row: sqlite3.Row) -> JoinRecord:
    return JoinRecord(
        join_id=row["join_id"],
        joined_at=datetime.fromisoformat(row["joined_at"]),
        first=json.loads(row["first"]),
        second=json.loads(row["second"]),
        joined=json.loads(row["joined"]),
        linked_to=row["linked_to"],
    )
