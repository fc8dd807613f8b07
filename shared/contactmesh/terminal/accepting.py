"""Looking at what waits for a SIM, and deciding on it (rows M5, M6)."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from contactmesh.contracts.multi_sim.commands import (
    MOST_SHOWN,
    Decide,
    DecisionTaken,
    Pending,
    ShowPending,
)
from contactmesh.terminal.decisions import Choice, Tally
from contactmesh.terminal.errors import (
    AcceptingCancelled,
    LargeRemoval,
    RevisionConflict,
    TerminalError,
)
from contactmesh.terminal.pending_pages import pages, read_items
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.phonebook_accepting import Waiting
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.rules.spaces import (
    PendingChange,
    PendingContact,
    too_many,
)
from contactmesh.terminal.space_entries import AcceptOutcome, PendingBook
from contactmesh.terminal.updates import Update


class Accepting:
    """Looks at what waits, takes it over, or declines it.

    Args:
        phonebook: where it goes.
        ask: sends a command and gives its result.
        emit: takes what changed in the phonebook.
        one_at_a_time: held while accepting.
    """

    def __init__(
        self,
        phonebook: Phonebook,
        ask: Ask,
        emit: Callable[[Iterable[Update]], None],
        one_at_a_time: asyncio.Lock,
    ) -> None:
        self._phonebook = phonebook
        self._ask = ask
        self._emit = emit
        self._one_at_a_time = one_at_a_time

    async def pending(self, choice: Choice) -> PendingBook:
        """What waits; see `SimCommands.pending`."""
        contacts: dict[str, PendingContact] = {}
        looked_at: Pending | None = None
        async for page in pages(self._ask, choice):
            # Of several pages the first one's revision counts: what has changed since the earliest
            # look is not settled by a decision that names it.
            looked_at = looked_at or page
            shown = await self._phonebook.preview(choice.carrier_id, read_items(page.items))
            contacts |= {one.uid: one for one in shown}
        if looked_at is None:  # nothing that could wait was named
            looked_at = await self._ask(ShowPending(sim_id=choice.sim_id, limit=1), Pending)
        by_uid = tuple(contacts[uid] for uid in sorted(contacts))
        return PendingBook(looked_at.pending_rev, looked_at.filling, by_uid)

    async def accept(
        self,
        choice: Choice,
        *,
        removals: bool = False,
        removed_before: int = 0,
        progress: Progress | None = None,
    ) -> AcceptOutcome:
        """Take over what waits; see `SimCommands.accept_contacts`.

        Args:
            choice: what is accepted.
            removals: whether a large removal is meant.
            removed_before: how many entries were removed lately that belong to the same removal,
                for one that comes in pieces.
            progress: told how far it is.
        """
        async with self._one_at_a_time:
            tally = Tally()
            try:
                await self._accept_all(choice, tally, removed_before, progress, removals=removals)
            except TerminalError as error:
                error.accepted = tally.outcome()
                raise
            except asyncio.CancelledError as cancelled:
                raise AcceptingCancelled(tally.outcome()) from cancelled
            return tally.outcome()

    async def _accept_all(
        self,
        choice: Choice,
        tally: Tally,
        removed_before: int,
        progress: Progress | None,
        *,
        removals: bool,
    ) -> None:
        contacts = await self._phonebook.number_own()
        while True:
            try:
                left = await self._accept_cards(choice, tally, progress)
                if not removals:
                    await self._guard(choice, left, contacts, removed_before)
                for rev, gone in left:
                    await self._take(choice, gone, rev, tally)
            except RevisionConflict:
                # What changed while it was taken over is shown again, with the rest.
                if choice.pending_rev is not None:
                    raise
            else:
                return

    async def _accept_cards(
        self, choice: Choice, tally: Tally, progress: Progress | None
    ) -> list[tuple[int, list[Waiting]]]:
        """Accept all but removals, which come last because all of them together are guarded.

        Returns:
            The removals in pages, each with the revision as of which it was shown.
        """
        left: dict[str, tuple[int, Waiting]] = {}
        done = number = 0
        async for page in pages(self._ask, choice):
            items = read_items(page.items)
            cards = [item for item in items if item.card is not None]
            await self._take(choice, cards, page.pending_rev, tally)
            for item in items:
                # A contact that has changed since is shown again: the later look counts.
                left.pop(item.uid, None)
                if item.card is None:
                    left[item.uid] = (page.pending_rev, item)
            done += len(items)
            number = number or (page.waiting if choice.uids is None else len(choice.uids))
            if progress is not None and items:
                progress(done, max(done, number))
        return _by_revision(left.values())

    async def _guard(
        self,
        choice: Choice,
        left: Sequence[tuple[int, Sequence[Waiting]]],
        contacts: int,
        removed_before: int,
    ) -> None:
        number = 0
        for _, gone in left:
            shown = await self._phonebook.preview(choice.carrier_id, gone)
            number += sum(
                one.change is PendingChange.REMOVED and not one.changed_here for one in shown
            )
        if too_many(number + removed_before, contacts + removed_before):
            raise LargeRemoval(number, contacts)

    async def _take(self, choice: Choice, page: Sequence[Waiting], rev: int, tally: Tally) -> None:
        if not page:
            return
        taking = asyncio.ensure_future(self._take_page(choice, page, rev, tally))
        try:
            await asyncio.shield(taking)
        except asyncio.CancelledError as cancelled:
            # What is being taken over is taken to its end: what is here does not wait any more.
            await asyncio.wait((taking,))
            raise cancelled from taking.exception()

    async def _take_page(
        self, choice: Choice, page: Sequence[Waiting], rev: int, tally: Tally
    ) -> None:
        """First the phonebook, then the service: what a break in between leaves is shown again."""
        results, applied = await self._phonebook.accept(choice.carrier_id, page)
        self._emit(applied.updates)
        tally.add(results)
        await self._decide(choice, rev, page, accept=True)

    async def decline(self, choice: Choice, *, progress: Progress | None = None) -> int:
        """Decline what waits; see `SimCommands.decline_contacts`."""
        async with self._one_at_a_time:
            settled = 0
            while True:
                try:
                    async for page in pages(self._ask, choice):
                        if page.items:
                            settled += await self._leave(choice, page)
                        if progress is not None and page.items:
                            progress(settled, max(settled, _number(choice, page, settled)))
                except RevisionConflict:
                    # What changed meanwhile is looked at again, with the rest.
                    if choice.pending_rev is not None:
                        raise
                else:
                    return settled

    async def _leave(self, choice: Choice, page: Pending) -> int:
        """What was declined stays in the space: a later edit here may be stored over it."""
        items = read_items(page.items)
        taken = await self._decide(choice, page.pending_rev, items, accept=False)
        await self._phonebook.declined(choice.carrier_id, items)
        return taken.settled

    async def nothing_new(self, choice: Choice) -> dict[str, str]:
        """The digests of those that wait and that would change nothing if they were accepted."""
        found: dict[str, str] = {}
        async for page in pages(self._ask, choice):
            waiting = [one for one in read_items(page.items) if one.card is not None]
            shown = await self._phonebook.preview(choice.carrier_id, waiting)
            found |= {
                item.uid: item.digest
                for item, one in zip(waiting, shown, strict=True)
                if one.change is PendingChange.SAME
            }
        return found

    async def _decide(
        self, choice: Choice, rev: int, page: Sequence[Waiting], *, accept: bool
    ) -> DecisionTaken:
        uids = tuple(one.uid for one in page)
        command = Decide(sim_id=choice.sim_id, pending_rev=rev, accept=accept, uids=uids)
        return await self._ask(command, DecisionTaken)


def _by_revision(looks: Iterable[tuple[int, Waiting]]) -> list[tuple[int, list[Waiting]]]:
    """Removals as they were looked at, in pages of one revision."""
    pages: list[tuple[int, list[Waiting]]] = []
    for rev, of_rev in groupby(looks, key=itemgetter(0)):
        gone = [item for _, item in of_rev]
        pages += [(rev, gone[at : at + MOST_SHOWN]) for at in range(0, len(gone), MOST_SHOWN)]
    return pages


def _number(choice: Choice, page: Pending, settled: int) -> int:
    """Of how many contacts so many are settled."""
    return settled + page.waiting - len(page.items) if choice.uids is None else len(choice.uids)
