"""The terminals from which a service takes no more commands."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from contactmesh.storage.database import Database

COLLECTION: Final = "revoked_terminals"


class RevokedTerminals:
    """What a service has been told of revoked terminals; their ids are never given again."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(COLLECTION)

    async def among(self, terminal_ids: Iterable[str]) -> frozenset[str]:
        """Those of the terminals that were revoked."""
        return frozenset(await self._collection.get_many(sorted(set(terminal_ids))))

    async def add(self, terminal_id: str, now: datetime) -> None:
        """Take no more commands from a terminal."""
        await self._collection.update(
            {"_id": terminal_id}, {"$setOnInsert": {"at": now}}, upsert=True
        )
