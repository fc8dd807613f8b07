"""Pulling: at every connection, at the chosen interval, and when a push says so (row G4)."""

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

import structlog

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import GroupList, ListGroups, Pull, Pulled
from contactmesh.contracts.reply import Result
from contactmesh.runtime.waiting import happened_within
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.errors import CommandRefused, NoReply, UnreadableReply
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.rules.scheduling import jittered
from contactmesh.terminal.updates import Departure, Update

_log = structlog.get_logger(__name__)
_random = secrets.SystemRandom()

R = TypeVar("R", bound=Result)

Refused: TypeAlias = CommandRefused | UnreadableReply
REFUSED: Final = (CommandRefused, UnreadableReply)
"""What keeps one thing from being pulled, and no other."""


class Ask(Protocol):
    """Sends a command and gives its result."""

    async def __call__(self, command: Command, result: type[R]) -> R:
        """Ask."""
        ...


@dataclass(frozen=True, slots=True)
class _Pulled:
    updates: list[Update]
    errors: list[Refused]


def _retry_after(errors: Iterable[Refused]) -> float | None:
    waits = [
        error.error.details.get("retry_after_seconds")
        for error in errors
        if isinstance(error, CommandRefused)
    ]
    seconds = [float(wait) for wait in waits if isinstance(wait, int | float)]
    return max(1.0, *seconds) if seconds else None


class Puller:
    """Brings the phonebook up to what the service says.

    Args:
        phonebook: what to bring up to date.
        ask: sends a command and gives its result.
        emit: takes what changed.
    """

    def __init__(
        self, phonebook: Phonebook, ask: Ask, emit: Callable[[Iterable[Update]], None]
    ) -> None:
        self._phonebook = phonebook
        self._ask = ask
        self._emit = emit
        self._one_at_a_time = asyncio.Lock()
        self._all_due = False
        self._due: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._not_before: float | None = None

    def wake(self, groups: Iterable[str] | None = None) -> None:
        """Pull these groups soon, or everything."""
        if groups is None:
            self._all_due = True
        else:
            self._due.update(dict.fromkeys(groups))
        if self._all_due or self._due:
            self._wake.set()

    def rearm(self) -> None:
        """Begin a new interval: it was changed."""
        self._wake.set()

    async def run(self) -> None:
        """Pull whenever it is due, until cancelled."""
        while True:
            await self._wait()
            everything, self._all_due = self._all_due, False
            groups, self._due = list(self._due), {}
            try:
                pulled = await (self._all() if everything else self._each(groups))
            except NoReply as error:
                _log.info("pull_unanswered", command=error.command)
                self.wake(None if everything else groups)
            except REFUSED as error:
                # Not even the list of groups.
                _log.warning("pull_refused", reason=str(error))
                self._not_before = _retry_after([error])
            else:
                # Trying again at once would be refused again. The next interval is soon enough,
                # unless the service says when.
                self._not_before = _retry_after(pulled.errors)

    async def _wait(self) -> None:
        if not self._wake.is_set():
            chosen = await self._phonebook.pull_interval()
            interval = jittered(self._not_before or chosen, _random.random())
            self._not_before = None
            if not await happened_within(interval, self._wake):
                self._all_due = True
        self._wake.clear()

    async def pull_all(self) -> tuple[Update, ...]:
        """Pull every group of the user's, and learn which these are.

        What one group refuses keeps no other from being pulled.

        Returns:
            What changed; it was also emitted.

        Raises:
            NoReply: the service did not answer in time.
            CommandRefused: the service refuses, or it did for a group; the others were pulled.
            UnreadableReply: a reply has not the form that the command promises; likewise.
        """
        pulled = await self._all()
        if pulled.errors:
            raise pulled.errors[0]
        return tuple(pulled.updates)

    async def pull_group(self, group_id: str) -> tuple[Update, ...]:
        """Pull one group; if the user is no longer in it, it goes from the phonebook.

        Returns:
            What changed; it was also emitted.

        Raises:
            NoReply: the service did not answer in time.
            CommandRefused: the service refuses.
            UnreadableReply: the reply has not the form that the command promises.
        """
        async with self._one_at_a_time:
            return await self._pull(group_id)

    async def _all(self) -> "_Pulled":
        async with self._one_at_a_time:
            known = [group.group_id for group in await self._phonebook.groups()]
            waiting = [
                invitation.invitation_id for invitation in await self._phonebook.invitations()
            ]
            listing = await self._ask(ListGroups(), GroupList)
            applied = await self._phonebook.apply_listing(listing, known=known, open_before=waiting)
            listed = self._told(applied)
        pulled = await self._each([group.group_id for group in listing.groups])
        return _Pulled([*listed, *pulled.updates], pulled.errors)

    async def _each(self, groups: Iterable[str]) -> "_Pulled":
        pulled = _Pulled([], [])
        for group_id in groups:
            try:
                pulled.updates.extend(await self.pull_group(group_id))
            except REFUSED as error:
                _log.warning("pull_refused", group_id=group_id, reason=str(error))
                pulled.errors.append(error)
        return pulled

    async def _pull(self, group_id: str) -> tuple[Update, ...]:
        updates: list[Update] = []
        while True:
            since = await self._phonebook.cursor(group_id)
            try:
                page = await self._ask(Pull(group_id=group_id, since=since), Pulled)
            except CommandRefused as error:
                if error.code is ErrorCode.FULL_SYNC_REQUIRED and since is not None:
                    await self._phonebook.begin_full_pull(group_id)
                    continue
                if error.code is ErrorCode.NOT_FOUND:
                    gone = await self._phonebook.drop_group(group_id, Departure.UNKNOWN)
                    updates.extend(self._told(gone))
                    return tuple(updates)
                raise
            updates.extend(self._told(await self._phonebook.apply_page(page, since)))
            if not page.has_more:
                return tuple(updates)

    def _told(self, applied: Applied) -> tuple[Update, ...]:
        self._emit(applied.updates)
        return applied.updates
