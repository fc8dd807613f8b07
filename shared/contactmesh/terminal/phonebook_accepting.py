"""The phonebook's side of what waits for SIMs: what accepting does, and doing it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contactmesh.contacts import Card, digest
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.database import json_text
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.phonebook_file import PhonebookFile
from contactmesh.terminal.records import ContactRecord, Records
from contactmesh.terminal.rules.spaces import (
    Origin,
    Overwritten,
    PendingChange,
    PendingContact,
    Settled,
    settled,
)
from contactmesh.terminal.space_choices import AcceptingRecord
from contactmesh.terminal.space_memory import OwnDigests, Space
from contactmesh.terminal.updates import ContactUpdated, Update


class Waiting(NamedTuple):
    """A contact that waits.

    Attributes:
        uid: its uid.
        card: its contents, none for a removal.
        over: the digest of what they were made of, empty for nothing; none if it is not known.
    """

    uid: str
    card: Card | None
    over: str | None = None

    @property
    def digest(self) -> str:
        """What a space holds with it; empty for nothing."""
        return "" if self.card is None else digest(self.card)


class PhonebookAccepting(PhonebookFile):
    """What a phonebook takes over from the spaces of SIM accounts.

    What is remembered of a space is what this terminal last stored there or accepted from there: so
    accepting knows on which side a contact was changed.
    """

    async def preview(self, carrier_id: str, waiting: Sequence[Waiting]) -> list[PendingContact]:
        """What accepting contacts of a carrier's shared space would do."""
        space = Space(carrier_id, SpaceKind.SHARED)

        def query(records: Records) -> list[PendingContact]:
            return [self._settled(records, space, one)[1].contact for one in waiting]

        return await self._read(query)

    async def declined(self, carrier_id: str, waiting: Iterable[Waiting]) -> None:
        """Remember what a carrier's shared space holds of what was declined, and nothing else."""
        space = Space(carrier_id, SpaceKind.SHARED)

        def change(_: Changes, records: Records) -> None:
            for one in waiting:
                records.spaces.declined(space, one.uid, one.digest)

        await self._change(change)

    async def accept(
        self, carrier_id: str, waiting: Sequence[Waiting]
    ) -> tuple[list[Settled], Applied]:
        """Accept contacts of a carrier's shared space, and remember them, in one transaction."""
        space = Space(carrier_id, SpaceKind.SHARED)
        lost: dict[str, tuple[Overwritten, ...]] = {}

        def change(changes: Changes, records: Records) -> list[Settled]:
            results = []
            for one in waiting:
                contact, result = self._accept(changes, records, space, one)
                if contact is not None:
                    lost[contact.contact_id] = result.overwritten
                results.append(result)
            return results

        results, applied = await self._change(change)
        updates = tuple(_told_of(update, lost) for update in applied.updates)
        return results, replace(applied, updates=updates)

    def _accept(
        self, changes: Changes, records: Records, space: Space, waiting: Waiting
    ) -> tuple[ContactRecord | None, Settled]:
        contact, result = self._settled(records, space, waiting)
        if result.contact.change is not PendingChange.SAME and not result.kept:
            if result.own is not None:
                known = None if contact is None else contact.contact_id
                changes.contacts.write_own(known, result.own.to_json())
            elif contact is not None:
                changes.contacts.delete_own(contact.contact_id)
        if waiting.card is None:
            records.spaces.forget(space, (waiting.uid,))
        else:
            card = json_text(waiting.card.to_json())
            records.spaces.remember(space, waiting.uid, waiting.digest, card, stored=False)
        return contact, result

    def _settled(
        self, records: Records, space: Space, waiting: Waiting
    ) -> tuple[ContactRecord | None, Settled]:
        contact = records.own_contact(waiting.uid)
        mine = None if contact is None else Card.model_validate(contact.own)
        known = records.spaces.remembered(space, waiting.uid)
        base = None if known.base is None else Card.model_validate(known.base)
        origin = Origin(
            over=waiting.over,
            stored=known.stored,
            earlier=None if known.earlier is None else Card.model_validate(known.earlier),
            ours=_ours(waiting, records.spaces.own_digests(waiting.uid), mine, base),
        )
        result = settled(
            waiting.uid,
            waiting.card,
            mine,
            base,
            origin=origin,
            private=records.spaces.is_private(waiting.uid),
            region=self._region,
        )
        return contact, result

    async def number_own(self) -> int:
        """How many entries the owner has."""
        return await self._read(lambda records: records.spaces.number_own())

    # Accepting by itself

    async def accepting(self) -> dict[str, AcceptingRecord]:
        """The SIMs for which what waits is accepted by itself."""
        return await self._read(lambda records: records.spaces.accepting())

    async def save_accepting(self, sim_id: str, record: AcceptingRecord | None) -> None:
        """Accept by itself what waits for a SIM from now on, or no longer."""
        await self._change(lambda _, records: records.spaces.save_accepting(sim_id, record))

    async def count_removed(self, sim_id: str, record: AcceptingRecord) -> None:
        """Keep how many entries were deleted, if what waits is accepted by itself still."""
        await self._change(lambda _, records: records.spaces.count_removed(sim_id, record))


def _ours(waiting: Waiting, own: OwnDigests, mine: Card | None, base: Card | None) -> bool:
    """Whether what waits is what this terminal had before; made of what it has now, it is newer."""
    now = {digest(card) for card in (mine, base) if card is not None}
    return waiting.digest in own.stored or (waiting.digest in own.known and waiting.over not in now)


def _told_of(update: Update, lost: Mapping[str, tuple[Overwritten, ...]]) -> Update:
    """The update with the values that were lost, for whoever has not asked to accept."""
    if isinstance(update, ContactUpdated) and lost.get(update.contact_id):
        return replace(update, overwritten=lost[update.contact_id])
    return update
