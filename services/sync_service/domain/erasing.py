"""Erasing: nothing of an entry is left that could restore it, nor in replies given before."""

from dataclasses import replace

from contactmesh.contracts.sync.commands import Erase, Erased
from contactmesh.deciding.decision import Decision
from sync_service.domain.state import Asking, State
from sync_service.domain.writing import Writing


def erase(state: State, asking: Asking, command: Erase) -> Decision:
    """Erase entries with their history and conflicts; what is not there is left out, and told."""
    book = state.book(asking, command.book)
    uids = set(command.uids)
    if book.own_card_uid in uids:
        book = replace(book, own_card_uid=None)
    writing = Writing(state, asking, book)
    found = [state.entries.get((book.owner, uid)) for uid in sorted(uids)]
    entries = [entry for entry in found if entry is not None]
    for entry in entries:
        writing.erase(entry)
    for conflict in state.conflicts:
        if conflict.owner == book.owner and conflict.uid in uids:
            state.conflicts.drop(conflict.key)
    state.put_book(writing.book)
    state.erased.add(book.owner)
    return Decision(Erased(uids=tuple(entry.uid for entry in entries)), tuple(writing.told))
