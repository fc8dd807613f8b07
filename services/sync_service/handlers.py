"""From commands to the rules, and from the rules to a unit of work."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.reply import Reply
from contactmesh.contracts.sync import commands
from contactmesh.deciding.decision import Decision
from contactmesh.runtime.commands import Decided, Outcome, Request
from sync_service.answers import Answers
from sync_service.domain import choosing, erasing, exchanging, restoring, settling
from sync_service.domain.documents import Limits, owner_of
from sync_service.domain.state import Asking, State
from sync_service.repository.loading import Loading
from sync_service.repository.reading import Reading
from sync_service.wanted import book_of, wanted

Rule = Callable[[State, Asking, Any], Decision]

RULES: Final[Mapping[type[Command], Rule]] = {
    commands.Exchange: exchanging.exchange,
    commands.SetPolicy: choosing.set_policy,
    commands.SetOwnCard: choosing.set_own_card,
    commands.Restore: restoring.restore,
    commands.RestoreBook: restoring.restore_book,
    commands.Settle: settling.settle,
    commands.Erase: erasing.erase,
}
READS: Final[tuple[type[Command], ...]] = (
    commands.ListBooks,
    commands.ListBook,
    commands.Fetch,
    commands.ListHistory,
    commands.ListDeleted,
    commands.ListConflicts,
)


class SyncCommands:
    """The commands of sync_service."""

    name = "sync_service"
    commands: Mapping[str, type[Command]] = {
        command.action(): command for command in (*RULES, *READS)
    }

    def __init__(self, loading: Loading, reading: Reading, limits: Limits, key: bytes) -> None:
        self._loading = loading
        self._limits = limits
        self._key = key
        self._answers = Answers(reading, key)

    async def decide(self, requests: Sequence[Request], now: datetime) -> Decided:
        """Decide a batch: each command sees what the ones before it have changed."""
        asked = [(request, self._asking(request, now)) for request in requests]
        loaded = await self._loading.begin(book_of(request) for request in requests)
        await self._loading.load(loaded.state, wanted(asked))
        outcomes = [self._outcome(loaded.state, *one) for one in asked]
        return Decided(outcomes, loaded.writes(), sorted(loaded.state.erased))

    async def answer(self, request: Request, now: datetime) -> Reply:
        """Answer a command that only asks."""
        return Reply.ok(request.command.TYPE, await self._answers.answer(request, now))

    def _asking(self, request: Request, now: datetime) -> Asking:
        sender = request.sender
        return Asking(sender.user_id, sender.terminal_id, now, self._limits, self._key)

    def _outcome(self, state: State, request: Request, asking: Asking) -> Outcome:
        command = request.command
        try:
            decision = RULES[type(command)](state, asking, command)
        except Refusal as refusal:
            return Outcome(Reply.refused(command.TYPE, refusal))
        shows = None
        if isinstance(command, commands.Exchange):
            shows = owner_of(asking.user_id, command.book)
        return Outcome(Reply.ok(command.TYPE, decision.result), decision.told, shows)
