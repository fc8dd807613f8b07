"""Writing in a book: every new state of an entry is written here, whoever it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from contactmesh.contacts import changed_fields
from contactmesh.contracts.contact import ContactChanged, Operation, Origin, Scope
from contactmesh.contracts.sync.records import Reason
from contactmesh.deciding.decision import Told
from sync_service.domain.contents import Clash, Made, card_of, digest_of
from sync_service.domain.documents import (
    Book,
    ConflictDocument,
    Contents,
    Entry,
    Stamp,
    Version,
)
from sync_service.domain.state import Asking, State
from sync_service.domain.times import recent, span, stamped

SERVICE: Final = "sync_service"
DAY: Final = timedelta(days=1)


def told_of(entry: Entry, *, own_card: bool) -> Told:
    """The event that tells what an entry says."""
    changed = ContactChanged(
        scope=Scope.BOOK,
        owner_id=entry.user_id,
        uid=entry.uid,
        rev=entry.rev,
        op=Operation.DELETED if entry.deleted else Operation.MODIFIED,
        card=entry.card,
        changed_fields=entry.changed_fields,
        origin=Origin(service=SERVICE, terminal_id=entry.by),
        book=entry.book,
        own_card=own_card,
        erased=entry.erased,
    )
    return Told(changed, entry.user_id, entry.rev)


class Writing:
    """One command's writing in one book. The book is put by whoever writes, at the end.

    Attributes:
        book: the book as it is by now.
        told: the events of what was written.
    """

    def __init__(self, state: State, asking: Asking, book: Book) -> None:
        self._state = state
        self._asking = asking
        self.book = book
        self.told: list[Told] = []

    def write(self, before: Entry | None, uid: str, made: Made) -> Entry:
        """Give an entry new contents, or delete it; what stood goes into the history."""
        if before is not None:
            self._keep(before)
        old = None if before is None else card_of(before.card)
        entry = self._put(uid, made, changed_fields(old, made.card))
        if before is not None:
            entry = replace(entry, erased_rev=before.erased_rev)
        if before is None or before.deleted:
            entry = replace(entry, made=made.card is not None)
        elif made.card is None:
            entry = replace(entry, was_rev=before.rev, was_digest=before.digest)
        self._state.put_entry(entry)
        self._count(before, entry)
        self._tell(entry)
        return entry

    def renew(self, before: Entry, card: Contents | None) -> Entry:
        """Let an entry say what it said before, or be deleted, as of now."""
        new, old = card_of(card), card_of(before.card)
        digest = digest_of(new)
        if digest == before.digest:
            return before
        terminal_id = self._asking.terminal_id
        at = max(self._asking.received, before.updated_at + 1)
        times: Mapping[str, Stamp] = {}
        if new is not None:
            paths = ("",) if old is None else changed_fields(old, new)
            times = stamped(before.times, paths, before.times, at=at, terminal_id=terminal_id)
        return self.write(before, before.uid, Made(new, at, times, known=digest))

    def erase(self, before: Entry) -> None:
        """Leave nothing of an entry but that it was erased, and tell so of a deleted one too."""
        for version in self._state.versions.of(before.owner, before.uid):
            self._state.versions.drop(version.key)
            self._leave_revision(version)
        if before.erased:
            return
        self._leave_revision(self._version(before))
        entry = self._put(before.uid, Made(None, self._asking.received), ())
        entry = replace(entry, erased_rev=entry.rev)
        self._state.put_entry(entry)
        self._count(before, entry)
        self._tell(entry)

    def lose(self, uid: str, made: Made) -> Version:
        """Keep what was sent and does not stand."""
        asking, book = self._asking, self.book
        version = Version(
            user_id=book.user_id,
            book=book.book,
            uid=uid,
            rev=self._next_rev(),
            reason=Reason.LOST,
            updated_at=made.updated_at,
            at=asking.received,
            by=asking.terminal_id,
            digest=made.digest,
            # The book may stand at this revision for a day before `stood` takes note of it.
            expires_at=asking.now + asking.limits.kept + DAY,
            card=made.contents,
            times=made.times,
            sent=made.sent,
        )
        self._state.versions.put(version.key, version)
        return version

    def dispute(self, stands: Entry, clashes: Sequence[Clash], name: str, sent_rev: int) -> None:
        """Lay the conflicts of one change before the book's owner.

        Args:
            stands: the entry after the change.
            clashes: what lost.
            name: the contact's name.
            sent_rev: the version that holds what was sent, where that has lost.
        """
        for number, clash in enumerate(clashes):
            conflict = ConflictDocument(
                user_id=self.book.user_id,
                book=self.book.book,
                conflict_id=str(UUID(int=self.book.rev << 64 | number)),
                kind=clash.kind,
                uid=stands.uid,
                name=name,
                rev=stands.rev,
                at=self._asking.received,
                lost_rev=sent_rev if clash.lost_rev is None else clash.lost_rev,
                lost_by=clash.lost_by,
                expires_at=self._asking.now + self._asking.limits.kept,
                path=clash.path,
                kept=clash.kept,
                lost=clash.lost,
            )
            self._state.conflicts.put(conflict.key, conflict)

    def _put(self, uid: str, made: Made, changed: tuple[str, ...]) -> Entry:
        asking = self._asking
        entry = Entry(
            user_id=self.book.user_id,
            book=self.book.book,
            uid=uid,
            rev=self._next_rev(),
            updated_at=made.updated_at,
            at=asking.received,
            by=asking.terminal_id,
            digest=made.digest,
            card=made.contents,
            times=recent(made.times, since=asking.received - span(asking.limits.kept)),
            sent=made.sent,
            changed_fields=changed,
            deleted_at=asking.now if made.card is None else None,
        )
        self._state.put_entry(entry)
        return entry

    def _count(self, before: Entry | None, after: Entry) -> None:
        number = (not after.deleted) - (before is not None and not before.deleted)
        self.book = replace(self.book, entries=self.book.entries + number)

    def _next_rev(self) -> int:
        book, received = self.book, self._asking.received
        stood = book.stood
        if book.rev and received - book.rev >= span(DAY):
            since = received - span(self._asking.limits.kept)
            stood = (*(one for one in stood if one[1] >= since), (book.rev, received))
        rev = max(received, book.rev + 1)
        self.book = replace(book, rev=rev, first_rev=book.first_rev or rev, stood=stood)
        return rev

    def _leave_revision(self, version: Version) -> None:
        left = version.erased()
        self._state.versions.put(left.key, left)

    def _keep(self, before: Entry) -> None:
        version = self._version(before)
        self._state.versions.put(version.key, version)

    def _version(self, before: Entry) -> Version:
        return Version(
            user_id=before.user_id,
            book=before.book,
            uid=before.uid,
            rev=before.rev,
            reason=Reason.REPLACED,
            updated_at=before.updated_at,
            at=before.at,
            by=before.by,
            digest=before.digest,
            expires_at=self._asking.now + self._asking.limits.kept,
            card=before.card,
            times=before.times,
            sent=before.sent,
            same_by=before.same_by,
            changed_fields=before.changed_fields,
            made=before.made,
        )

    def _tell(self, entry: Entry) -> None:
        own_card = entry.uid == self.book.own_card_uid
        self.told.append(told_of(entry, own_card=own_card))
