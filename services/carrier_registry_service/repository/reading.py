"""The queries behind own lines, grants and looks, and what all collections need as indexes."""

from datetime import datetime
from typing import Any, Final

from carrier_registry_service.domain.access import Grant
from carrier_registry_service.domain.state import Looked, Record
from carrier_registry_service.repository import mapping
from contactmesh.storage.database import Database, Index

DAY_SECONDS: Final = 24 * 3600
LOOKS_KEPT_SECONDS: Final = 180 * DAY_SECONDS

INDEXES: Final = {
    mapping.GRANTS: [Index((("owner_id", 1), ("viewer_id", 1)))],
    mapping.DIAL_ORDERS: [Index((("viewer_id", 1),))],
    mapping.ASKED: [Index((("day_from", 1),), expire_seconds=2 * DAY_SECONDS)],
    mapping.LOOKS: [
        Index((("owner_id", 1), ("at", -1), ("_id", 1))),
        Index((("at", 1),), expire_seconds=LOOKS_KEPT_SECONDS),
    ],
}


class Reading:
    """Reads for commands that only ask."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = database.collection(mapping.RECORDS)
        self._grants = database.collection(mapping.GRANTS)
        self._looks = database.collection(mapping.LOOKS)

    async def prepare(self) -> None:
        """Make sure that every query has its index."""
        for name, indexes in INDEXES.items():
            await self._database.collection(name).ensure(indexes)

    async def record(self, identity_id: str) -> Record:
        """An identity's record, empty where nothing is known of the identity."""
        found = await self._records.get(identity_id)
        return Record(identity_id) if found is None else mapping.record(found)

    async def grants_of(
        self, owner_id: str, after: str | None, *, limit: int
    ) -> tuple[list[Grant], bool]:
        """What an owner has said about viewers, in the order of their ids, and whether of more."""
        where: dict[str, Any] = {"owner_id": owner_id}
        if after is not None:
            where["viewer_id"] = {"$gt": after}
        found = await self._grants.find(where, sort=[("viewer_id", 1)], limit=limit + 1)
        return [mapping.grant(document) for document in found[:limit]], len(found) > limit

    async def looks_at(
        self, owner_id: str, before: datetime | None, *, limit: int
    ) -> tuple[list[Looked], bool]:
        """Looks at an owner, the latest first, and whether there are older ones.

        A page ends between two moments, never within one: asking on with the last one's time
        leaves nothing out. It is therefore longer than `limit` where many looked at once.
        """
        where: dict[str, Any] = {"owner_id": owner_id}
        if before is not None:
            where["at"] = {"$lt": before}
        order = [("at", -1), ("_id", 1)]
        found = await self._looks.find(where, sort=order, limit=limit + 1)
        if len(found) <= limit:
            return [mapping.look(document) for document in found], False
        last = found[limit - 1]["at"]
        page = [document for document in found if document["at"] > last]
        page += await self._looks.find({"owner_id": owner_id, "at": last}, sort=[("_id", 1)])
        older = await self._looks.find({"owner_id": owner_id, "at": {"$lt": last}}, limit=1)
        return [mapping.look(document) for document in page], bool(older)
