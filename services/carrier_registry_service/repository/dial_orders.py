"""Viewers' own dial orders by the numbers that are in them."""

from typing import Final

from carrier_registry_service.domain.describing import without
from carrier_registry_service.domain.lineage import Lineage, Rules
from carrier_registry_service.domain.registration import Ref
from carrier_registry_service.repository import mapping
from carrier_registry_service.repository.keeping import Keeping
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.storage.database import Database, Index

BATCH: Final = 500


class DialOrders:
    """The orders of all viewers, whosever numbers are in them."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._collection = database.collection(mapping.DIAL_ORDERS)
        self._records = database.collection(mapping.RECORDS)
        self._keeping = Keeping(database)
        self._rules = rules

    async def prepare(self) -> None:
        """Make sure that orders are found by each number in them."""
        await self._collection.ensure([Index((("order", 1),))])

    async def let_go(self, recycled: RegistrationRecycled) -> None:
        """Take a number that was given on out of all orders.

        Its place goes to the owner's number that came instead, if one did. An order is changed only
        as it was read: one that its viewer sets meanwhile is looked at again, if the number is
        still in it. So this may be repeated, and done twice at once.
        """
        ref = Ref.of(recycled.ref)
        instead = await self._instead(recycled.owner_id, ref)
        while found := await self._collection.find({"order": str(ref)}, limit=BATCH):
            changes = []
            for document in found:
                order = without(mapping.dial_order(document), ref, instead)
                as_read = {"_id": document["_id"], "order": document["order"]}
                changes.append((as_read, {"$set": mapping.stored_dial_order(order)}))
            await self._collection.update_each(changes)
        while found := await self._collection.find({"order": []}, limit=BATCH):
            ids = [document["_id"] for document in found]
            await self._collection.delete_where({"_id": {"$in": ids}, "order": []})
            await self._keeping.count_again(document["viewer_id"] for document in found)

    async def _instead(self, owner_id: str, ref: Ref) -> Ref | None:
        found = await self._records.get(owner_id)
        if found is None:
            return None
        registrations = mapping.record(found).registrations.values()
        successor = Lineage(registrations, self._rules).successor(ref)
        if successor is None or successor.registration.ref == ref:
            return None  # whatever the record says, what was told to be given on leaves the orders
        return successor.registration.ref
