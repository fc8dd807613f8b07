"""Letting entries, or the whole book, be again as they were."""

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import BookRestored, Restore, RestoreBook, Restored
from contactmesh.contracts.sync.records import Reason
from contactmesh.deciding.decision import Decision
from sync_service.domain.documents import Contents, Entry
from sync_service.domain.guarding import check_number
from sync_service.domain.state import Asking, State, no_entry
from sync_service.domain.times import micros, moment, span
from sync_service.domain.writing import Writing


def restore(state: State, asking: Asking, command: Restore) -> Decision:
    """Let an entry be again as one of its versions is.

    Raises:
        Refusal: `not_found`, or `quota_exceeded`.
    """
    book = state.book(asking, command.book)
    entry = state.entries.get((book.owner, command.uid))
    if entry is None:
        raise no_entry()
    if entry.rev == command.rev:
        return Decision(Restored(rev=entry.rev))
    version = state.versions.get((book.owner, command.uid, command.rev))
    if version is None:
        raise Refusal(
            ErrorCode.NOT_FOUND, "The entry has no such version (any more); see its history."
        )
    if version.card is not None:
        check_number(book, entry, asking.limits)
    writing = Writing(state, asking, book)
    now = writing.renew(entry, version.card)
    state.put_book(writing.book)
    return Decision(Restored(rev=now.rev), tuple(writing.told))


def since_of(command: RestoreBook) -> int:
    """After which revision one step of restoring a book looks at entries."""
    return max(micros(command.at), command.after or 0)


def restore_book(state: State, asking: Asking, command: RestoreBook) -> Decision:
    """Let a page of the entries that changed since a time be again as they were then.

    What changes after the first step has later revisions than `through`, and is left alone.

    Raises:
        Refusal: `invalid_argument`, the time is longer ago than versions are kept.
    """
    book = state.book(asking, command.book)
    at = micros(command.at)
    if at < asking.received - span(asking.limits.kept):
        raise Refusal(
            ErrorCode.INVALID_ARGUMENT,
            f"Versions are kept for {asking.limits.kept.days} days. Choose a later time.",
        )
    through = command.through or book.rev
    page = state.pages[book.owner, since_of(command)]
    looked_at = [(rev, uid) for rev, uid in page.entries if rev <= through]
    writing = Writing(state, asking, book)
    restored = 0
    for _, uid in looked_at:
        entry = state.entries.get((book.owner, uid))
        if entry is not None and entry.rev <= through:
            now = writing.renew(entry, _stood_at(state, entry, at))
            restored += now.rev != entry.rev
    state.put_book(writing.book)
    more = not page.complete and len(looked_at) == len(page.entries)
    result = BookRestored(
        restored=restored,
        looked_at=len(looked_at),
        before=moment(through),
        through=through if more else None,
        after=looked_at[-1][0] if more else None,
    )
    return Decision(result, tuple(writing.told))


def _stood_at(state: State, entry: Entry, at: int) -> Contents | None:
    """What an entry said at a time; nothing where it was deleted, or not made yet."""
    if entry.rev <= at:
        return entry.card
    before = [
        version
        for version in state.versions.of(entry.owner, entry.uid)
        if version.rev <= at and version.reason is not Reason.LOST
    ]
    return before[-1].card if before else None
