"""What waits for a SIM, page by page, as its service shows it."""

from collections.abc import AsyncIterator, Iterable, Iterator

from pydantic import ValidationError

from contactmesh.contacts import Card
from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.multi_sim.commands import MOST_SHOWN, Pending, PendingItem, ShowPending
from contactmesh.terminal.decisions import Choice
from contactmesh.terminal.errors import RevisionConflict, UnreadableReply
from contactmesh.terminal.phonebook_accepting import Waiting
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.reading import unreadable
from contactmesh.terminal.rules.spaces import has_fit_uid


async def pages(ask: Ask, choice: Choice) -> AsyncIterator[Pending]:
    """What waits of what is chosen, page by page.

    Raises:
        RevisionConflict: it is not what was looked at.
    """
    for uids in _chosen(choice):
        after: int | None = 0
        while after is not None:
            command = ShowPending(sim_id=choice.sim_id, uids=uids, after=after)
            page = await ask(command, Pending)
            if choice.pending_rev not in (None, page.pending_rev):
                raise _moved_on(page.pending_rev)
            yield page
            after = page.after


def read_items(items: Iterable[PendingItem]) -> list[Waiting]:
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


def _chosen(choice: Choice) -> Iterator[tuple[str, ...] | None]:
    """The uids to ask for, as many as go in one command; all that wait if none are named."""
    if choice.uids is None:
        yield None
        return
    # What no space takes does not wait either.
    uids = sorted(filter(has_fit_uid, choice.uids))
    for at in range(0, len(uids), MOST_SHOWN):
        yield tuple(uids[at : at + MOST_SHOWN])


def _moved_on(rev: int) -> RevisionConflict:
    return RevisionConflict(
        ErrorBody(
            code=ErrorCode.CONFLICT,
            message="What waits is not what you looked at. Look at it again, and decide on that.",
            details={"current_rev": rev},
        )
    )
