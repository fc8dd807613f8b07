"""The phonebook's side of storing in SIM accounts' spaces: what differs, and what is there."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from contactmesh.contacts import Card, digest, display_name
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.database import json_text
from contactmesh.terminal.phonebook_file import PhonebookFile
from contactmesh.terminal.records import Records
from contactmesh.terminal.rules.spaces import (
    has_fit_uid,
    storable,
    that_fit,
)
from contactmesh.terminal.space_memory import Space
from contactmesh.terminal.space_records import GoneEntry
from contactmesh.terminal.store_pages import NamedEntries, Sent, StorePage, ToStore


class PhonebookStoring(PhonebookFile):
    """What a phonebook has to store in the spaces of SIM accounts.

    What is remembered of a space is what this terminal last stored there or accepted from there: so
    a store sends differences alone.
    """

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
