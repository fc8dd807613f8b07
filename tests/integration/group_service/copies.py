"""Copies of group_service within the test, from the command to the commit, on the real database."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from contactmesh.contracts.command import Command, Sender
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.reply import Reply
from contactmesh.runtime.commands import Request, on_fresh_state, utc_now
from contactmesh.storage.database import Collection, Database
from contactmesh.storage.inbox import InboxEntry
from contactmesh.storage.transaction import Document
from contactmesh.storage.unit_of_work import UnitOfWork
from group_service.domain.documents import Limits
from group_service.handlers import GroupCommands
from group_service.repository.loading import Loading
from group_service.repository.reading import Reading

Hook = Callable[[], Awaitable[None]]
KEY = b"a key for the cursors of tests"


class HookedCollection(Collection):
    """A collection that lets something happen before each read."""

    def __init__(self, collection: Collection, hook: Hook) -> None:
        super().__init__(collection._collection)
        self._hook = hook

    async def get(self, id: str) -> Document | None:  # noqa: A002 - as the base names it
        await self._hook()
        return await super().get(id)

    async def find(
        self,
        where: Mapping[str, Any],
        *,
        sort: Sequence[tuple[str, int]] = (),
        limit: int = 0,
        without: Sequence[str] = (),
    ) -> list[Document]:
        await self._hook()
        return await super().find(where, sort=sort, limit=limit, without=without)

    async def count(self, where: Mapping[str, Any], *, limit: int) -> int:
        await self._hook()
        return await super().count(where, limit=limit)


class HookedDatabase(Database):
    """A database that lets something happen before each read."""

    def __init__(self, url: str, name: str, hook: Hook) -> None:
        super().__init__(url, name)
        self._hook = hook

    def collection(self, name: str) -> Collection:
        return HookedCollection(super().collection(name), self._hook)


@dataclass
class Interruption:
    """Runs something once, when a copy is about to read for the `at`-th time, or to commit."""

    what: Hook | None = None
    at: int = 0
    count: int = 0

    def set(self, what: Hook, *, at: int) -> None:
        """Interrupt at the `at`-th read from now on."""
        self.what, self.at, self.count = what, at, 0

    async def __call__(self) -> None:
        """A read begins."""
        self.count += 1
        if self.count == self.at:
            await self.now()

    async def now(self) -> None:
        """Interrupt if that is still to be done."""
        what, self.what = self.what, None
        if what is not None:
            await what()


@dataclass
class GroupCopy:
    """What one process of group_service does with a command, less the broker."""

    database: Database
    limits: Limits = field(default_factory=Limits)
    before_commit: Hook | None = None

    def __post_init__(self) -> None:
        self.reading = Reading(self.database)
        self.unit_of_work = UnitOfWork(self.database)
        self.commands = GroupCommands(Loading(self.database), self.reading, self.limits, KEY)

    async def decides(self, *asked: tuple[str, Command]) -> list[Reply]:
        """Handle a batch of (user, command): their replies."""
        requests = [
            Request(
                Sender(f"{user_id}_aaaaaaaa"),
                Envelope.of(
                    command, id=secrets.token_hex(8), source="/tests", time=datetime.now(UTC)
                ),
                command,
            )
            for user_id, command in asked
        ]

        async def unit() -> list[Reply]:
            now = utc_now()
            decided = await self.commands.decide(requests, now)
            if self.before_commit is not None:
                await self.before_commit()
            await self.unit_of_work.commit(
                writes=decided.writes,
                handled=[InboxEntry(request.inbox_id, b"", now) for request in requests],
                messages=[],
                now=now,
            )
            return [outcome.reply for outcome in decided.outcomes]

        return await on_fresh_state(unit)

    async def does(self, user_id: str, command: Command) -> Reply:
        """Handle one command: its reply."""
        (reply,) = await self.decides((user_id, command))
        return reply
