"""What the server says of the owner's address book, laid over the phonebook in one transaction."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from contactmesh.contacts import Card, digest, display_name
from contactmesh.contracts.contact import ContactUpdate
from contactmesh.contracts.sync.records import BookEntry, ChangeResult, ListedEntry, Outcome
from contactmesh.terminal.book_records import MarkedEntry
from contactmesh.terminal.contact_changes import ContactChanges
from contactmesh.terminal.reading import unreadable
from contactmesh.terminal.records import Records
from contactmesh.terminal.rules.arriving import Came
from contactmesh.terminal.rules.full_sync import Listed, Plan, after_loss, compare
from contactmesh.terminal.rules.syncing import (
    UNREADABLE,
    Became,
    Known,
    SentChange,
    after_news,
    after_result,
)
from contactmesh.terminal.updates import UnreadableUpdate, Update

News: TypeAlias = BookEntry | ListedEntry | ContactUpdate
"""What the server tells of an entry; without a card it was deleted."""


class BookChanges:
    """Changes to the owner's entries that a sync makes.

    Args:
        records: the phonebook's rows.
        contacts: changes to single contacts.
        updates: takes what really changed.

    Attributes:
        came: what became here as the server told it, without being the result of a change here.
    """

    def __init__(self, records: Records, contacts: ContactChanges, updates: list[Update]) -> None:
        self._records = records
        self._contacts = contacts
        self._updates = updates
        self.came: list[Came] = []

    def result(self, sent: MarkedEntry, result: ChangeResult) -> None:
        """What became of a change that this terminal sent."""
        if self._stands(sent, result):
            self._records.book.told(sent.uid, Known(result.rev, sent.own))
            return
        own = self._own(sent.uid)
        card = None if sent.card is None else Card.model_validate_json(sent.card)
        try:
            became = after_result(SentChange(sent.known, card), result, own)
        except ValidationError:
            became = Became(sent.known, own, UNREADABLE)
            self._records.book.unread(sent.uid, result.rev or 0)
        if result.erased:
            self._records.joins.forget_of(sent.uid)
        self._become(sent.uid, own, became)

    def _stands(self, sent: MarkedEntry, result: ChangeResult) -> bool:
        """Whether an entry is the same here, there and as it was sent: no card has to be read."""
        taken = result.outcome in (Outcome.APPLIED, Outcome.SAME)
        same_there = taken and result.card is None and not result.deleted
        return same_there and sent.own is not None and self._records.book.own(sent.uid) == sent.own

    def news(self, entry: News) -> bool:
        """What the server tells of an entry, asked or not.

        Returns:
            Whether anything changed here.
        """
        try:
            card = _card(entry.uid, entry.card)
        except ValidationError as error:
            self._updates.append(
                UnreadableUpdate(type=entry.TYPE, message_id=None, reason=unreadable(error))
            )
            self._records.book.unread(entry.uid, entry.rev)
            return False
        self._records.book.readable(entry.uid)
        if entry.erased:
            self._records.joins.forget_of(entry.uid)
        if entry.rev == 0:
            # It was asked for.
            self._records.book.never_was(entry.uid)
            return False
        known, own = self._records.book.known(entry.uid), self._own(entry.uid)
        if own is None and card is not None and known == Known():
            alike = self._records.book.never_synced(digest(card))
            if alike is not None:
                self._adopt(alike, entry.uid)
                own = self._own(entry.uid)
        if card is not None and known == Known():
            # Of what two terminals made under one uid, only what is one person's is joined.
            own = None if self._contacts.set_apart(entry.uid, card.to_json()) else own
        became = after_news(known, own, entry.rev, card)
        if became is None:
            self._records.book.passed_over(entry.uid, entry.rev)
        if became is None or not self._become(entry.uid, own, became):
            return False
        self.came.append(Came(entry.uid, _name(own), _name(became.own)))
        return True

    def listed(self, listed: Mapping[str, Listed], since: int, *, restored: bool) -> Plan:
        """A whole listing of the book; what is to be fetched, and is in doubt, is left to do."""
        plan = compare(self._records.book.entries(), listed, since, restored=restored)
        for uid, theirs in plan.adopt.items():
            self._adopt(uid, theirs)
        for uid in plan.delete:
            self.came.append(Came(uid, _name(self._own(uid)), None))
            self.delete(uid)
        for uid, known in plan.known.items():
            self._records.book.told(uid, known)
        self._records.book.forget(plan.forget)
        for uid, entry in listed.items():
            self._records.book.passed_over(uid, entry.rev)
            if entry.erased:
                self._records.joins.forget_of(uid)
        return plan

    def lost(self, listed: Mapping[str, Listed]) -> None:
        """Entries stand on the server as they are listed, and what is here was lost there."""
        here = self._records.book.entries()
        for uid, entry in listed.items():
            if uid in here:
                self._records.book.told(uid, after_loss(here[uid], entry))

    def _own(self, uid: str) -> Card | None:
        contact = self._records.own_contact(uid)
        return None if contact is None else Card.model_validate(contact.own)

    def _become(self, uid: str, before: Card | None, became: Became) -> bool:
        changed = _differ(before, became.own)
        if changed and became.own is None:
            self.delete(uid)
        elif changed and became.own is not None:
            contact = self._records.own_contact(uid)
            self._contacts.write_own(
                None if contact is None else contact.contact_id, became.own.to_json()
            )
        self._records.book.told(uid, became.known, became.problem)
        return changed

    def delete(self, uid: str) -> bool:
        """An entry is deleted, if it is here; whether it was."""
        contact = self._records.own_contact(uid)
        if contact is not None:
            self._contacts.delete_own(contact.contact_id)
        return contact is not None

    def _adopt(self, uid: str, theirs: str) -> None:
        """An entry that was never synced is the server's, which has another uid."""
        self._contacts.give_uid(uid, theirs)


def _card(uid: str, card: Mapping[str, Any] | None) -> Card | None:
    return None if card is None else Card.model_validate({**card, "uid": uid})


def _name(card: Card | None) -> str | None:
    return None if card is None else display_name(card)


def _differ(before: Card | None, after: Card | None) -> bool:
    if before is None or after is None:
        return before is not after
    return digest(before) != digest(after)
