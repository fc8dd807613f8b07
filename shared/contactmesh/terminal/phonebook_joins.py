"""Entries that may be of one person: found, made one, and parted again."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contactmesh.contacts import Card, display_name, find_duplicates, join, merge
from contactmesh.terminal.book_entries import Joined
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.errors import LinkRefused, UnknownJoin
from contactmesh.terminal.join_records import JoinRecord
from contactmesh.terminal.phonebook_file import OWN_CARD, PhonebookFile
from contactmesh.terminal.records import ContactRecord, Records
from contactmesh.terminal.rules.views import CardJson


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two entries that may be of one person, by their contacts' ids."""

    first_id: str
    second_id: str
    score: float
    reasons: tuple[str, ...]


class PhonebookJoins(PhonebookFile):
    """Making one of two entries is an edit and a deletion like any other, so syncs follow it."""

    async def alike(self) -> list[AlikePair]:
        """The owner's entries that may be of one person, the likeliest first."""
        entries = await self._read(lambda records: records.own_entries())
        return await asyncio.to_thread(self._alike, entries)

    def _alike(self, entries: Mapping[str, CardJson]) -> list[AlikePair]:
        ids = {str(card["uid"]): contact_id for contact_id, card in entries.items()}
        cards = [Card.model_validate(card) for card in entries.values()]
        return [
            AlikePair(ids[pair.first.uid], ids[pair.second.uid], pair.score, pair.reasons)
            for pair in find_duplicates(cards, default_region=self._region)
        ]

    async def join(self, first_id: str, second_id: str, at: datetime, join_id: str) -> Applied:
        """Make one of two entries; all of both is kept, and of what differs the first one's.

        The entry that comes of it is the first one, or the second if that is the owner's own card.

        Args:
            first_id: the contact that stays.
            second_id: the contact that goes.
            at: now.
            join_id: what it is to be undone by.

        Raises:
            UnknownContact: there is no such contact.
            NoOwnEntry: a group alone brought one of them.
            LinkRefused: they are two members, or one contact.
        """

        def change(changes: Changes, records: Records) -> None:
            records.joins.forget_old(at)
            first, second = records.own_of(first_id), records.own_of(second_id)
            moved = _moved_link(changes, first, second)
            mine, theirs = Card.model_validate(first.own), Card.model_validate(second.own)
            is_own_card = records.setting(OWN_CARD) == theirs.uid
            stays, goes = (theirs, mine) if is_own_card else (mine, theirs)
            both = join(mine, theirs, default_region=self._region).merge.card or mine
            joined = both.model_copy(update={"uid": stays.uid})
            changes.contacts.delete_own(second_id)
            changes.contacts.write_own(first_id, joined.to_json())
            if moved is not None:
                changes.contacts.link(first_id, moved)
            record = JoinRecord(
                join_id,
                at,
                stays.to_json(),
                goes.to_json(),
                joined.to_json(),
                None if is_own_card else moved,
            )
            records.joins.save(record)

        _, applied = await self._change(change)
        return applied

    async def undo_join(self, join_id: str, at: datetime) -> Applied:
        """Let two entries be again as they were; what was edited since stays with the first.

        Args:
            join_id: which join.
            at: now.

        Raises:
            UnknownJoin: there is none with this id.
        """

        def change(changes: Changes, records: Records) -> None:
            record = records.joins.join(join_id)
            if record is None:
                raise UnknownJoin(
                    "This join cannot be undone: it is unknown, or longer than 30 days ago."
                )
            records.joins.forget(join_id)
            self._part(changes, records, record)

        # By itself: what is refused undoes its whole transaction.
        await self._change(lambda _, records: records.joins.forget_old(at))
        _, applied = await self._change(change)
        return applied

    def _part(self, changes: Changes, records: Records, record: JoinRecord) -> None:
        first = records.own_contact(str(record.first["uid"]))
        member = record.linked_to if changes.contacts.is_shown(record.linked_to) else None
        if first is None:
            changes.contacts.write_own(None, record.first)
        else:
            if member is not None and first.user_id == member:
                changes.contacts.unlink(first.contact_id)
            joined, now = Card.model_validate(record.joined), Card.model_validate(first.own)
            before = Card.model_validate(record.first)
            parted = merge(joined, now, before, default_region=self._region).card or before
            changes.contacts.write_own(first.contact_id, parted.to_json())
        if records.own_contact(str(record.second["uid"])) is None:
            second_id = changes.contacts.write_own(None, record.second)
            if member is not None:
                changes.contacts.link(second_id, member)

    async def joins(self, at: datetime) -> list[Joined]:
        """What can be undone now, the latest first."""

        def change(_: Changes, records: Records) -> list[Joined]:
            records.joins.forget_old(at)
            return [
                Joined(one.join_id, one.joined_at, display_name(Card.model_validate(one.joined)))
                for one in records.joins.joins()
            ]

        joined, _ = await self._change(change)
        return joined


def _moved_link(changes: Changes, first: ContactRecord, second: ContactRecord) -> str | None:
    """The member behind the second, who is to be behind the first."""
    moves = changes.contacts.is_shown(second.user_id)
    if first.contact_id == second.contact_id or (
        moves and changes.contacts.is_shown(first.user_id)
    ):
        raise LinkRefused("These are two members of your groups, or one contact. They stay apart.")
    return second.user_id if moves else None
