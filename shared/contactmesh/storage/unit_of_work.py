"""One transaction for one batch: what changed, what was handled, what is to be published."""

from collections.abc import Sequence
from datetime import datetime

from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.relay import OutboxEntry
from contactmesh.storage.database import Database
from contactmesh.storage.inbox import Inbox, InboxEntry, erase_replies, remember
from contactmesh.storage.outbox import MongoOutbox
from contactmesh.storage.transaction import Addition, Write


class UnitOfWork:
    """Commits documents, inbox entries and outbox entries together (DESIGN §5)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.inbox = Inbox(database)
        self.outbox = MongoOutbox(database)

    async def prepare(self) -> None:
        """Make sure that the indexes of inbox and outbox exist."""
        await self.inbox.prepare()
        await self.outbox.prepare()

    async def commit(
        self,
        *,
        writes: Sequence[Write | Addition],
        handled: Sequence[InboxEntry],
        messages: Sequence[Outgoing],
        now: datetime,
        erased: Sequence[str] = (),
    ) -> list[OutboxEntry]:
        """Commit a unit of work; the outbox entries are leased to this process.

        Args:
            writes: the documents that changed.
            handled: the messages that are handled by it.
            messages: what is to be published.
            now: when.
            erased: owners of contact details that no reply given before may show any more.

        Raises:
            StaleState: something changed since it was loaded; load and decide again.
            DatabaseUnavailable: ask the inbox whether it was committed.
        """
        fault_point("before_commit")
        async with self._database.transaction() as transaction:
            await transaction.write(writes)
            await remember(transaction, handled)
            await erase_replies(transaction, erased)
            entries = await self.outbox.add(transaction, messages, now)
            fault_point("in_transaction")
        fault_point("after_commit")
        return entries
