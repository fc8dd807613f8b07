"""Loading what a batch looks at, in as few round trips as it needs, and writing what it changed."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from carrier_registry_service.domain.access import NOTHING, Membership
from carrier_registry_service.domain.state import State
from carrier_registry_service.repository import mapping
from carrier_registry_service.repository.keeping import Keeping
from carrier_registry_service.repository.mapping import join_key
from carrier_registry_service.repository.memberships import Memberships, StandingBlocks
from carrier_registry_service.wanted import Wanted
from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Addition, Document, Write


class Loading:
    """Loads the documents that a batch looks at."""

    def __init__(self, database: Database) -> None:
        self._keeping = Keeping(database)
        self._records = database.collection(mapping.RECORDS)
        self._issued = database.collection(mapping.ISSUED)
        self._holders = database.collection(mapping.HOLDERS)
        self._grants = database.collection(mapping.GRANTS)
        self._budgets = database.collection(mapping.BUDGETS)
        self._asked = database.collection(mapping.ASKED)
        self._dial_orders = database.collection(mapping.DIAL_ORDERS)
        self._memberships = Memberships(database)
        self._standing_blocks = StandingBlocks(database)

    async def load(self, want: Wanted) -> State:
        """Load what is wanted.

        Budgets and counts come before what was counted in them, and sequence numbers and a
        number's holders before the records that they lead to: whatever another process commits
        meanwhile, an `etag` is then outdated when this batch commits.

        Who may look is found out from the viewer's side, and records are loaded for those alone who
        may: what is loaded is the same for a person who blocks, who does not know the viewer, and
        who does not exist.
        """
        state = State()
        await self._load_kept(want, state)
        fed, groups, everywhere, somewhere, _, _ = await asyncio.gather(
            self._load_fed(want, state),
            self._memberships.of(sorted({viewer for _, viewer in want.looks})),
            self._standing_blocks.among(want.looks),
            self._memberships.blocks_among(want.looks),
            self._load_grants(want, state),
            self._load_budgets(want, state),
        )
        state.blocked = everywhere | somewhere
        await asyncio.gather(self._load_shared(want, groups, state), self._load_asked(want, state))
        allowed = {
            pair for pair in want.looks if pair in want.granted or state.access(*pair) != NOTHING
        }
        await asyncio.gather(
            self._load_records(want.identities | fed | {owner for owner, _ in allowed}, state),
            self._load_dial_orders(allowed, state),
        )
        return state

    async def _load_fed(self, want: Wanted, state: State) -> set[str]:
        """Load what is known of fed sequence numbers and numbers; gives whose they are."""
        _, losers = await asyncio.gather(
            self._load_issued(want, state), self._load_holders(want, state)
        )
        return losers | {one.identity_id for one in state.issued if one.identity_id is not None}

    async def _load_issued(self, want: Wanted, state: State) -> None:
        found = await self._issued.get_many([str(ref) for ref in sorted(want.refs)])
        state.issued.load((one.ref, one) for one in map(mapping.issued, found.values()))

    async def _load_holders(self, want: Wanted, state: State) -> set[str]:
        """Load who has had the numbers that begin, and tell who may lose them.

        That is whoever had a number just before: who had it earlier lost it to them.
        """
        keys = {join_key(one.ref.carrier_id, msisdn) for msisdn, one in want.begins}
        found = map(mapping.holders, (await self._holders.get_many(sorted(keys))).values())
        state.holders.load(((one.carrier_id, one.msisdn), one) for one in found)
        before = (
            state.holders_of(one.ref.carrier_id, msisdn).before(one) for msisdn, one in want.begins
        )
        return {one.identity_id for one in before if one is not None}

    async def _load_records(self, identity_ids: Iterable[str], state: State) -> None:
        found = await self._records.get_many(sorted(identity_ids))
        state.records.load((id_, mapping.record(document)) for id_, document in found.items())

    async def _load_grants(self, want: Wanted, state: State) -> None:
        found = await self._grants.get_many(
            [join_key(*pair) for pair in sorted(want.looks | want.granted)]
        )
        grants = map(mapping.grant, found.values())
        state.grants.load(((one.owner_id, one.viewer_id), one) for one in grants)

    async def _load_kept(self, want: Wanted, state: State) -> None:
        owners = {owner for owner, _ in want.granted}
        kept = await self._keeping.of(owners | {viewer for _, viewer in want.ordered})
        state.kept.load((one.user_id, one) for one in kept)
        await self._load_dial_orders(want.ordered, state)

    async def _load_budgets(self, want: Wanted, state: State) -> None:
        found = await self._budgets.get_many(sorted({viewer for _, viewer in want.looks}))
        state.budgets.load((id_, mapping.budget(document)) for id_, document in found.items())

    async def _load_asked(self, want: Wanted, state: State) -> None:
        keys = [join_key(viewer, owner) for owner, viewer in sorted(want.looks)]
        found = map(mapping.asked, (await self._asked.get_many(keys)).values())
        state.asked.load(((one.viewer_id, one.identity_id), one) for one in found)

    async def _load_dial_orders(self, allowed: Iterable[tuple[str, str]], state: State) -> None:
        keys = [join_key(viewer, owner) for owner, viewer in sorted(allowed)]
        found = map(mapping.dial_order, (await self._dial_orders.get_many(keys)).values())
        state.dial_orders.load(((one.viewer_id, one.identity_id), one) for one in found)

    async def _load_shared(self, want: Wanted, groups: dict[str, list[str]], state: State) -> None:
        keys = {(group, owner) for owner, viewer in want.looks for group in groups[viewer]}
        found = await self._memberships.in_groups(keys)
        shared: dict[tuple[str, str], tuple[Membership, ...]] = {}
        for owner, viewer in want.looks:
            common = set(groups[viewer])
            shared[owner, viewer] = tuple(
                one for one in found.get(owner, ()) if one.group_id in common
            )
        state.shared = shared


PLAIN: Final[tuple[tuple[str, str, Callable[[Any], Document]], ...]] = (
    ("grants", mapping.GRANTS, mapping.stored_grant),
    ("asked", mapping.ASKED, mapping.stored_asked),
    ("dial_orders", mapping.DIAL_ORDERS, mapping.stored_dial_order),
)
"""What is written whatever is stored, for the last one counts."""

GUARDED: Final[tuple[tuple[str, str, Callable[[Any], Document]], ...]] = (
    ("records", mapping.RECORDS, mapping.stored_record),
    ("issued", mapping.ISSUED, mapping.stored_issued),
    ("holders", mapping.HOLDERS, mapping.stored_holders),
    ("kept", mapping.KEPT, mapping.stored_kept),
    ("budgets", mapping.BUDGETS, mapping.stored_budget),
)
"""What is written only if no other process has written it since it was loaded."""


def writes(state: State) -> list[Write | Addition]:
    """What the batch changed, guarded by what it was based on, and the looks that it adds."""
    found: list[Write | Addition] = [
        Write(collection, _id(key), None if document is None else stored(document))
        for name, collection, stored in PLAIN
        for key, document in getattr(state, name).changed.items()
    ]
    found += [
        Write(
            collection,
            _id(key),
            {**stored(document), "etag": document.etag + 1},
            guard=document.etag,
        )
        for name, collection, stored in GUARDED
        for key, document in getattr(state, name).changed.items()
    ]
    found += [
        Addition(mapping.LOOKS, id_, mapping.added_looks(look))
        for id_, look in state.looks.changed.items()
        if look is not None
    ]
    return found


def _id(key: object) -> str:
    """A stored document's id: the text of a name, or the parts of a pair."""
    if type(key) is tuple:  # and no `Ref`, whose text is its canonical one
        return join_key(*key)
    return str(key)
