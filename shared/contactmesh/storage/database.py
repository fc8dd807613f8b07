"""A service's database, and what its failures mean. The driver is known in this folder only."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final, Self

from bson.codec_options import CodecOptions
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection, AsyncIOMotorDatabase
from pymongo import UpdateMany, UpdateOne

from contactmesh.storage.errors import told_plainly
from contactmesh.storage.transaction import Document, Transaction

SELECTION_MS: Final = 5_000
SOCKET_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its fields with 1 or -1 each, and whether it is unique or lets documents expire."""

    fields: tuple[tuple[str, int], ...]
    unique: bool = False
    expire_seconds: int | None = None


class Collection:
    """One collection, with the few ways in which services read and write it."""

    def __init__(self, collection: "AsyncIOMotorCollection[Document]") -> None:
        self._collection = collection

    async def get(self, id: str) -> Document | None:  # noqa: A002 - the document's `_id`
        """One document by its id."""
        with told_plainly():
            return await self._collection.find_one({"_id": id})

    async def get_many(self, ids: Sequence[str]) -> dict[str, Document]:
        """Documents by id; those that do not exist are left out."""
        if not ids:
            return {}
        found = await self.find({"_id": {"$in": list(dict.fromkeys(ids))}})
        return {document["_id"]: document for document in found}

    async def find(
        self,
        where: Mapping[str, Any],
        *,
        sort: Sequence[tuple[str, int]] = (),
        limit: int = 0,
        without: Sequence[str] = (),
    ) -> list[Document]:
        """Documents that match, `limit` of them at the most (0: all), less the fields `without`."""
        with told_plainly():
            cursor = self._collection.find(where, dict.fromkeys(without, 0) or None)
            if sort:
                cursor = cursor.sort(list(sort))
            if limit:
                cursor = cursor.limit(limit)
            return await cursor.to_list(length=None)

    async def count(self, where: Mapping[str, Any], *, limit: int) -> int:
        """How many documents match, counting up to `limit`."""
        with told_plainly():
            return await self._collection.count_documents(where, limit=limit)

    async def insert(self, document: Document) -> None:
        """Add a document.

        Raises:
            StaleState: there is one with this id.
        """
        with told_plainly():
            await self._collection.insert_one(document)

    async def update(
        self, where: Mapping[str, Any], change: Mapping[str, Any], *, upsert: bool = False
    ) -> bool:
        """Change one document that matches; whether there was one (or it was made).

        Raises:
            StaleState: `upsert`, and a document with this id is there but does not match.
        """
        with told_plainly():
            result = await self._collection.update_one(where, change, upsert=upsert)
            return bool(result.matched_count or result.upserted_id is not None)

    async def update_all(self, where: Mapping[str, Any], change: Mapping[str, Any]) -> int:
        """Change every document that matches; how many there were."""
        with told_plainly():
            return (await self._collection.update_many(where, change)).matched_count

    async def update_each(
        self,
        changes: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
        *,
        upsert: bool = False,
        many: bool = False,
    ) -> None:
        """Change documents, each as (where, change), in one round trip and in any order.

        Args:
            changes: which documents, and how.
            upsert: make a document where none matches.
            many: change every document that matches, instead of one.

        Raises:
            StaleState: `upsert`, and some document with its id is there but does not match; all
                others are changed.
        """
        if not changes:
            return
        kind = UpdateMany if many else UpdateOne
        operations = [kind(where, change, upsert=upsert) for where, change in changes]
        with told_plainly():
            await self._collection.bulk_write(operations, ordered=False)

    async def delete(self, ids: Sequence[str]) -> int:
        """Delete documents by id; how many there were."""
        if not ids:
            return 0
        with told_plainly():
            return (await self._collection.delete_many({"_id": {"$in": list(ids)}})).deleted_count

    async def delete_where(self, where: Mapping[str, Any]) -> int:
        """Delete every document that matches; how many there were."""
        with told_plainly():
            return (await self._collection.delete_many(where)).deleted_count

    async def ensure(self, indexes: Sequence[Index]) -> None:
        """Make sure that the indexes exist."""
        with told_plainly():
            for index in indexes:
                options: dict[str, Any] = {"unique": index.unique}
                if index.expire_seconds is not None:
                    options["expireAfterSeconds"] = index.expire_seconds
                await self._collection.create_index(list(index.fields), **options)


class Database:
    """One service's database: majority and journaled writes, times in UTC."""

    def __init__(self, url: str, name: str) -> None:
        self._client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
            url,
            appname=name,
            tz_aware=True,
            tzinfo=UTC,
            serverSelectionTimeoutMS=SELECTION_MS,
            socketTimeoutMS=SOCKET_MS,
            # On the client, because that is where a transaction takes them from.
            w="majority",
            journal=True,
            readConcernLevel="majority",
            readPreference="primary",
        )
        self._database: AsyncIOMotorDatabase[Document] = self._client.get_database(
            name, codec_options=CodecOptions(tz_aware=True, tzinfo=UTC)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def collection(self, name: str) -> Collection:
        """A collection by name."""
        return Collection(self._database[name])

    async def ping(self) -> None:
        """Ask the database for a sign of life.

        Raises:
            DatabaseUnavailable: there is none.
        """
        with told_plainly():
            await self._database.command("ping")

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction that commits when the block ends, and not when it raises.

        Raises:
            StaleState: another transaction was faster; load and decide again.
            DatabaseUnavailable: it may or may not have been committed; the inbox knows.
        """
        with told_plainly():
            session = await self._client.start_session()
            async with session, session.start_transaction():
                yield Transaction(self._database, session)
