"""The phonebook's side of SIM accounts' spaces: what is to be stored, and what is accepted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contactmesh.contacts import Card, digest, display_name
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
    has_fit_uid,
    settled,
    storable,
    that_fit,
)
from contactmesh.terminal.space_choices import AcceptingRecord
from contactmesh.terminal.space_records import GoneEntry, OwnDigests, Space
from contactmesh.terminal.store_pages import NamedEntries, Sent, StorePage, ToStore
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


class PhonebookSpaces(PhonebookFile):
    """What a phonebook has to do with the spaces of SIM accounts.

    What is remembered of a space is what this terminal last stored there or accepted from there:
    so a store sends differences alone, and accepting knows on which side a contact was changed.
    """

    # Storing

    async def name_entries(
        self, space: Space, contact_ids: Iterable[str], with_sims: Collection[str]
    ) -> NamedEntries:
        """Let contacts be private at a carrier, or shared again, before they are stored.

        Args:
            space: where they are to be.
            contact_ids: which contacts.
            with_sims: the carriers at which the user has a SIM.

        Raises:
            UnknownContact: there is none with one of these ids; nothing was changed.
        """
        wanted = tuple(dict.fromkeys(contact_ids))

        def change(_: Changes, records: Records) -> NamedEntries:
            contacts = [records.existing(contact_id) for contact_id in wanted]
            uids = frozenset(contact.uid for contact in contacts if contact.own is not None)
            if space.kind is SpaceKind.PRIVATE:
                records.spaces.make_private(space.carrier_id, uids)
            else:
                records.spaces.share(space.carrier_id, uids, with_sims)
            return NamedEntries(uids, sum(contact.own is None for contact in contacts))

        named, _ = await self._change(change)
        return named

    async def to_store(self, space: Space, uids: Collection[str] | None) -> ToStore:
        """How a space differs from the phonebook, for all contacts or for those named."""

        def query(records: Records) -> ToStore:
            spaces = records.spaces
            shared = space.kind is SpaceKind.SHARED
            return ToStore(
                held=spaces.number_held(space, uids),
                differing=spaces.number_differing(space, uids),
                remembered=spaces.number_remembered(space),
                private=spaces.number_private(uids) if shared else 0,
                without_entry=spaces.number_without_entry() if shared else 0,
                gone=tuple(spaces.gone(space, uids)),
            )

        return await self._read(query)

    async def next_to_store(
        self,
        space: Space,
        uids: Collection[str] | None,
        after: str,
        *,
        limit: int,
        room: int,
    ) -> StorePage:
        """The next entries that differ from what is remembered.

        Args:
            space: where they belong.
            uids: of which contacts; of all if not given.
            after: the uid after which to go on.
            limit: how many at most.
            room: how many bytes their cards may have together.
        """

        def query(records: Records) -> StorePage:
            found = records.spaces.differing(space, after=after, limit=limit, uids=uids)
            number = that_fit((min(room, len(one.card.encode())) for one in found), room)
            entries: list[Sent] = []
            too_large: list[str] = []
            unfit_uid: list[str] = []
            for one in found[:number]:
                card = Card.model_validate_json(one.card)
                sent = Sent(one.uid, card, digest(card), one.card, one.known)
                if not has_fit_uid(one.uid):
                    unfit_uid.append(display_name(card))
                elif not storable(card, len(one.card.encode()), room):
                    too_large.append(display_name(card))
                elif sent.digest != one.remembered:
                    entries.append(sent)
            last = number == len(found) < limit
            return StorePage(
                entries=tuple(entries),
                after=None if last else found[number - 1].uid,
                looked_at=number,
                too_large=tuple(too_large),
                unfit_uid=tuple(unfit_uid),
            )

        return await self._read(query)

    async def send(self, space: Space, page: Sequence[Sent]) -> None:
        """Remember that a page is being stored, in case no reply says what became of it."""

        def change(_: Changes, records: Records) -> None:
            for one in page:
                records.spaces.send(space, one.uid, one.digest)

        await self._change(change)

    async def stored(self, space: Space, page: Sequence[Sent], left_out: Collection[str]) -> int:
        """Remember a page that was stored, but for what the reply says was left out.

        Returns:
            How many contacts left the account's shared space by coming into its private one.
        """
        shared = Space(space.carrier_id, SpaceKind.SHARED)

        def change(_: Changes, records: Records) -> int:
            stored = [one for one in page if one.uid not in left_out]
            for one in stored:
                records.spaces.remember(space, one.uid, one.digest, one.text, stored=True)
            records.spaces.not_stored(space, left_out)
            if space == shared:
                return 0
            uids = [one.uid for one in stored]
            moved = records.spaces.number_there(shared, uids)
            # With the store it left the shared spaces of the user's other accounts as well.
            records.spaces.forget_shared(uids)
            return moved

        moved, _ = await self._change(change)
        return moved

    async def left_space(self, space: Space, uids: Iterable[str]) -> None:
        """Remember nothing of contacts whose removal was stored."""
        await self._change(lambda _, records: records.spaces.forget(space, uids))

    async def gone_from(
        self, space: Space, uids: Collection[str] | None = None
    ) -> tuple[GoneEntry, ...]:
        """What is remembered of a space and does not belong there any more."""
        return tuple(await self._read(lambda records: records.spaces.gone(space, uids)))

    async def knows_space(self, space: Space) -> bool:
        """Whether anything of a space is remembered."""
        return await self._read(lambda records: records.spaces.number_remembered(space) > 0)

    async def learn(self, space: Space, digests: Mapping[str, str]) -> None:
        """Remember those contacts of a space that the phonebook has as they are there.

        What is private here and in a shared space all the same is remembered too, so that it leaves
        it. What another terminal of the user keeps private there is none of this one's business.
        """

        def change(_: Changes, records: Records) -> None:
            for uid, known in digests.items():
                contact = records.own_contact(uid)
                if contact is None or digest(Card.model_validate(contact.own)) != known:
                    continue
                if space.kind is SpaceKind.SHARED or records.spaces.is_private(uid):
                    text = json_text(contact.own)
                    records.spaces.remember(space, uid, known, text, stored=False)

        await self._change(change)

    # Accepting

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
