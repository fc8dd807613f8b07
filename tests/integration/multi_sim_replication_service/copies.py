"""Copies of the service within the test, from command or event to commit, on the real database."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.integration.group_service.copies import Hook

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.command import Command, Sender
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.multi_sim.events import CatchUp, SpaceChanged
from contactmesh.contracts.reply import Reply
from contactmesh.contracts.sync.events import BookPage
from contactmesh.messaging.message import Outgoing
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxEntry, OutboxRelay
from contactmesh.runtime.commands import Request, on_fresh_state, utc_now
from contactmesh.runtime.events import Event, events_of
from contactmesh.storage.database import Database
from contactmesh.storage.inbox import InboxEntry
from contactmesh.storage.transaction import Addition, Write
from contactmesh.storage.unit_of_work import UnitOfWork
from multi_sim_replication_service.domain.documents import Limits
from multi_sim_replication_service.handlers import SimCommands
from multi_sim_replication_service.replication import Replication
from multi_sim_replication_service.repository.loading import Loading
from multi_sim_replication_service.repository.reading import Reading


def _enveloped(message: Message) -> Envelope:
    return Envelope.of(message, id=secrets.token_hex(8), source="/tests", time=datetime.now(UTC))


class _HookedUnitOfWork(UnitOfWork):
    """A unit of work that lets something happen before it commits."""

    def __init__(self, database: Database, hook: Hook | None) -> None:
        super().__init__(database)
        self._hook = hook

    async def commit(
        self,
        *,
        writes: Sequence[Write | Addition],
        handled: Sequence[InboxEntry],
        messages: Sequence[Outgoing],
        now: datetime,
        erased: Sequence[str] = (),
    ) -> list[OutboxEntry]:
        if self._hook is not None:
            await self._hook()
        return await super().commit(
            writes=writes, handled=handled, messages=messages, now=now, erased=erased
        )


@dataclass
class SimCopy:
    """What one process of the service does with a command or an event, less the broker.

    What it tells others stays in the outbox, since nothing relays it.
    """

    database: Database
    limits: Limits = field(default_factory=lambda: Limits(page=2))
    before_commit: Hook | None = None

    def __post_init__(self) -> None:
        self.reading = Reading(self.database)
        self.loading = Loading(self.database)
        self.unit_of_work = _HookedUnitOfWork(self.database, self.before_commit)
        self.commands = SimCommands(self.loading, self.reading, self.limits)

    async def decides(self, *asked: tuple[str, Command]) -> list[Reply]:
        """Handle a batch of (terminal, command): their replies."""
        requests = [
            Request(Sender(terminal_id), _enveloped(command), command)
            for terminal_id, command in asked
        ]

        async def unit() -> list[Reply]:
            now = utc_now()
            decided = await self.commands.decide(requests, now)
            await self.unit_of_work.commit(
                writes=decided.writes,
                handled=[InboxEntry(request.inbox_id, b"", now) for request in requests],
                messages=[
                    event
                    for request, outcome in zip(requests, decided.outcomes, strict=True)
                    for event in events_of(self.commands.name, outcome.told, request.envelope, now)
                ],
                now=now,
            )
            return [outcome.reply for outcome in decided.outcomes]

        return await on_fresh_state(unit)

    async def does(self, terminal_id: str, command: Command) -> Reply:
        """Handle one command: its reply."""
        (reply,) = await self.decides((terminal_id, command))
        return reply

    async def takes(self, message: Message) -> None:
        """Handle one event."""
        relay = OutboxRelay(self.unit_of_work.outbox, Publisher("amqp://", "no relay runs"))
        replication = Replication(self.loading, self.unit_of_work, relay, self.limits, utc_now)
        cause = Event(_enveloped(message), message)
        match message:
            case SpaceChanged():
                await replication.changed(cause, message)
            case CatchUp():
                await replication.catch_up(cause, message)
            case ContactChanged():
                await replication.book_changed(cause, message)
            case BookPage():
                await replication.book_shown(cause, message)
            case RegistrationRecycled():
                await replication.recycled(cause, message)
            case other:
                raise TypeError(f"no event of others: {type(other).__name__}")
