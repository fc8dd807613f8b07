"""Erasing: nothing of an entry is left that could restore it, nor in replies given before."""

from dataclasses import replace

from contactmesh.contracts.sync.commands import Erase
from contactmesh.deciding.decision import Decision
from sync_service.domain.state import Asking, State
from sync_service.domain.writing import Writing


def erase(state: State, asking: Asking, command: Erase) -> Decision:
    """Erase entries with their history and conflicts; what is not there is left out."""
    book = state.book(asking, command.book)
    uids = set(command.uids)
    if book.own_card_uid in uids:
        book = replace(book, own_card_uid=None)
    writing = Writing(state, asking, book)
    for uid in sorted(uids):
        entry = state.entries.get((book.owner, uid))
        if entry is not None:
            writing.erase(entry)
    for conflict in state.conflicts:
        if conflict.owner == book.owner and conflict.uid in uids:
            state.conflicts.drop(conflict.key)
    state.put_book(writing.book)
    state.erased.add(book.owner)
    return Decision(told=tuple(writing.told))
