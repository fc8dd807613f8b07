"""How much is kept for a user: counted once, and from then on with every change."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from carrier_registry_service.domain.quotas import Kept
from carrier_registry_service.repository import mapping
from contactmesh.runtime.commands import on_fresh_state
from contactmesh.storage.database import Database

COUNTED: Final = 1_000_000


class Keeping:
    """The counts that the quotas go by, a small document for each user.

    They change in the transaction of what they count, so that to add one costs the same however
    much there is.
    """

    def __init__(self, database: Database) -> None:
        self._kept = database.collection(mapping.KEPT)
        self._grants = database.collection(mapping.GRANTS)
        self._dial_orders = database.collection(mapping.DIAL_ORDERS)

    async def of(self, user_ids: Iterable[str]) -> list[Kept]:
        """What is kept for users; whatever is not counted yet is counted now."""
        wanted = sorted(user_ids)
        found = await self._kept.get_many(wanted)
        return list(
            await asyncio.gather(*(self._counted(one, found.get(one, {})) for one in wanted))
        )

    async def count_again(self, user_ids: Iterable[str]) -> None:
        """Let users' dial orders be counted anew: some are gone without a command of theirs."""
        changes = [
            ({"_id": user_id}, {"$unset": {"dial_orders": ""}, "$inc": {"etag": 1}})
            for user_id in sorted(set(user_ids))
        ]
        # Made if there is none: whoever is just counting for the first time has to count again.
        await on_fresh_state(lambda: self._kept.update_each(changes, upsert=True))

    async def _counted(self, user_id: str, stored: dict[str, Any]) -> Kept:
        grants, dial_orders = stored.get("grants"), stored.get("dial_orders")
        if grants is None:
            where = {"owner_id": user_id, "revoked": False}
            grants = await self._grants.count(where, limit=COUNTED)
        if dial_orders is None:
            dial_orders = await self._dial_orders.count({"viewer_id": user_id}, limit=COUNTED)
        return Kept(user_id, grants, dial_orders, stored.get("etag", 0))
