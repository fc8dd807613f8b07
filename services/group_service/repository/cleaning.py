"""Removing what a dissolved group leaves behind."""

from contactmesh.storage.database import Database
from group_service.repository import mapping


class Cleaning:
    """Writes that need no decision and may be repeated."""

    def __init__(self, database: Database) -> None:
        self._blocks = database.collection(mapping.BLOCKS)
        self._of_a_group = [
            database.collection(name)
            for name in (mapping.MEMBERS, mapping.FROZEN, mapping.INVITATIONS)
        ]

    async def purge_group(self, group_id: str) -> None:
        """Delete members, cards and invitations of a dissolved group, and blocks lifted before.

        The head stays, and so do the standing blocks: each one until its setter lifts it.
        """
        for collection in self._of_a_group:
            await collection.delete_where({"group_id": group_id})
        await self._blocks.delete_where({"group_id": group_id, "active": False})
