"""How much of what was found a reply has room for, known before the cards are loaded."""

from collections.abc import Sequence
from typing import Final

from contactmesh.storage.transaction import Document

ENVELOPED_BYTES: Final = 300
"""More than names, revisions and times take of a reply for one document."""


def that_fit(found: Sequence[Document], room: int, *, cards: bool) -> list[Document]:
    """As many documents as there is room for; one at the least.

    Args:
        found: documents with `size`.
        room: in bytes.
        cards: whether what `size` counts is told of them.
    """
    page: list[Document] = []
    for one in found:
        paths = sum(len(path.encode()) + 3 for path in one.get("changed_fields", ()))
        room -= ENVELOPED_BYTES + len(one["uid"].encode()) + paths + one["size"] * cards
        if room < 0 and page:
            break
        page.append(one)
    return page
