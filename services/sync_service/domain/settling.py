"""Settling a conflict: leaving things as they are, or taking what lost (row Y4)."""

from typing import Any

from pydantic import ValidationError

from contactmesh.contacts import Card, PatchError, apply_patch
from contactmesh.contacts.patch import pointer_of, segments_of
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Settle, Settled
from contactmesh.contracts.sync.records import ConflictKind
from contactmesh.deciding.decision import Decision
from sync_service.domain.documents import ConflictDocument, Contents, Entry
from sync_service.domain.guarding import check_number
from sync_service.domain.sending import check_card
from sync_service.domain.state import Asking, State, no_entry
from sync_service.domain.writing import Writing


def settle(state: State, asking: Asking, command: Settle) -> Decision:
    """Settle a conflict.

    Raises:
        Refusal: `not_found`; `conflict` where what lost has no place in what stands by now;
            `too_large` or `quota_exceeded`.
    """
    book = state.book(asking, command.book)
    conflict = state.conflicts.get((book.owner, command.conflict_id))
    if conflict is None:
        raise Refusal(ErrorCode.NOT_FOUND, "No such conflict waits; see the list of those that do.")
    entry = state.entries.get((book.owner, conflict.uid))
    if entry is None:
        raise no_entry()
    writing = Writing(state, asking, book)
    if command.take_lost:
        contents = _with_lost(state, entry, conflict)
        if contents is not None:
            check_card(Card.model_validate(contents), asking.limits)
            check_number(book, entry, asking.limits)
        entry = writing.renew(entry, contents)
    state.conflicts.drop(conflict.key)
    state.put_book(writing.book)
    return Decision(Settled(rev=entry.rev), tuple(writing.told))


def _with_lost(state: State, entry: Entry, conflict: ConflictDocument) -> Contents | None:
    if conflict.kind is not ConflictKind.FIELD:
        lost: Contents | None = conflict.lost
        return lost
    if entry.card is None:
        raise _no_place(entry)
    try:
        contents = apply_patch(entry.card, {conflict.path: _value(entry.card, conflict)})
    except PatchError:
        if conflict.lost is None:
            return entry.card
        contents = _with_what_it_was_in(state, entry, entry.card, conflict)
    try:
        return dict(Card.model_validate(contents).to_json())
    except ValidationError as error:
        raise _no_place(entry) from error


def _value(card: Contents, conflict: ConflictDocument) -> Any:  # noqa: ANN401 - JSON
    """What is to stand at the path: of a name, what was not in conflict stays beside it."""
    there = card.get("name")
    if conflict.path != "name" or not isinstance(there, dict) or conflict.lost is None:
        return conflict.lost
    kept = conflict.kept or {}
    return {**{name: part for name, part in there.items() if name not in kept}, **conflict.lost}


def _with_what_it_was_in(
    state: State, entry: Entry, card: Contents, conflict: ConflictDocument
) -> Contents:
    """Bring back what the value is a part of, where that was removed since."""
    version = state.versions.get((entry.owner, entry.uid, conflict.lost_rev))
    here: Any = card
    there: Any = None if version is None else version.card
    path: list[str] = []
    for segment in segments_of(conflict.path):
        path.append(segment)
        there = there.get(segment) if isinstance(there, dict) else None
        here = here.get(segment)
        if there is None:
            raise _no_place(entry)
        if not isinstance(here, dict):
            break
    return apply_patch(card, {pointer_of(*path): there})


def _no_place(entry: Entry) -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        "The contact has changed so much that the value has no place in it any more. See its "
        "history for what it was, and restore that or change the contact.",
        current_rev=entry.rev,
    )
