"""From commands to the rules, and from the rules to a unit of work."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from carrier_registry_service.answers import Answers
from carrier_registry_service.domain.checking import check as check_rule
from carrier_registry_service.domain.describing import describe, set_dial_order
from carrier_registry_service.domain.facts import milliseconds
from carrier_registry_service.domain.feeding import feed as feed_rule
from carrier_registry_service.domain.granting import grant, revoke
from carrier_registry_service.domain.state import Asking, Decision, State, Terms
from carrier_registry_service.repository.loading import Loading, writes
from carrier_registry_service.repository.reading import Reading
from carrier_registry_service.wanted import wanted
from contactmesh.contracts.carrier import access, check, feed
from contactmesh.contracts.command import Command, Role
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.reply import Reply
from contactmesh.runtime.commands import Decided, Outcome, Request

Rule = Callable[[State, Asking, Any], Decision]

RULES: Final[Mapping[type[Command], Rule]] = {
    feed.Feed: feed_rule,
    check.Check: check_rule,
    access.Grant: grant,
    access.RevokeGrant: revoke,
    access.DescribeLine: describe,
    access.SetDialOrder: set_dial_order,
}
READS: Final[tuple[type[Command], ...]] = (
    access.ListGrants,
    access.ListLooks,
    access.ListOwnLines,
)


class RegistryCommands:
    """The commands of carrier_registry_service."""

    name = "carrier_registry_service"
    commands: Mapping[str, type[Command]] = {
        command.action(): command for command in (*RULES, *READS)
    }

    def __init__(self, loading: Loading, reading: Reading, terms: Terms) -> None:
        self._loading = loading
        self._reading = reading
        self._terms = terms
        self._answers = Answers(reading, terms.rules)

    async def decide(self, requests: Sequence[Request], now: datetime) -> Decided:
        """Decide a batch: each command sees what the ones before it have changed."""
        state = await self._loading.load(wanted(requests))
        moment = milliseconds(now)
        outcomes = [self._outcome(state, request, moment) for request in requests]
        return Decided(outcomes, writes(state))

    async def answer(self, request: Request, now: datetime) -> Reply:
        """Answer a command that only asks."""
        return Reply.ok(request.command.TYPE, await self._answers.answer(request))

    def _outcome(self, state: State, request: Request, now: datetime) -> Outcome:
        sender, command = request.sender, request.command
        asking = Asking(
            sender_id=sender.carrier_id if command.ROLE is Role.CARRIER else sender.user_id,
            terminal_id=sender.terminal_id,
            command_id=request.envelope.id,
            now=now,
            terms=self._terms,
        )
        try:
            decision = RULES[type(command)](state, asking, command)
        except Refusal as refusal:
            return Outcome(Reply.refused(command.TYPE, refusal))
        if isinstance(decision.answer, Refusal):
            return Outcome(Reply.refused(command.TYPE, decision.answer), decision.told)
        return Outcome(Reply.ok(command.TYPE, decision.answer), decision.told)
