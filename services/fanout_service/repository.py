"""fanout_service's own collection: terminals. Audiences are kept as every service keeps them."""

from collections.abc import Sequence

from contactmesh.storage.database import Database, Index


class Terminals:
    """Which terminals a user has: needed only where one of them wants no pushes."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection("terminals")

    async def prepare(self) -> None:
        """Make sure that terminals are found by their user."""
        await self._collection.ensure([Index((("user_id", 1),))])

    async def enrolled(self, terminal_id: str, user_id: str) -> None:
        """Take note of a terminal."""
        await self._collection.update(
            {"_id": terminal_id}, {"$set": {"user_id": user_id}}, upsert=True
        )

    async def revoked(self, terminal_id: str) -> None:
        """Forget a terminal."""
        await self._collection.delete([terminal_id])

    async def of(self, user_ids: Sequence[str]) -> dict[str, list[str]]:
        """Terminals by user."""
        terminals: dict[str, list[str]] = {user_id: [] for user_id in user_ids}
        if user_ids:
            for document in await self._collection.find({"user_id": {"$in": list(user_ids)}}):
                terminals[document["user_id"]].append(document["_id"])
        return terminals
