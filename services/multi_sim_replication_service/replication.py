"""Events that change spaces: each is a unit of work of its own at the account that receives it."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.multi_sim.events import CatchUp, SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.sync.events import BookPage
from contactmesh.deciding.decision import Told
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import MULTI_SIM
from contactmesh.runtime.commands import Clock, on_fresh_state
from contactmesh.runtime.events import Event, events_of
from contactmesh.storage.unit_of_work import UnitOfWork
from multi_sim_replication_service.domain.documents import Account, Limits
from multi_sim_replication_service.domain.following import begin_to_follow, follow
from multi_sim_replication_service.domain.registering import recycled
from multi_sim_replication_service.domain.replicating import catch_up, take_over
from multi_sim_replication_service.domain.spaces import contents_of
from multi_sim_replication_service.domain.state import State
from multi_sim_replication_service.repository.loading import Loading, writes
from multi_sim_replication_service.wanted import Wanted

log = structlog.get_logger()

Step = Callable[[State], Awaitable[tuple[Told, ...]]]


class Replication:
    """Takes events over into spaces. Every effect may be repeated."""

    def __init__(
        self,
        loading: Loading,
        unit_of_work: UnitOfWork,
        relay: OutboxRelay,
        limits: Limits,
        clock: Clock,
    ) -> None:
        self._loading = loading
        self._unit_of_work = unit_of_work
        self._relay = relay
        self._limits = limits
        self._clock = clock

    async def changed(self, cause: Event, event: SpaceChanged) -> None:
        """Take a page over into each of the owner's other accounts that agree."""
        contents = [contents_of(contact) for contact in event.contacts]
        uids = [one.uid for one in contents]

        async def step(carrier_id: str, state: State) -> tuple[Told, ...]:
            account = await self._shared(state, event.owner_id, carrier_id, uids)
            return take_over(state, account, contents, self._clock())

        state = await self._loading.begin([event.owner_id])
        for account in state.accounts_of(event.owner_id):
            if account.consent and account.carrier_id != event.carrier_id:
                await self._run(cause, event.owner_id, partial(step, account.carrier_id))

    async def following_books(self, owner_ids: set[str]) -> set[str]:
        """Those of the owners who have an account that follows their address book."""
        if not owner_ids:
            return set()
        state = await self._loading.begin(sorted(owner_ids))
        return {one.user_id for one in state.accounts if one.follows_book}

    async def book_changed(self, cause: Event, event: ContactChanged) -> None:
        """Take an entry of the address book over into each account that follows it."""

        async def step(carrier_id: str, state: State) -> tuple[Told, ...]:
            want = Wanted()
            for one in state.accounts_of(event.owner_id):
                want.contacts(one, SpaceKind.PRIVATE, [event.uid])
            await self._loading.load(state, want)
            account = await self._shared(state, event.owner_id, carrier_id, [event.uid])
            return follow(state, account, event, self._clock())

        state = await self._loading.begin([event.owner_id])
        for account in state.accounts_of(event.owner_id):
            if account.follows_book:
                await self._run(cause, event.owner_id, partial(step, account.carrier_id))

    async def book_shown(self, cause: Event, page: BookPage) -> None:
        """Take a page of the address book over into the account that began to follow it."""

        async def step(state: State) -> tuple[Told, ...]:
            want = Wanted()
            uids = [one.uid for one in page.entries]
            for one in state.accounts_of(page.owner_id):
                want.contacts(one, SpaceKind.PRIVATE, uids)
                if one.carrier_id == page.carrier_id:
                    want.contacts(one, SpaceKind.SHARED, uids)
            await self._loading.load(state, want)
            return begin_to_follow(state, page, self._limits.page, self._clock())

        await self._run(cause, page.owner_id, step)

    async def catch_up(self, cause: Event, event: CatchUp) -> None:
        """Take one page of a shared space over, and ask for the next."""

        async def step(state: State) -> tuple[Told, ...]:
            source = state.accounts.get((event.owner_id, event.from_carrier_id))
            if source is None or (event.owner_id, event.to_carrier_id) not in _keys(state):
                return ()
            page, more = await self._loading.page(
                source, after=event.after, limit=self._limits.page
            )
            uids = [one.uid for one in page]
            await self._shared(state, event.owner_id, event.to_carrier_id, uids)
            return catch_up(state, event, page, more=more, now=self._clock())

        await self._run(cause, event.owner_id, step)

    async def recycled(self, cause: Event, event: RegistrationRecycled) -> None:
        """Remove the SIMs of a registration whose number was given on to somebody else."""

        async def step(state: State) -> tuple[Told, ...]:
            return recycled(state, event)

        await self._run(cause, event.owner_id, step)

    async def _shared(
        self, state: State, owner_id: str, carrier_id: str, uids: list[str]
    ) -> Account:
        account = state.account(owner_id, carrier_id)
        want = Wanted()
        want.contacts(account, SpaceKind.SHARED, uids)
        await self._loading.load(state, want)
        return account

    async def _run(self, cause: Event, owner_id: str, step: Step) -> None:
        await on_fresh_state(partial(self._unit, cause, owner_id, step))

    async def _unit(self, cause: Event, owner_id: str, step: Step) -> None:
        state = await self._loading.begin([owner_id])
        told = await step(state)
        changes = writes(state)
        if not changes and not told:
            return
        now = self._clock()
        messages = events_of(MULTI_SIM.service, told, cause.envelope, now)
        entries = await self._unit_of_work.commit(
            writes=changes, handled=(), messages=messages, now=now
        )
        log.info("taken over", cause=cause.envelope.type, writes=len(changes), told=len(told))
        await self._relay.committed(entries)


def _keys(state: State) -> set[tuple[str, str]]:
    return {account.key for account in state.accounts}
