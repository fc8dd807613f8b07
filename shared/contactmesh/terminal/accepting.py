"""Looking at what waits for a SIM, and deciding on it (rows M5, M6)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from pydantic import ValidationError

from contactmesh.contacts import Card
from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.multi_sim.commands import (
    MOST_DECIDED,
    MOST_SHOWN,
    Decide,
    DecisionTaken,
    Pending,
    PendingItem,
    ShowPending,
)
from contactmesh.terminal.changes import unreadable
from contactmesh.terminal.decisions import Choice, Tally
from contactmesh.terminal.errors import LargeRemoval, RevisionConflict, UnreadableReply
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.phonebook_spaces import Waiting
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
        contacts: list[PendingContact] = []
        looked_at: Pending | None = None
        async for page in self._pages(choice):
            # Of several pages the first one's revision counts: what has changed since the earliest
            # look is not settled by a decision that names it.
            looked_at = looked_at or page
            contacts += await self._phonebook.preview(choice.carrier_id, _waiting(page.items))
        if looked_at is None:
            raise TypeError("what waits has one page at the least")
        return PendingBook(looked_at.pending_rev, looked_at.filling, tuple(contacts))

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
            contacts = await self._phonebook.number_own()
            while True:
                try:
                    left = await self._accept_cards(choice, tally, progress)
                    if not removals:
                        await self._guard(choice, left, contacts, removed_before, tally)
                    for rev, uids in left:
                        for at in range(0, len(uids), MOST_SHOWN):
                            page = [(uid, None) for uid in uids[at : at + MOST_SHOWN]]
                            await self._take(choice, page, rev, tally)
                except RevisionConflict:
                    # What changed while it was taken over is shown again, with the rest.
                    if choice.pending_rev is not None:
                        raise
                else:
                    return tally.outcome()

    async def _accept_cards(
        self, choice: Choice, tally: Tally, progress: Progress | None
    ) -> list[tuple[int, list[str]]]:
        """Accept all but removals, which come last because all of them together are guarded.

        Returns:
            The uids of the removals, with the revision as of which they were shown.
        """
        left: list[tuple[int, list[str]]] = []
        done = number = 0
        async for page in self._pages(choice):
            items = [item for item in page.items if choice.takes(item.uid)]
            cards = _waiting(item for item in items if item.card is not None)
            await self._take(choice, cards, page.pending_rev, tally)
            left.append((page.pending_rev, [item.uid for item in items if item.card is None]))
            done += len(items)
            number = number or (page.waiting if choice.uids is None else len(choice.uids))
            if progress is not None and items:
                progress(done, max(done, number))
        return left

    async def _guard(
        self,
        choice: Choice,
        left: Sequence[tuple[int, Sequence[str]]],
        contacts: int,
        removed_before: int,
        tally: Tally,
    ) -> None:
        number = 0
        for _, uids in left:
            shown = await self._phonebook.preview(choice.carrier_id, [(uid, None) for uid in uids])
            number += sum(
                one.change is PendingChange.REMOVED and not one.changed_here for one in shown
            )
        if too_many(number + removed_before, contacts + removed_before):
            raise LargeRemoval(number, contacts, tally.outcome())

    async def _take(self, choice: Choice, page: Sequence[Waiting], rev: int, tally: Tally) -> None:
        """First the phonebook, then the service: what a break in between leaves is shown again."""
        if not page:
            return
        results, applied = await self._phonebook.accept(choice.carrier_id, page)
        self._emit(applied.updates)
        tally.add(results)
        uids = tuple(uid for uid, _ in page)
        await self._decide(choice, rev, uids, accept=True)

    async def decline(self, choice: Choice, *, progress: Progress | None = None) -> int:
        """Decline what waits; see `SimCommands.decline_contacts`."""
        async with self._one_at_a_time:
            if choice.uids is None:
                return await self._decline_all(choice, progress)
            uids = sorted(choice.uids)
            settled = 0
            for at in range(0, len(uids), MOST_DECIDED):
                page = tuple(uids[at : at + MOST_DECIDED])
                settled += await self._decline_named(choice, page)
                if progress is not None:
                    progress(at + len(page), len(uids))
            return settled

    async def _decline_all(self, choice: Choice, progress: Progress | None) -> int:
        rev = await self._rev(choice)
        settled, left = 0, 1
        while left:
            taken = await self._decide(choice, rev, None, accept=False)
            settled, left = settled + taken.settled, taken.left
            if progress is not None and taken.settled:
                progress(settled, settled + left)
        return settled

    async def _decline_named(self, choice: Choice, uids: tuple[str, ...]) -> int:
        while True:
            rev = await self._rev(choice)
            try:
                return (await self._decide(choice, rev, uids, accept=False)).settled
            except RevisionConflict:
                if choice.pending_rev is not None:
                    raise

    async def _rev(self, choice: Choice) -> int:
        if choice.pending_rev is not None:
            return choice.pending_rev
        command = ShowPending(sim_id=choice.sim_id, limit=1)
        return (await self._ask(command, Pending)).pending_rev

    async def _decide(
        self, choice: Choice, rev: int, uids: tuple[str, ...] | None, *, accept: bool
    ) -> DecisionTaken:
        command = Decide(sim_id=choice.sim_id, pending_rev=rev, accept=accept, uids=uids)
        return await self._ask(command, DecisionTaken)

    async def _pages(self, choice: Choice) -> AsyncIterator[Pending]:
        """What waits, page by page.

        Raises:
            RevisionConflict: it is not what was looked at.
        """
        after: str | None = None
        while True:
            page = await self._ask(ShowPending(sim_id=choice.sim_id, after=after), Pending)
            if choice.pending_rev not in (None, page.pending_rev):
                raise _moved_on(page.pending_rev)
            yield page
            after = page.after
            if after is None:
                return


def _waiting(items: Iterable[PendingItem]) -> list[Waiting]:
    """What waits, read.

    Raises:
        UnreadableReply: a card is no JSContact card.
    """
    try:
        return [
            (item.uid, None if item.card is None else Card.model_validate(item.card))
            for item in items
        ]
    except ValidationError as error:
        raise UnreadableReply(
            f"A contact that waits cannot be read ({unreadable(error)}). Update the terminal."
        ) from error


def _moved_on(rev: int) -> RevisionConflict:
    return RevisionConflict(
        ErrorBody(
            code=ErrorCode.CONFLICT,
            message="What waits is not what you looked at. Look at it again, and decide on that.",
            details={"current_rev": rev},
        )
    )
