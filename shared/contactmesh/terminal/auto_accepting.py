"""Accepting by itself what waits for chosen SIMs: when it is told, and at every connection."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from contactmesh.contracts.multi_sim.commands import AccountList, ListAccounts
from contactmesh.terminal.accepting import Accepting
from contactmesh.terminal.decisions import Choice
from contactmesh.terminal.errors import LargeRemoval, NoReply, TerminalError
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import REFUSED, Ask
from contactmesh.terminal.space_choices import AcceptingRecord
from contactmesh.terminal.space_entries import AcceptOutcome
from contactmesh.terminal.updates import LargeRemovalWaiting, SimContactsWaiting, Update

ONE_REMOVAL: Final = timedelta(days=1)
"""Removals within this time count as one: a large one comes in pages, each of them small."""

_log = structlog.get_logger(__name__)


class AutoAccepter:
    """Accepts what waits for the SIMs for which the user chose it.

    Large removals are left waiting, and told.

    Args:
        phonebook: holds the choice.
        ask: sends a command and gives its result.
        accepting: accepts.
        emit: takes what was left waiting.
        terminal_id: of which terminal's SIMs.
    """

    def __init__(
        self,
        phonebook: Phonebook,
        ask: Ask,
        accepting: Accepting,
        emit: Callable[[Iterable[Update]], None],
        terminal_id: str,
    ) -> None:
        self._phonebook = phonebook
        self._ask = ask
        self._accepting = accepting
        self._emit = emit
        self._terminal_id = terminal_id
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look soon whether something waits."""
        self._wake.set()

    def told(self, updates: Iterable[Update]) -> None:
        """Something may wait, as these updates say."""
        if any(isinstance(update, SimContactsWaiting) and update.waiting for update in updates):
            self.wake()

    async def choose(self, sim_id: str, *, accept: bool) -> None:
        """Accept by itself for a SIM from now on, or no longer."""
        record = AcceptingRecord(datetime.now(UTC), removed=0) if accept else None
        await self._phonebook.save_accepting(sim_id, record)
        if accept:
            self.wake()

    async def run(self) -> None:
        """Accept whenever something waits, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._accept_all()
            except NoReply as error:
                _log.info("accepting_unanswered", command=error.command)
                self.wake()
            except REFUSED as error:
                # Not even the list of accounts.
                _log.warning("accepting_refused", reason=str(error))

    async def _accept_all(self) -> None:
        chosen = await self._phonebook.accepting()
        if not chosen:
            return
        listed = await self._ask(ListAccounts(), AccountList)
        for account in listed.accounts:
            for sim in account.sims:
                here = sim.terminal_id == self._terminal_id
                if here and sim.waiting and sim.sim_id in chosen:
                    await self._try(Choice(sim.sim_id, account.carrier_id), chosen[sim.sim_id])

    async def _try(self, choice: Choice, record: AcceptingRecord) -> None:
        try:
            await self._accept(choice, record)
        except REFUSED as error:
            # The next push or connection is soon enough: the same would be refused again.
            _log.warning("accepting_refused", sim_id=choice.sim_id, reason=str(error))

    async def _accept(self, choice: Choice, record: AcceptingRecord) -> None:
        now = datetime.now(UTC)
        if now - record.counted_from > ONE_REMOVAL:
            record = AcceptingRecord(now, removed=0)
        outcome: AcceptOutcome | None
        try:
            outcome = await self._accepting.accept(choice, removed_before=record.removed)
        except LargeRemoval as error:
            _log.warning("large_removal_left_waiting", sim_id=choice.sim_id, of=error.contacts)
            self._emit((LargeRemovalWaiting(choice.sim_id, error.removals),))
            outcome = error.accepted
        except TerminalError as error:
            await self._count(choice, record, error.accepted)
            raise
        await self._count(choice, record, outcome)

    async def _count(
        self, choice: Choice, record: AcceptingRecord, outcome: AcceptOutcome | None
    ) -> None:
        if outcome is not None and outcome.removed:
            removed = record.removed + outcome.removed
            counted = AcceptingRecord(record.counted_from, removed)
            await self._phonebook.count_removed(choice.sim_id, counted)
