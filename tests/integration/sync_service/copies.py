"""Copies of sync_service within the test, from the command to the commit, on the real database."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.integration.group_service.copies import KEY, Hook

from contactmesh.contracts.command import Command, Sender
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.reply import Reply
from contactmesh.runtime.commands import Request, on_fresh_state, utc_now
from contactmesh.runtime.events import events_of
from contactmesh.storage.database import Database
from contactmesh.storage.inbox import InboxEntry
from contactmesh.storage.unit_of_work import UnitOfWork
from sync_service.domain.documents import Limits
from sync_service.handlers import SyncCommands
from sync_service.repository.loading import Loading
from sync_service.repository.reading import Reading


@dataclass
class SyncCopy:
    """What one process of the service does with commands, less the broker.

    What it tells others stays in the outbox, since nothing relays it.
    """

    database: Database
    limits: Limits = field(default_factory=Limits)
    before_commit: Hook | None = None

    def __post_init__(self) -> None:
        self.reading = Reading(self.database)
        self.unit_of_work = UnitOfWork(self.database)
        loading = Loading(self.database, self.limits)
        self.commands = SyncCommands(loading, self.reading, self.limits, KEY)

    async def does(self, terminal_id: str, command: Command) -> Reply:
        """Handle one command: its reply."""
        if command.READS:
            return await self.commands.answer(_request(terminal_id, command), utc_now())

        (reply,) = await self.batch((terminal_id, command))
        return reply

    async def batch(self, *asked: tuple[str, Command]) -> list[Reply]:
        """Handle commands, each with its terminal, as one unit of work: their replies."""
        requests = [_request(*one) for one in asked]

        async def unit() -> list[Reply]:
            now = utc_now()
            decided = await self.commands.decide(requests, now)
            if self.before_commit is not None:
                await self.before_commit()
            outcomes = list(zip(requests, decided.outcomes, strict=True))
            await self.unit_of_work.commit(
                writes=decided.writes,
                handled=[InboxEntry(request.inbox_id, b"", now) for request in requests],
                messages=[
                    event
                    for request, outcome in outcomes
                    for event in events_of(self.commands.name, outcome.told, request.envelope, now)
                ],
                now=now,
            )
            return [outcome.reply for _, outcome in outcomes]

        return await on_fresh_state(unit)

    async def would_answer(self, *asked: tuple[str, Command]) -> list[Reply]:
        """What a batch of commands would be answered; nothing is committed."""
        decided = await self.commands.decide([_request(*one) for one in asked], utc_now())
        return [outcome.reply for outcome in decided.outcomes]


def _request(terminal_id: str, command: Command) -> Request:
    now = datetime.now(UTC)
    envelope = Envelope.of(command, id=secrets.token_hex(8), source="/tests", time=now)
    return Request(Sender(terminal_id), envelope, command)
