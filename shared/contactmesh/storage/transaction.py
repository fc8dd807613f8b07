"""What can be written within a transaction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClientSession, AsyncIOMotorDatabase
from pymongo import DeleteOne, InsertOne, ReplaceOne, UpdateOne

from contactmesh.storage.errors import StaleState

Document = dict[str, Any]
"""A stored document; `_id` is always text."""


@dataclass(frozen=True, slots=True)
class Write:
    """A document's new state; `document` without `_id`, or nothing to delete it.

    With `guard`, the write takes place only if the stored document still has that `etag`; guard 0
    means that there must be none. Guarded documents carry `etag`, which the writer has raised.
    """

    collection: str
    id: str
    document: Document | None
    guard: int | None = None


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added to a document whatever it holds; `change` makes the document if there is none.

    It needs nothing to be loaded, and is lost to nobody who adds at the same time. As all of a
    transaction it takes place once, so that counts stay exact.
    """

    collection: str
    id: str
    change: Mapping[str, Any]


class Transaction:
    """Writes that take effect together or not at all."""

    def __init__(
        self,
        database: "AsyncIOMotorDatabase[Document]",
        session: AsyncIOMotorClientSession,
    ) -> None:
        self._database = database
        self._session = session

    async def write(self, writes: Sequence[Write | Addition]) -> None:
        """Write documents, one round trip for each collection.

        Raises:
            StaleState: a guard did not hold.
        """
        by_collection: dict[str, list[Write | Addition]] = defaultdict(list)
        for write in writes:
            by_collection[write.collection].append(write)
        for name, group in by_collection.items():
            result = await self._database[name].bulk_write(
                [_operation(write) for write in group], ordered=False, session=self._session
            )
            done = result.matched_count + result.upserted_count + result.inserted_count
            if done != sum(_leaves_one(write) for write in group):
                raise StaleState(f"{name} has changed since it was loaded")

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Add documents.

        Raises:
            StaleState: one of the ids is taken.
        """
        if documents:
            await self._database[collection].insert_many(
                documents, ordered=False, session=self._session
            )

    async def update_all(
        self, collection: str, where: Mapping[str, Any], values: Mapping[str, Any]
    ) -> None:
        """Set values in every document that matches."""
        await self._database[collection].update_many(
            where, {"$set": dict(values)}, session=self._session
        )


def _leaves_one(write: Write | Addition) -> bool:
    return isinstance(write, Addition) or write.document is not None


def _operation(
    write: Write | Addition,
) -> InsertOne[Document] | ReplaceOne[Document] | UpdateOne | DeleteOne:
    if isinstance(write, Addition):
        return UpdateOne({"_id": write.id}, write.change, upsert=True)
    if write.document is None:
        return DeleteOne({"_id": write.id})
    document = {"_id": write.id, **write.document}
    if write.guard is None:
        return ReplaceOne({"_id": write.id}, document, upsert=True)
    if write.guard == 0:
        return InsertOne(document)
    return ReplaceOne({"_id": write.id, "etag": write.guard}, document)
