"""Messages that a transaction has decided on and that are not known to be published yet."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import uuid_utils

from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.relay import OutboxEntry
from contactmesh.storage.database import Database, Index
from contactmesh.storage.transaction import Document, Transaction

COLLECTION: Final = "outbox"
LEASE: Final = timedelta(seconds=30)
PACK_MESSAGES: Final = 100
PACK_BYTES: Final = 1024 * 1024
"""How much one document of the outbox holds, but for a single message that is larger."""


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
        packs = [(str(uuid_utils.uuid7()), pack) for pack in _packs(messages)]
        await transaction.insert(
            COLLECTION, [_document(id_, pack, self._token, now + LEASE) for id_, pack in packs]
        )
        return [OutboxEntry(id_, message) for id_, pack in packs for message in pack]

    async def take_over(self, limit: int) -> Sequence[OutboxEntry]:
        """Lease entries whose lease has expired, oldest first."""
        now = datetime.now(UTC)
        expired = {"leased_until": {"$lt": now}}
        found = await self._collection.find(
            expired, sort=[("_id", 1)], limit=max(1, limit // PACK_MESSAGES), without=["messages"]
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
        return [entry for document in ours for entry in _entries(document)]

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove entries that are published, whoever holds their lease by now."""
        await self._collection.delete(list(dict.fromkeys(ids)))

    async def oldest_age_seconds(self) -> float:
        """How long the oldest entry has waited; 0 when the outbox is empty."""
        # Ids are in the order of time; a lease says when somebody last tried.
        found = await self._collection.find({}, sort=[("_id", 1)], limit=1, without=["messages"])
        if not found:
            return 0.0
        added_at: datetime = found[0]["added_at"]
        return max(0.0, (datetime.now(UTC) - added_at).total_seconds())


def _packs(messages: Sequence[Outgoing]) -> Iterator[list[Outgoing]]:
    """The messages of a unit of work, many to a document: each document costs the database much."""
    pack: list[Outgoing] = []
    room = PACK_BYTES
    for message in messages:
        if message.bcc or message.headers or not message.persistent:
            raise ValueError("the outbox holds plain events")
        room -= len(message.body)
        if pack and (room < 0 or len(pack) == PACK_MESSAGES):
            yield pack
            pack, room = [], PACK_BYTES - len(message.body)
        pack.append(message)
    if pack:
        yield pack


def _document(
    id_: str, messages: Sequence[Outgoing], token: str, leased_until: datetime
) -> Document:
    return {
        "_id": id_,
        "lease": token,
        "leased_until": leased_until,
        "added_at": leased_until - LEASE,
        "messages": [
            {
                "exchange": message.exchange,
                "routing_key": message.routing_key,
                "body": message.body,
                "message_id": message.message_id,
                "type": message.type,
                "timestamp": message.timestamp,
                "correlation_id": message.correlation_id,
            }
            for message in messages
        ],
    }


def _entries(document: Document) -> Iterator[OutboxEntry]:
    for message in document["messages"]:
        yield OutboxEntry(document["_id"], Outgoing(**message))
