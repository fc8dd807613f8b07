"""The access log's collection: lines are added with what they tell of, attempts are counted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from contactmesh.contracts.identity import AccessKind
from contactmesh.storage.database import Database, Index
from contactmesh.storage.transaction import Addition, Write
from identity_service.domain.access_log import KEPT_DAYS, Access, hour_id

COLLECTION: Final = "access_log"
DAY_SECONDS: Final = 24 * 3600


class AccessLogs:
    """Reads users' access logs, and counts attempts in them."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(COLLECTION)

    async def prepare(self) -> None:
        """Make sure that the indexes exist, and that lines go after their time."""
        await self._collection.ensure(
            [
                Index((("user_id", 1), ("last_at", -1))),
                Index((("last_at", 1),), expire_seconds=KEPT_DAYS * DAY_SECONDS),
            ]
        )

    async def newest(self, user_id: str, limit: int) -> Sequence[Access]:
        """The newest lines of a user's log."""
        documents = await self._collection.find(
            {"user_id": user_id}, sort=[("last_at", -1)], limit=limit
        )
        return [
            Access(
                id=document["_id"],
                user_id=document["user_id"],
                kind=AccessKind(document["kind"]),
                at=document["at"],
                last_at=document["last_at"],
                terminal_id=document["terminal_id"],
                count=document["count"],
            )
            for document in documents
        ]

    async def count_attempt(
        self, kind: AccessKind, user_id: str, now: datetime, terminal_id: str | None = None
    ) -> None:
        """Count an attempt that failed.

        Raises:
            StaleState: another was counted at the same moment; count again.
        """
        attempt = counted_by_the_hour(kind, user_id, now, terminal_id)
        await self._collection.update({"_id": attempt.id}, attempt.change, upsert=True)


def counted_by_the_hour(
    kind: AccessKind, user_id: str, now: datetime, terminal_id: str | None = None
) -> Addition:
    """Count what somebody may do or try as often as they like, with what it changes."""
    fields = {"user_id": user_id, "kind": kind.value, "at": now, "terminal_id": terminal_id}
    change = {"$setOnInsert": fields, "$max": {"last_at": now}, "$inc": {"count": 1}}
    return Addition(COLLECTION, hour_id(terminal_id or user_id, kind, now), change)


def access_write(access: Access) -> Write:
    """Add a line, with what it tells of."""
    fields = {
        "user_id": access.user_id,
        "kind": access.kind.value,
        "at": access.at,
        "last_at": access.last_at,
        "terminal_id": access.terminal_id,
        "count": access.count,
    }
    return Write(COLLECTION, access.id, fields)
