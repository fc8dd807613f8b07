"""The terminal's phonebook: a local SQLite file that any number of processes may read."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import BinaryIO, Final

from contactmesh.contacts import Card, Damage, digest, is_derived, read_vcards, write_vcards
from contactmesh.contracts.carrier.check import Checked
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.commands import GroupList, Pulled
from contactmesh.terminal.book_entries import Duplicate
from contactmesh.terminal.changes import PULL_INTERVAL, Changes
from contactmesh.terminal.entries import (
    Applied,
    Contact,
    Imported,
    KnownGroup,
    KnownLines,
    KnownMember,
    OpenInvitation,
    OwnCard,
)
from contactmesh.terminal.messages import apply_to, read
from contactmesh.terminal.phonebook_accepting import PhonebookAccepting
from contactmesh.terminal.phonebook_book import PhonebookBook
from contactmesh.terminal.phonebook_joins import PhonebookJoins
from contactmesh.terminal.phonebook_storing import PhonebookStoring
from contactmesh.terminal.records import ContactRecord, Records
from contactmesh.terminal.rules.lines import Question, in_order, question
from contactmesh.terminal.rules.ownership import plain_text
from contactmesh.terminal.rules.spaces import fit_uid
from contactmesh.terminal.rules.views import CardJson
from contactmesh.terminal.updates import Departure, Update

DEFAULT_PULL_INTERVAL: Final = 900
"""Seconds between pulls until the service has said what the terminal chose."""

_IMPORT_BATCH: Final = 100


class Phonebook(PhonebookStoring, PhonebookAccepting, PhonebookBook, PhonebookJoins):
    """One terminal's phonebook; an async context manager.

    Every change is one transaction. SQLite's calls run on a thread of their own, and another
    process may read the same file meanwhile.

    Args:
        path: the SQLite file; it is made if it is not there.
        user_id: whose phonebook it is.
        region: the country (ISO 3166) of numbers without a country code, the same each time.
    """

    # Reading

    async def contacts(self, search: str | None = None) -> list[Contact]:
        """The contacts, sorted by name (by `sortAs`, where a card has it).

        Args:
            search: show only those whose name, nickname, phone, e-mail, organisation, title, note
                or keyword holds this text; width and case do not count.
        """
        text = sought(search or "")

        def query(records: Records) -> list[Contact]:
            showing = records.groups_showing()
            return [
                _contact(contact, showing.get(contact.user_id or "", ()))
                for contact in records.contacts(text)
                if contact.shown
            ]

        return await self._read(query)

    async def contact(self, contact_id: str) -> Contact:
        """One contact.

        Raises:
            UnknownContact: there is none with this id.
        """

        def query(records: Records) -> Contact:
            contact = records.existing(contact_id)
            user_id = contact.user_id or ""
            return _contact(contact, records.groups_showing(user_id).get(user_id, ()))

        return await self._read(query)

    async def contact_of(self, user_id: str) -> Contact | None:
        """The contact behind which a member is, none if no common group shows a card of theirs."""

        def query(records: Records) -> Contact | None:
            contact = records.contact_of(user_id)
            groups = records.groups_showing(user_id).get(user_id, ())
            return None if contact is None or not groups else _contact(contact, groups)

        return await self._read(query)

    async def duplicates(self) -> list[Duplicate]:
        """The owner's entries that may be of one person, the likeliest first."""
        return [
            Duplicate(
                await self.contact(pair.first_id),
                await self.contact(pair.second_id),
                pair.score,
                pair.reasons,
            )
            for pair in await self.alike()
        ]

    async def groups(self) -> list[KnownGroup]:
        """The groups that the user is in, as far as this terminal knows."""

        def query(records: Records) -> list[KnownGroup]:
            return [
                KnownGroup(group.group_id, group.name, group.owner_id) for group in records.groups()
            ]

        return await self._read(query)

    async def members(self, group_id: str) -> list[KnownMember]:
        """The other members of a group, as far as this terminal knows."""

        def query(records: Records) -> list[KnownMember]:
            return [
                KnownMember(
                    view.user_id,
                    view.role,
                    None if view.card is None else Card.model_validate(view.card),
                )
                for view in records.views_in_group(group_id)
                if view.active and view.user_id != self._user_id
            ]

        return await self._read(query)

    async def invitations(self) -> list[OpenInvitation]:
        """The invitations that wait for the user's answer, as far as this terminal knows."""

        def query(records: Records) -> list[OpenInvitation]:
            return [
                OpenInvitation(
                    invitation_id=invitation.invitation_id,
                    group_id=invitation.group_id,
                    group_name=invitation.group_name,
                    inviter_id=invitation.inviter_id,
                    expires_at=datetime.fromisoformat(invitation.expires_at),
                )
                for invitation in records.open_invitations()
                if invitation.expires_at is not None
            ]

        return await self._read(query)

    async def own_cards(self) -> list[OwnCard]:
        """The user's own card as each group has it; `rev` is what the next publish builds on."""

        def query(records: Records) -> list[OwnCard]:
            published = ((group, records.own_card(group.group_id)) for group in records.groups())
            return [
                OwnCard(group.group_id, own[0], Card.model_validate(own[1]))
                for group, own in published
                if own is not None
            ]

        return await self._read(query)

    async def own_part(self, contact_id: str) -> Card | None:
        """The owner's part of a contact, none if a group alone brought it.

        Raises:
            UnknownContact: there is none with this id.
        """

        def query(records: Records) -> Card | None:
            contact = records.existing(contact_id)
            return None if contact.own is None else Card.model_validate(contact.own)

        return await self._read(query)

    async def lines(self, contact_id: str) -> KnownLines:
        """What the carrier registry last told of a contact's numbers.

        Raises:
            UnknownContact: there is none with this id.
        """

        def query(records: Records) -> KnownLines:
            contact = records.existing(contact_id)
            told = None if contact.user_id is None else records.lines.of(contact.user_id)
            if told is None:
                return KnownLines(contact.user_id)
            return KnownLines(contact.user_id, told.lines, told.checked_at)

        return await self._read(query)

    async def question(self, contact_id: str) -> Question:
        """What the phonebook knows of a contact's numbers, for the registry to compare.

        Raises:
            UnknownContact: there is none with this id.
        """

        def query(records: Records) -> Question:
            contact = records.existing(contact_id)
            told = None if contact.user_id is None else records.lines.of(contact.user_id)
            lines, doubted = ((), False) if told is None else (told.lines, told.doubted)
            return question(contact.shown, lines, self._region, doubted=doubted)

        return await self._read(query)

    async def pull_interval(self) -> int:
        """How often the terminal pulls, in seconds."""
        stored = await self._read(lambda records: records.setting(PULL_INTERVAL))
        return DEFAULT_PULL_INTERVAL if stored is None else int(stored)

    async def cursor(self, group_id: str) -> str | None:
        """Where the next pull of a group goes on, none for the beginning."""

        def query(records: Records) -> str | None:
            group = records.group(group_id)
            return None if group is None else group.cursor

        return await self._read(query)

    # What the owner does

    async def import_cards(
        self,
        source: BinaryIO | bytes,
        *,
        file_name: str = "-",
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Imported, Applied]:
        """Take the cards of a vCard file over as entries of the owner's.

        A card whose uid an entry has replaces that entry, so importing a file again makes no
        duplicates. A card without a uid is the entry that says the same, or has one derived from
        its contents (RFC 9555, section 2.1.1). A new entry that matches a member is linked to them.
        A uid that the book does not take is replaced by one that is derived from it.
        A damaged card is reported, and the others are taken.

        Args:
            source: the file, opened in binary mode, or its bytes; versions 2.1, 3.0 and 4.0.
            file_name: the name to give in damages.
            progress: called with the number of cards done so far, after every 100.
        """
        items = read_vcards(source, file_name=file_name, default_region=self._region)
        outcomes: Counter[str] = Counter()
        damages: list[Damage] = []
        updates: list[Update] = []
        more = True

        def batch(changes: Changes, records: Records) -> bool:
            # Read here, on the database's thread: parsing would hold up the event loop.
            taken = list(islice(items, _IMPORT_BATCH))
            for item in taken:
                if isinstance(item, Damage):
                    damages.append(item)
                else:
                    outcomes[_import(changes, records, item.to_json())] += 1
            return bool(taken)

        while more:
            more, applied = await self._change(batch)
            updates.extend(applied.updates)
            if progress is not None and more:
                progress(outcomes.total())
        imported = Imported(
            added=outcomes["added"],
            updated=outcomes["updated"],
            unchanged=outcomes["unchanged"],
            damages=tuple(damages),
        )
        return imported, Applied(tuple(updates), ())

    async def export_cards(self, contact_ids: Iterable[str] | None = None) -> bytes:
        """The contacts as they are shown, as one vCard 4.0 file (RFC 6350).

        Args:
            contact_ids: which ones; all of them if not given.

        Raises:
            UnknownContact: there is none with one of these ids.
        """
        if contact_ids is None:
            contacts = await self.contacts()
        else:
            contacts = [await self.contact(contact_id) for contact_id in contact_ids]
        return await asyncio.to_thread(
            lambda: b"".join(write_vcards(contact.card for contact in contacts))
        )

    async def write_own(self, contact_id: str, own: Card) -> Applied:
        """Write the owner's part of a contact: notes, nicknames, keywords, entries of their own.

        A label or preference on an entry with the member's value is put on the member's entry.

        Raises:
            UnknownContact: there is none with this id.
        """
        card = own.to_json()
        _, applied = await self._change(
            lambda changes, _: changes.contacts.write_own(contact_id, card)
        )
        return applied

    async def delete_own(self, contact_id: str) -> Applied:
        """Delete the owner's entry; where a member is behind it, what groups show of them stays.

        Raises:
            UnknownContact: there is none with this id.
            NoOwnEntry: a group alone brought the contact.
        """
        _, applied = await self._change(lambda changes, _: changes.contacts.delete_own(contact_id))
        return applied

    async def link(self, contact_id: str, user_id: str) -> Applied:
        """Say that a contact of the owner's is a member.

        Raises:
            UnknownContact: there is no such contact.
            LinkRefused: no group shows this member's card, or the contact is another member's.
        """
        _, applied = await self._change(
            lambda changes, _: changes.contacts.link(contact_id, user_id)
        )
        return applied

    async def unlink(self, contact_id: str) -> Applied:
        """Part a contact of the owner's from its member, who becomes a contact of their own.

        Raises:
            UnknownContact: there is no such contact.
            LinkRefused: the contact is not linked, or a group alone brought it.
        """
        _, applied = await self._change(lambda changes, _: changes.contacts.unlink(contact_id))
        return applied

    # What the service says

    async def apply(self, messages: Sequence[Envelope]) -> Applied:
        """Apply what was pushed, in one transaction. Late and repeated messages change nothing.

        A message that cannot be read is logged, without what it says, and given as
        `UnreadableUpdate`; the others are applied.
        """
        readable = [read(message) for message in messages]

        def change(changes: Changes, _: Records) -> None:
            for message in readable:
                apply_to(changes, message)

        _, applied = await self._change(change)
        return applied

    async def apply_check(
        self, contact_id: str, answer: Checked, asked: Question, at: datetime
    ) -> Applied:
        """Apply what the registry answered to a check, in one transaction.

        Args:
            contact_id: the contact.
            answer: the answer.
            asked: what was asked; see `question`.
            at: when it was answered.

        Raises:
            UnknownContact: there is none with this id.
        """
        _, applied = await self._change(
            lambda changes, _: changes.checked(contact_id, answer, asked, at)
        )
        return applied

    async def doubt_references(self, contact_id: str) -> None:
        """Ask about a contact by numbers alone from now on, until the registry has answered.

        Raises:
            UnknownContact: there is none with this id.
        """

        def change(_: Changes, records: Records) -> None:
            user_id = records.existing(contact_id).user_id
            if user_id is not None:
                records.lines.doubt(user_id)

        await self._change(change)

    async def reorder_lines(self, contact_id: str, order: Sequence[RegistrationRef]) -> None:
        """Keep the user's own dial order of a contact's numbers; empty for the contact's again.

        Raises:
            UnknownContact: there is none with this id.
        """

        def change(_: Changes, records: Records) -> None:
            user_id = records.existing(contact_id).user_id
            told = None if user_id is None else records.lines.of(user_id)
            if user_id is not None and told is not None:
                records.lines.reorder(user_id, in_order(told.lines, order))

        await self._change(change)

    async def apply_listing(
        self, listing: GroupList, *, known: Iterable[str], open_before: Iterable[str]
    ) -> Applied:
        """Apply the list of the user's groups and invitations.

        Args:
            listing: the service's answer.
            known: the groups that were known when it was asked for.
            open_before: the invitations that were open when it was asked for.
        """
        _, applied = await self._change(
            lambda changes, _: changes.listed(listing, known, open_before)
        )
        return applied

    async def apply_page(self, page: Pulled, since: str | None) -> Applied:
        """Apply a pulled page together with its cursor, in one transaction."""
        _, applied = await self._change(lambda changes, _: changes.pulled(page, since))
        return applied

    async def begin_full_pull(self, group_id: str) -> None:
        """Forget a group's cursor: what the next pages do not bring is gone."""
        await self._change(lambda changes, _: changes.begin_full_pull(group_id))

    async def drop_group(self, group_id: str, reason: Departure) -> Applied:
        """The user is not in a group any more."""
        _, applied = await self._change(lambda changes, _: changes.drop_group(group_id, reason))
        return applied

    async def invitation_answered(self, invitation_id: str, outcome: str) -> Applied:
        """The user accepted or declined an invitation on this terminal."""
        _, applied = await self._change(lambda changes, _: changes.answered(invitation_id, outcome))
        return applied

    async def published(self, group_id: str, rev: int, card: Card) -> None:
        """This terminal published the user's own card to a group, which is at `rev` now."""
        await self._change(lambda changes, _: changes.published(group_id, rev, card.to_json()))

    async def save_pull_interval(self, seconds: int) -> None:
        """Keep how often the terminal pulls."""
        await self._change(lambda _, records: records.save_setting(PULL_INTERVAL, str(seconds)))


def sought(text: str) -> str:
    """A text to search for. In what looks like a phone number, only the digits count."""
    plain = plain_text(text)
    digits = "".join(filter(str.isdigit, plain))
    return digits if digits and not set(plain) - set("0123456789 +-()./") else plain


def _contact(record: ContactRecord, groups: Sequence[str]) -> Contact:
    return Contact(
        contact_id=record.contact_id,
        display_name=record.display_name,
        card=Card.model_validate(record.shown),
        user_id=record.user_id if groups else None,
        groups=tuple(groups),
        own=record.own is not None,
    )


def _import(changes: Changes, records: Records, card: CardJson) -> str:
    uid = fit_uid(str(card["uid"]))
    card = {**card, "uid": uid}
    known = records.own_contact(uid)
    if known is None and is_derived(uid) and records.book.alike(digest(Card.model_validate(card))):
        # It came before, and was found in the book under the uid that it has there.
        return "unchanged"
    if known is None:
        changes.contacts.write_own(None, card)
        return "added"
    if known.own == card:
        return "unchanged"
    changes.contacts.write_own(known.contact_id, card)
    return "updated"
