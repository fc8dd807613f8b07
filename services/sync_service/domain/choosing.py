"""What an owner says of a book: its policy, and which entry is their own card."""

from dataclasses import replace

from contactmesh.contracts.sync.commands import SetOwnCard, SetPolicy
from contactmesh.deciding.decision import Decision, Told
from sync_service.domain.state import Asking, State, no_entry
from sync_service.domain.writing import told_of


def set_policy(state: State, asking: Asking, command: SetPolicy) -> Decision:
    """Set what becomes of edits that meet (row Y4)."""
    state.put_book(replace(state.book(asking, command.book), policy=command.policy))
    return Decision()


def set_own_card(state: State, asking: Asking, command: SetOwnCard) -> Decision:
    """Say which entry is the owner's own card, over all books, or that none is; tell the groups.

    All books are put, so that no other process says the same of another one.

    Raises:
        Refusal: `not_found`.
    """
    book = state.book(asking, command.book)
    told: tuple[Told, ...] = ()
    if command.uid is not None:
        entry = state.entries.get((book.owner, command.uid))
        if entry is None or entry.deleted:
            raise no_entry()
        told = (told_of(entry, own_card=True),)
    for other in state.books_of(asking.user_id):
        if other.owner != book.owner:
            state.put_book(replace(other, own_card_uid=None))
    state.put_book(replace(book, own_card_uid=command.uid))
    return Decision(told=told)
