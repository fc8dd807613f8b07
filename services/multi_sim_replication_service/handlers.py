"""From commands to the rules, and from the rules to a unit of work."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.multi_sim import commands
from contactmesh.contracts.reply import Reply
from contactmesh.deciding.decision import Decision
from contactmesh.runtime.commands import Decided, Outcome, Request
from multi_sim_replication_service.answers import Answers
from multi_sim_replication_service.domain import (
    agreeing,
    pending,
    registering,
    replicating,
    storing,
)
from multi_sim_replication_service.domain.documents import Limits
from multi_sim_replication_service.domain.state import Asking, State
from multi_sim_replication_service.repository.loading import Loading, writes
from multi_sim_replication_service.repository.reading import Reading
from multi_sim_replication_service.wanted import wanted

Rule = Callable[[State, Asking, Any], Decision]

RULES: Final[Mapping[type[Command], Rule]] = {
    commands.RegisterSim: registering.register,
    commands.MoveSim: registering.move,
    commands.ReplaceSim: registering.replace_card,
    commands.RemoveSim: registering.remove,
    commands.SetInformation: agreeing.set_information,
    commands.SetConsent: agreeing.set_consent,
    commands.FollowBook: agreeing.follow_book,
    commands.Store: storing.store,
    commands.RequestUpdate: replicating.request_update,
    commands.Decide: pending.decide,
}
READS: Final[tuple[type[Command], ...]] = (
    commands.ListAccounts,
    commands.ListEntries,
    commands.ShowPending,
)
MINTED_BYTES: Final = 32


class SimCommands:
    """The commands of multi_sim_replication_service."""

    name = "multi_sim_replication_service"
    commands: Mapping[str, type[Command]] = {
        command.action(): command for command in (*RULES, *READS)
    }

    def __init__(self, loading: Loading, reading: Reading, limits: Limits) -> None:
        self._loading = loading
        self._reading = reading
        self._limits = limits
        self._answers = Answers(reading)

    async def decide(self, requests: Sequence[Request], now: datetime) -> Decided:
        """Decide a batch: each command sees what the ones before it have changed."""
        state = await self._loading.begin(request.sender.user_id for request in requests)
        await self._loading.load(state, wanted(state, requests))
        outcomes = [self._outcome(state, request, now) for request in requests]
        return Decided(outcomes, writes(state))

    async def answer(self, request: Request, now: datetime) -> Reply:
        """Answer a command that only asks."""
        try:
            result = await self._answers.answer(request)
        except Refusal as refusal:
            return Reply.refused(request.command.TYPE, refusal)
        return Reply.ok(request.command.TYPE, result)

    def _outcome(self, state: State, request: Request, now: datetime) -> Outcome:
        sender, command = request.sender, request.command
        asking = Asking(
            user_id=sender.user_id,
            terminal_id=sender.terminal_id,
            now=now,
            limits=self._limits,
            minted=secrets.token_bytes(MINTED_BYTES),
        )
        try:
            decision = RULES[type(command)](state, asking, command)
        except Refusal as refusal:
            return Outcome(Reply.refused(command.TYPE, refusal))
        return Outcome(Reply.ok(command.TYPE, decision.result), decision.told)
