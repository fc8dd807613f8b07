"""From commands and events to the rules, and from the rules to a unit of work."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.group import commands
from contactmesh.contracts.reply import Reply
from contactmesh.deciding.decision import Decision
from contactmesh.runtime.commands import Decided, Outcome, Request
from group_service.answers import Answers
from group_service.domain import blocks, cards, invitations, membership
from group_service.domain.documents import Limits
from group_service.domain.state import Asking, State
from group_service.repository.loading import Loading
from group_service.repository.reading import Reading
from group_service.wanted import wanted

Rule = Callable[[State, Asking, Any], Decision]

RULES: Final[Mapping[type[Command], Rule]] = {
    commands.CreateGroup: membership.create,
    commands.Invite: invitations.invite,
    commands.AcceptInvitation: invitations.accept,
    commands.DeclineInvitation: invitations.decline,
    commands.WithdrawInvitation: invitations.withdraw,
    commands.LeaveGroup: membership.leave,
    commands.RemoveMember: membership.remove,
    commands.HandOver: membership.hand_over,
    commands.DissolveGroup: membership.dissolve,
    commands.PublishCard: cards.publish,
    commands.Block: blocks.block,
    commands.Lift: blocks.lift,
    commands.Subscribe: membership.subscribe,
    commands.Unsubscribe: membership.unsubscribe,
    commands.SetPullInterval: membership.set_pull_interval,
}
READS: Final[tuple[type[Command], ...]] = (
    commands.ListGroups,
    commands.ShowGroup,
    commands.ListBlocks,
    commands.Pull,
)


class GroupCommands:
    """The commands of group_service."""

    name = "group_service"
    commands: Mapping[str, type[Command]] = {
        command.action(): command for command in (*RULES, *READS)
    }

    def __init__(
        self, loading: Loading, reading: Reading, limits: Limits, cursor_key: bytes
    ) -> None:
        self._loading = loading
        self._reading = reading
        self._limits = limits
        self._answers = Answers(reading, limits, cursor_key)

    async def decide(self, requests: Sequence[Request], now: datetime) -> Decided:
        """Decide a batch: each command sees what the ones before it have changed."""
        loaded = await self._loading.load(wanted(list(requests)), now)
        outcomes = [self._outcome(loaded.state, request, now) for request in requests]
        return Decided(outcomes, loaded.writes())

    async def answer(self, request: Request, now: datetime) -> Reply:
        """Answer a command that only asks."""
        try:
            result = await self._answers.answer(request, now)
        except Refusal as refusal:
            return Reply.refused(request.command.TYPE, refusal)
        return Reply.ok(request.command.TYPE, result)

    def _outcome(self, state: State, request: Request, now: datetime) -> Outcome:
        asking = Asking(
            user_id=request.sender.user_id,
            terminal_id=request.sender.terminal_id,
            command_id=request.envelope.id,
            now=now,
            limits=self._limits,
        )
        try:
            decision = RULES[type(request.command)](state, asking, request.command)
        except Refusal as refusal:
            return Outcome(Reply.refused(request.command.TYPE, refusal))
        return Outcome(Reply.ok(request.command.TYPE, decision.result), decision.told)
