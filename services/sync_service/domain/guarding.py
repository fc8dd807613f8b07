"""What a book is guarded from: being emptied by mistake, and having more than it may."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Exchange
from sync_service.domain.documents import Book, Entry, Limits
from sync_service.domain.state import State
from sync_service.domain.times import span

MOST_UNASKED: Final = 10
_WITHIN: Final = timedelta(hours=1)
_TOGETHER: Final = timedelta(minutes=1)
"""Deletions that are counted as one, so that a book has few numbers of them."""


def check_deletions(state: State, book: Book, command: Exchange, *, received: int) -> None:
    """Refuse an exchange that would delete more than half of the book, and more than ten entries.

    Deletions of the last hour count too, so that many small exchanges are one large one.

    Raises:
        Refusal: `conflict` with `deleted` and `of`.
    """
    if command.confirm_deletions:
        return
    uids = {change.uid for change in command.changes if change.op is Operation.DELETED}
    found = (state.entries.get((book.owner, uid)) for uid in uids)
    new = sum(entry is not None and not entry.deleted for entry in found)
    before = sum(number for _, number in _recent(book, received))
    deleted, of = before + new, before + book.entries
    if new and deleted > MOST_UNASKED and deleted * 2 > of:
        raise Refusal(
            ErrorCode.CONFLICT,
            f"This would have deleted {deleted} of {of} entries within an hour. If that is meant, "
            "send it again with confirm_deletions.",
            deleted=deleted,
            of=of,
        )


def check_number(book: Book, stands: Entry | None, limits: Limits) -> None:
    """Refuse one entry more than a book may have, made or brought back.

    Raises:
        Refusal: `quota_exceeded`.
    """
    if (stands is None or stands.deleted) and book.entries >= limits.entries:
        raise Refusal(
            ErrorCode.QUOTA_EXCEEDED,
            f"A book may have {limits.entries} entries. Delete some first.",
            limit=limits.entries,
        )


def with_deletions(book: Book, number: int, *, received: int, confirmed: bool) -> Book:
    """The book after a terminal deleted entries; what was confirmed counts no more."""
    if confirmed:
        return replace(book, deletions=())
    recent = _recent(book, received)
    if recent and number and received - recent[-1][0] < span(_TOGETHER):
        at, before = recent[-1]
        return replace(book, deletions=(*recent[:-1], (at, before + number)))
    return replace(book, deletions=(*recent, (received, number)) if number else recent)


def _recent(book: Book, received: int) -> tuple[tuple[int, int], ...]:
    return tuple(one for one in book.deletions if one[0] > received - span(_WITHIN))
