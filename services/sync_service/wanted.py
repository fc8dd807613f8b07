"""Which documents the rules look at, so that a unit of work loads them together.

The books of the senders come first, and what a revision leads to is found with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.sync import commands
from contactmesh.runtime.commands import Request
from sync_service.domain.documents import owner_of
from sync_service.domain.restoring import since_of
from sync_service.domain.state import Asking
from sync_service.domain.times import micros
from sync_service.domain.tokens import known_since, read_token


@dataclass(slots=True)
class Wanted:
    """What to load beside books; keys are as in the state."""

    entries: set[tuple[str, str]] = field(default_factory=set)
    """(owner, uid)"""
    versions: set[tuple[str, str, int]] = field(default_factory=set)
    """(owner, uid, revision)"""
    bases: set[tuple[str, str, int, str]] = field(default_factory=set)
    """(owner, uid, base revision, terminal): what a terminal may have changed; 0 for a new entry"""
    pages: set[tuple[str, int]] = field(default_factory=set)
    """(owner, revision): the entries after it"""
    known: set[tuple[str, int]] = field(default_factory=set)
    """(owner, revision): whether this database has given it"""
    stood: set[tuple[str, int, int]] = field(default_factory=set)
    """(owner, revision of a page, time): what the page's entries were at a time"""
    conflicts: set[tuple[str, str]] = field(default_factory=set)
    """(owner, conflict), with the entry and what lost"""
    whole: set[tuple[str, str]] = field(default_factory=set)
    """(owner, uid): with all versions, less their contents, and all conflicts"""


def book_of(request: Request) -> tuple[str, str]:
    """The user and the book that a command changes."""
    command: Any = request.command
    return request.sender.user_id, command.book


def wanted(requests: Sequence[tuple[Request, Asking]]) -> Wanted:
    """What a batch of commands looks at."""
    want = Wanted()
    for request, asking in requests:
        _WANTS[type(request.command)](want, asking, request.command)
    return want


def _owner(asking: Asking, command: Any) -> str:
    return owner_of(asking.user_id, command.book)


def _exchange(want: Wanted, asking: Asking, command: commands.Exchange) -> None:
    owner = _owner(asking, command)
    if command.token is not None:
        try:
            token = read_token(asking, owner, command.token)
        except Refusal:
            return  # the rule refuses it in the same words
        want.pages.add((owner, token.rev))
        want.known |= {(owner, rev) for rev in token.vouched(known_since(asking))}
    for change in command.changes:
        want.entries.add((owner, change.uid))
        want.bases.add((owner, change.uid, change.base_rev or 0, asking.terminal_id))


def _restore(want: Wanted, asking: Asking, command: commands.Restore) -> None:
    owner = _owner(asking, command)
    want.entries.add((owner, command.uid))
    want.versions.add((owner, command.uid, command.rev))


def _restore_book(want: Wanted, asking: Asking, command: commands.RestoreBook) -> None:
    owner, since = _owner(asking, command), since_of(command)
    want.pages.add((owner, since))
    want.stood.add((owner, since, micros(command.at)))


def _settle(want: Wanted, asking: Asking, command: commands.Settle) -> None:
    want.conflicts.add((_owner(asking, command), command.conflict_id))


def _erase(want: Wanted, asking: Asking, command: commands.Erase) -> None:
    owner = _owner(asking, command)
    want.entries |= {(owner, uid) for uid in command.uids}
    want.whole |= {(owner, uid) for uid in command.uids}


def _own_card(want: Wanted, asking: Asking, command: commands.SetOwnCard) -> None:
    if command.uid is not None:
        want.entries.add((_owner(asking, command), command.uid))


def _nothing(want: Wanted, asking: Asking, command: Any) -> None:
    pass


_WANTS: Mapping[type[Command], Callable[[Wanted, Asking, Any], None]] = {
    commands.Exchange: _exchange,
    commands.SetPolicy: _nothing,
    commands.SetOwnCard: _own_card,
    commands.Restore: _restore,
    commands.RestoreBook: _restore_book,
    commands.Settle: _settle,
    commands.Erase: _erase,
}
