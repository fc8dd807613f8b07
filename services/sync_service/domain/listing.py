"""What a listing tells of entries that it does not have (row Y6)."""

from datetime import datetime, timedelta
from typing import Final

from sync_service.domain.documents import Book
from sync_service.domain.times import micros

DELETIONS_KEPT: Final = timedelta(days=90)
"""Longer than any token is good for, so that each terminal learns of a deletion."""


def deletions_known_since(book: Book, now: datetime) -> int:
    """The revision after which a deletion is listed: what is newer and not listed was lost.

    A database that was wiped or restored knows of nothing that is later than its book.
    """
    return min(book.rev, micros(now - DELETIONS_KEPT))
