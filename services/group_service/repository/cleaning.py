"""Taking note of revoked terminals, and removing what a dissolved group leaves behind."""

from datetime import datetime

from contactmesh.storage.database import Database
from group_service.repository import mapping


class Cleaning:
    """Writes that need no decision and may be repeated."""

    def __init__(self, database: Database) -> None:
        self._revoked = database.collection(mapping.REVOKED)
        self._of_a_group = [
            database.collection(name)
            for name in (mapping.MEMBERS, mapping.BLOCKS, mapping.FROZEN, mapping.INVITATIONS)
        ]

    async def revoke(self, terminal_id: str, now: datetime) -> None:
        """Take no more commands from a terminal."""
        await self._revoked.update({"_id": terminal_id}, {"$setOnInsert": {"at": now}}, upsert=True)

    async def purge_group(self, group_id: str) -> None:
        """Delete members, cards, blocks and invitations of a dissolved group; the head stays."""
        for collection in self._of_a_group:
            await collection.delete_where({"group_id": group_id})
