"""Pages in the order of a whole number, read window by window."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from contactmesh.storage.database import Collection
from contactmesh.storage.transaction import Document

GROWTH: Final = 8
"""How much wider a window may be than the one before."""


async def ascending(
    collection: Collection,
    where: Mapping[str, Any],
    by: str,
    *,
    after: int,
    until: int,
    limit: int,
    without: Sequence[str] = (),
) -> list[Document]:
    """The first documents, `limit` at the most, whose `by` lies after `after` and up to `until`.

    A range with both ends costs what it holds on every server. One that is open, with a limit,
    costs the whole rest of it for each page where the server sorts before it counts, as the
    embedded one does: a walk over n documents would cost n * n. Windows begin narrow, because
    numbers may follow each other closely, and widen fast, because they may be times.

    Args:
        collection: has an index over the fields of `where`, then `by`.
        where: values that documents have, less `by`.
        by: a field with a whole number that no two documents share.
        after: the last number of the page before.
        until: the highest number that there can be.
        limit: how many documents fill the page.
        without: fields that are left out.
    """
    found: list[Document] = []
    width = limit
    while after < until and len(found) < limit:
        edge = min(after + width, until)
        bounds = {"$gt": after, "$lte": edge}
        missing = limit - len(found)
        window = await _window(collection, where, by, bounds, 1, limit=missing, without=without)
        found += window
        after = edge
        width = _next_width(width, len(window), missing - len(window))
    return found


async def descending(
    collection: Collection,
    where: Mapping[str, Any],
    by: str,
    *,
    before: int,
    since: int,
    limit: int,
    without: Sequence[str] = (),
) -> list[Document]:
    """The last documents, `limit` at the most, whose `by` lies before `before` and down to `since`.

    The other arguments, and what it costs, are as with `ascending`.
    """
    found: list[Document] = []
    width = limit
    while before > since and len(found) < limit:
        edge = max(before - width, since)
        bounds = {"$lt": before, "$gte": edge}
        missing = limit - len(found)
        window = await _window(collection, where, by, bounds, -1, limit=missing, without=without)
        found += window
        before = edge
        width = _next_width(width, len(window), missing - len(window))
    return found


async def _window(
    collection: Collection,
    where: Mapping[str, Any],
    by: str,
    bounds: Mapping[str, int],
    direction: int,
    *,
    limit: int,
    without: Sequence[str],
) -> list[Document]:
    return await collection.find(
        {**where, by: bounds}, sort=[(by, direction)], limit=limit, without=without
    )


def _next_width(width: int, found: int, missing: int) -> int:
    """As wide as it takes for what is missing, if numbers go on as in the last window."""
    widest = width * GROWTH
    return max(1, min(widest, width * missing // found)) if found else widest
