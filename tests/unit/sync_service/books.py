"""A server that loads for each command what the rules say they look at, and no more."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.errors import ErrorBody, Refusal
from contactmesh.contracts.reply import Result
from contactmesh.contracts.sync.commands import (
    Erase,
    Exchange,
    Exchanged,
    Restore,
    RestoreBook,
    SetOwnCard,
    Settle,
)
from contactmesh.contracts.sync.records import Reason
from sync_service.domain.documents import (
    Book,
    ConflictDocument,
    Entry,
    Limits,
    Version,
    owner_of,
)
from sync_service.domain.restoring import since_of
from sync_service.domain.state import Asking, Page, State
from sync_service.domain.times import micros
from sync_service.domain.tokens import known_since, listing_token, read_token
from sync_service.handlers import RULES

START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = b"the key of all copies"
LIN = "lin"
PHONE, TABLET, LAPTOP = "lin_aaaaaaaa", "lin_bbbbbbbb", "lin_cccccccc"
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)

Json = dict[str, Any]


def card(uid: str, name: str | None = None, **more: object) -> Json:
    """A contact with a name, and whatever else it has."""
    return {"@type": "Card", "version": "1.0", "uid": uid, "name": {"full": name or uid}, **more}


@dataclass
class Stored:
    """What the database holds."""

    books: dict[str, Book] = field(default_factory=dict)
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    versions: dict[tuple[str, str, int], Version] = field(default_factory=dict)
    conflicts: dict[tuple[str, str], ConflictDocument] = field(default_factory=dict)

    def copy(self) -> "Stored":
        """What a backup holds."""
        return Stored(
            dict(self.books), dict(self.entries), dict(self.versions), dict(self.conflicts)
        )


@dataclass
class Server:
    """sync_service by its rules alone. Time stands still unless somebody moves it on."""

    limits: Limits = field(default_factory=Limits)
    now: datetime = START
    stored: Stored = field(default_factory=Stored)
    told: list[ContactChanged] = field(default_factory=list)

    def does(self, command: Command, terminal: str = PHONE, user: str = LIN) -> Result:
        """Handle a command as a unit of work of its own."""
        return self.batch([(command, terminal)], user)[0]

    def batch(self, commands: Sequence[tuple[Command, str]], user: str = LIN) -> list[Result]:
        """Handle commands, each with its terminal, as one unit of work: all is loaded before."""
        state = State()
        asked = [
            (Asking(user, terminal, self.now, self.limits, KEY), command)
            for command, terminal in commands
        ]
        for asking, command in asked:
            self._load(state, asking, command)
        decisions = [RULES[type(command)](state, asking, command) for asking, command in asked]
        self._commit(state)
        for told in (told for decision in decisions for told in decision.told):
            assert isinstance(told.message, ContactChanged)
            assert (told.subject, told.rev) == (user, told.message.rev)
            self.told.append(told.message)
        return [decision.result for decision in decisions]

    def refuses(self, command: Command, terminal: str = PHONE, user: str = LIN) -> ErrorBody:
        """The error that a command is answered with."""
        before = self.stored.copy()
        try:
            self.does(command, terminal, user)
        except Refusal as refusal:
            assert self.stored == before
            return refusal.body
        raise AssertionError("the command was not refused")

    def exchanges(self, command: Exchange, terminal: str = PHONE) -> Exchanged:
        """Handle an exchange."""
        result = self.does(command, terminal)
        assert isinstance(result, Exchanged)
        return result

    def passes(self, time: timedelta = SECOND) -> None:
        """Let time pass, and the database forget what has expired."""
        self.now += time
        stored = self.stored
        for key, version in list(stored.versions.items()):
            if version.expires_at <= self.now:
                del stored.versions[key]
        for conflict_key, conflict in list(stored.conflicts.items()):
            if conflict.expires_at <= self.now:
                del stored.conflicts[conflict_key]
        for entry_key, entry in list(stored.entries.items()):
            if entry.deleted_at is not None and entry.deleted_at + 90 * DAY <= self.now:
                del stored.entries[entry_key]

    def book(self, book: str = "main", user: str = LIN) -> Book:
        """A book as it stands."""
        return self.stored.books.get(owner_of(user, book)) or Book(user, book)

    def entry(self, uid: str, book: str = "main") -> Entry:
        """An entry as it stands."""
        return self.stored.entries[owner_of(LIN, book), uid]

    def holds(self, book: str = "main") -> dict[str, Json]:
        """The contacts of a book by uid."""
        return {
            entry.uid: entry.card
            for entry in self.stored.entries.values()
            if entry.book == book and entry.card is not None
        }

    def history(self, uid: str, reason: Reason | None = None) -> list[Version]:
        """The versions of an entry in the history, the oldest first."""
        found = [
            version
            for version in self.stored.versions.values()
            if version.uid == uid and reason in (None, version.reason)
        ]
        return sorted(found, key=lambda version: version.rev)

    def conflicts(self, uid: str | None = None) -> list[ConflictDocument]:
        """The conflicts that wait, the oldest first."""
        found = [one for one in self.stored.conflicts.values() if uid in (None, one.uid)]
        return sorted(found, key=lambda conflict: conflict.conflict_id)

    def lists(self, book: str = "main") -> str:
        """The token that a listing gives."""
        return listing_token(KEY, self.book(book), micros(self.now))

    def _load(self, state: State, asking: Asking, command: Command) -> None:
        stored = self.stored
        state.books.load(
            (owner, book) for owner, book in stored.books.items() if book.user_id == asking.user_id
        )
        match command:
            case Exchange():
                self._load_exchange(state, asking, command)
            case Restore():
                owner = owner_of(asking.user_id, command.book)
                self._load_entries(state, owner, [command.uid])
                self._load_versions(state, [(owner, command.uid, command.rev)])
            case RestoreBook():
                self._load_restore(state, owner_of(asking.user_id, command.book), command)
            case Settle():
                key = (owner_of(asking.user_id, command.book), command.conflict_id)
                conflict = stored.conflicts.get(key)
                if conflict is not None:
                    state.conflicts.load([(key, conflict)])
                    self._load_entries(state, key[0], [conflict.uid])
                    self._load_versions(state, [(key[0], conflict.uid, conflict.lost_rev)])
            case Erase():
                owner = owner_of(asking.user_id, command.book)
                self._load_entries(state, owner, command.uids)
                of = {(owner, uid) for uid in command.uids}
                self._load_versions(state, [key for key in stored.versions if key[:2] in of])
                state.conflicts.load(
                    (key, one) for key, one in stored.conflicts.items() if (key[0], one.uid) in of
                )
            case SetOwnCard(uid=str(uid)):
                self._load_entries(state, owner_of(asking.user_id, command.book), [uid])

    def _load_exchange(self, state: State, asking: Asking, command: Exchange) -> None:
        owner = owner_of(asking.user_id, command.book)
        for change in command.changes:
            self._load_entries(state, owner, [change.uid])
            entry = self.stored.entries.get((owner, change.uid))
            if entry is None or entry.rev != change.base_rev:
                since = change.base_rev or 0
                own = [
                    key
                    for key, version in self.stored.versions.items()
                    if key[:2] == (owner, change.uid)
                    and key[2] > since
                    and asking.terminal_id in (version.by, *version.same_by)
                ]
                was = None if entry is None else entry.was_rev
                named = [(owner, change.uid, rev) for rev in (since, was) if rev]
                self._load_versions(state, [*named, *sorted(own)[-1:]])
        if command.token is not None:
            try:
                token = read_token(asking, owner, command.token)
            except Refusal:
                return
            self._load_page(state, owner, token.rev)
            revs = {(owner, book.rev) for owner, book in self.stored.books.items()}
            revs |= {(one.owner, one.rev) for one in self.stored.entries.values()}
            revs |= {(one.owner, one.rev) for one in self.stored.versions.values()}
            asked = token.vouched(known_since(asking))
            state.known |= {(owner, rev) for rev in asked} & revs

    def _load_restore(self, state: State, owner: str, command: RestoreBook) -> None:
        page = self._load_page(state, owner, since_of(command))
        for _, uid in page.entries:
            before = [
                key
                for key, version in self.stored.versions.items()
                if key[:2] == (owner, uid)
                and key[2] <= micros(command.at)
                and version.reason is not Reason.LOST
            ]
            self._load_versions(state, sorted(before)[-1:])

    def _load_page(self, state: State, owner: str, since: int) -> Page:
        after = sorted(
            (one.rev, one.uid)
            for one in self.stored.entries.values()
            if one.owner == owner and one.rev > since
        )
        limit = self.limits.page
        page = Page(tuple(after[:limit]), complete=len(after) <= limit)
        state.pages[owner, since] = page
        self._load_entries(state, owner, (uid for _, uid in page.entries))
        return page

    def _load_entries(self, state: State, owner: str, uids: Iterable[str]) -> None:
        keys = [(owner, uid) for uid in uids]
        found = ((key, self.stored.entries.get(key)) for key in keys)
        state.entries.load((key, entry) for key, entry in found if entry is not None)

    def _load_versions(self, state: State, keys: Iterable[tuple[str, str, int]]) -> None:
        found = ((key, self.stored.versions.get(key)) for key in keys)
        state.versions.load((key, version) for key, version in found if version is not None)

    def _commit(self, state: State) -> None:
        for stored, changed in (
            (self.stored.books, state.books.changed),
            (self.stored.entries, state.entries.changed),
            (self.stored.versions, state.versions.changed),
            (self.stored.conflicts, state.conflicts.changed),
        ):
            _take_over(stored, changed)


def _take_over(stored: dict[Any, Any], changed: Mapping[Any, Any]) -> None:
    for key, document in changed.items():
        if document is None:
            stored.pop(key, None)
        else:
            stored[key] = document
