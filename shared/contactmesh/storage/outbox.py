"""Messages that a transaction has decided on and that are not known to be published yet."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import uuid_utils

from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.relay import OutboxEntry
from contactmesh.storage.database import Database, Index
from contactmesh.storage.transaction import Document, Transaction

COLLECTION: Final = "outbox"
LEASE: Final = timedelta(seconds=30)


class MongoOutbox:
    """The outbox of one process: its token marks the entries that it works on.

    It holds plain events: persistent, to no list of recipients, without headers.
    """

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(COLLECTION)
        self._token = str(uuid_utils.uuid4())

    async def prepare(self) -> None:
        """Make sure that expired leases are found without a scan."""
        await self._collection.ensure([Index((("leased_until", 1), ("_id", 1)))])

    async def add(
        self, transaction: Transaction, messages: Sequence[Outgoing], now: datetime
    ) -> list[OutboxEntry]:
        """Put messages into the outbox, leased to this process, within a transaction.

        Raises:
            ValueError: one of them is more than a plain event, and would be less when it comes out.
        """
        entries = [OutboxEntry(str(uuid_utils.uuid7()), message) for message in messages]
        await transaction.insert(
            COLLECTION, [_document(entry, self._token, now + LEASE) for entry in entries]
        )
        return entries

    async def take_over(self, limit: int) -> Sequence[OutboxEntry]:
        """Lease entries whose lease has expired, oldest first."""
        now = datetime.now(UTC)
        expired = {"leased_until": {"$lt": now}}
        found = await self._collection.find(
            expired, sort=[("_id", 1)], limit=limit, without=["body"]
        )
        if not found:
            return []
        ids = [document["_id"] for document in found]
        await self._collection.update_all(
            {"_id": {"$in": ids}, **expired},
            {"$set": {"lease": self._token, "leased_until": now + LEASE}},
        )
        ours = await self._collection.find(
            {"_id": {"$in": ids}, "lease": self._token}, sort=[("_id", 1)]
        )
        return [_entry(document) for document in ours]

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove entries that are published, whoever holds their lease by now."""
        await self._collection.delete(ids)

    async def oldest_age_seconds(self) -> float:
        """How long the oldest entry has waited; 0 when the outbox is empty."""
        # Ids are in the order of time; a lease says when somebody last tried.
        found = await self._collection.find({}, sort=[("_id", 1)], limit=1, without=["body"])
        if not found:
            return 0.0
        added_at: datetime = found[0]["added_at"]
        return max(0.0, (datetime.now(UTC) - added_at).total_seconds())


def _document(entry: OutboxEntry, token: str, leased_until: datetime) -> Document:
    message = entry.message
    if message.bcc or message.headers or not message.persistent:
        raise ValueError("the outbox holds plain events")
    return {
        "_id": entry.id,
        "lease": token,
        "leased_until": leased_until,
        "added_at": leased_until - LEASE,
        "exchange": message.exchange,
        "routing_key": message.routing_key,
        "body": message.body,
        "message_id": message.message_id,
        "type": message.type,
        "timestamp": message.timestamp,
        "correlation_id": message.correlation_id,
        "content_type": message.content_type,
    }


def _entry(document: Document) -> OutboxEntry:
    return OutboxEntry(
        document["_id"],
        Outgoing(
            exchange=document["exchange"],
            routing_key=document["routing_key"],
            body=document["body"],
            message_id=document["message_id"],
            type=document["type"],
            timestamp=document["timestamp"],
            correlation_id=document["correlation_id"],
            content_type=document["content_type"],
        ),
    )
