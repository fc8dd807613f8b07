"""Looking at what waits for a SIM, and deciding on it (rows M5, M6)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

from pydantic import ValidationError

from contactmesh.contacts import Card
from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.multi_sim.commands import (
    MOST_SHOWN,
    Decide,
    DecisionTaken,
    Pending,
    PendingItem,
    ShowPending,
)
from contactmesh.terminal.decisions import Choice, Tally
from contactmesh.terminal.errors import (
    AcceptingCancelled,
    LargeRemoval,
    RevisionConflict,
    TerminalError,
    UnreadableReply,
)
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.phonebook_spaces import Waiting
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.reading import unreadable
from contactmesh.terminal.rules.spaces import (
    PendingChange,
    PendingContact,
    has_fit_uid,
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
        if looked_at is None:  # nothing that could wait was named
            looked_at = await self._ask(ShowPending(sim_id=choice.sim_id, limit=1), Pending)
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
                    for at in range(0, len(gone), MOST_SHOWN):
                        await self._take(choice, gone[at : at + MOST_SHOWN], rev, tally)
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
            The removals, with the revision as of which they were shown.
        """
        left: list[tuple[int, list[Waiting]]] = []
        done = number = 0
        async for page in self._pages(choice):
            items = _waiting(page.items)
            cards = [item for item in items if item.card is not None]
            await self._take(choice, cards, page.pending_rev, tally)
            left.append((page.pending_rev, [item for item in items if item.card is None]))
            done += len(items)
            number = number or (page.waiting if choice.uids is None else len(choice.uids))
            if progress is not None and items:
                progress(done, max(done, number))
        return left

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
                    async for page in self._pages(choice):
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
        items = _waiting(page.items)
        taken = await self._decide(choice, page.pending_rev, items, accept=False)
        await self._phonebook.declined(choice.carrier_id, items)
        return taken.settled

    async def nothing_new(self, choice: Choice) -> dict[str, str]:
        """The digests of those that wait and that would change nothing if they were accepted."""
        found: dict[str, str] = {}
        async for page in self._pages(choice):
            waiting = [one for one in _waiting(page.items) if one.card is not None]
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

    async def _pages(self, choice: Choice) -> AsyncIterator[Pending]:
        """What waits of what is chosen, page by page.

        Raises:
            RevisionConflict: it is not what was looked at.
        """
        for uids in _chosen(choice):
            after: str | None = None
            while True:
                command = ShowPending(sim_id=choice.sim_id, uids=uids, after=after)
                page = await self._ask(command, Pending)
                if choice.pending_rev not in (None, page.pending_rev):
                    raise _moved_on(page.pending_rev)
                yield page
                after = page.after
                if after is None:
                    break


def _chosen(choice: Choice) -> Iterator[tuple[str, ...] | None]:
    """The uids to ask for, as many as go in one command; all that wait if none are named."""
    if choice.uids is None:
        yield None
        return
    # What no space takes does not wait either.
    uids = sorted(filter(has_fit_uid, choice.uids))
    for at in range(0, len(uids), MOST_SHOWN):
        yield tuple(uids[at : at + MOST_SHOWN])


def _number(choice: Choice, page: Pending, settled: int) -> int:
    """Of how many contacts so many are settled."""
    return settled + page.waiting - len(page.items) if choice.uids is None else len(choice.uids)


def _waiting(items: Iterable[PendingItem]) -> list[Waiting]:
    """What waits, read.

    Raises:
        UnreadableReply: a card is no JSContact card.
    """
    try:
        return [
            Waiting(
                item.uid,
                None if item.card is None else Card.model_validate(item.card),
                item.over,
            )
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
