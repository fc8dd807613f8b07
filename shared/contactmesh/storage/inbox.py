"""The messages that were handled, with the answers that were given (guarantee "once")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contactmesh.storage.database import Database, Index
from contactmesh.storage.transaction import Document, Transaction

COLLECTION: Final = "inbox"
RETENTION_SECONDS: Final = 7 * 24 * 3600
"""Longer than the oldest message that an operator may play again from a parking queue."""


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """A handled message.

    Attributes:
        id: holds its sender, so that nobody can ask for another's answer.
        reply: the answer, none for an event and where it was erased with what it showed.
        handled_at: when.
        shows: the owner of the contact details in the reply, none where there are none.
    """

    id: str
    reply: bytes | None
    handled_at: datetime
    shows: str | None = None


class Inbox:
    """Looks up what was handled already."""

    def __init__(self, database: Database) -> None:
        self._collection = database.collection(COLLECTION)

    async def prepare(self) -> None:
        """Make sure that entries expire, and that those to erase are found."""
        await self._collection.ensure(
            [
                Index((("handled_at", 1),), expire_seconds=RETENTION_SECONDS),
                Index((("shows", 1),)),
            ]
        )

    async def replies(self, ids: Sequence[str]) -> Mapping[str, bytes | None]:
        """The stored replies of those messages that were handled already, by inbox id."""
        found = await self._collection.get_many(ids)
        return {id_: document["reply"] for id_, document in found.items()}


async def remember(transaction: Transaction, entries: Sequence[InboxEntry]) -> None:
    """Take note of handled messages, within the transaction that holds their effects.

    Raises:
        StaleState: one of them was handled by another process meanwhile.
    """
    documents: list[Document] = [
        {
            "_id": entry.id,
            "reply": entry.reply,
            "handled_at": entry.handled_at,
            "shows": entry.shows,
        }
        for entry in entries
    ]
    await transaction.insert(COLLECTION, documents)


async def erase_replies(transaction: Transaction, owners: Sequence[str]) -> None:
    """Keep of the replies that show an owner's contact details only that they were given."""
    if owners:
        where = {"shows": {"$in": list(owners)}}
        await transaction.update_all(COLLECTION, where, {"reply": None, "shows": None})
