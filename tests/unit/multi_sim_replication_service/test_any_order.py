"""Three accounts with four SIMs as a state machine (rows M3, M4, M6).

Whatever is stored, agreed and decided, and in whatever order events arrive, some of them twice:
private contacts never leave, accounts that agree come to the same, and what waits is never what the
terminal has seen last.
"""

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.unit.multi_sim_replication_service.spaces import MOBILE, TELECOM, UNICOM, Spaces

from contactmesh.contracts.multi_sim.commands import RequestUpdate
from contactmesh.contracts.multi_sim.events import SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind

CARRIERS = (MOBILE, UNICOM, TELECOM)
UIDS = ("an", "bo", "chen", "dai")
which = st.integers(0, 3)
seeds = st.integers(0, 2**32)


class AnyOrder(RuleBasedStateMachine):
    """One user's SIMs: two at one carrier, one at each of two others."""

    def __init__(self) -> None:
        super().__init__()
        self.spaces = Spaces()
        self.stored = 0

    @initialize()
    def begin(self) -> None:
        carriers = (MOBILE, MOBILE, UNICOM, TELECOM)
        self.sims = [self.spaces.registers(one, at) for at, one in enumerate(carriers)]

    @rule(
        at=which,
        contacts=st.dictionaries(
            st.sampled_from(UIDS), st.sampled_from(("1", "2", None)), min_size=1
        ),
        whole=st.booleans(),
    )
    def stores(self, at: int, contacts: dict[str, str | None], whole: bool) -> None:
        self.spaces.stores(self.sims[at], contacts, whole=whole)
        self.stored += 1

    @rule(at=which, number=st.sampled_from(("1", None)))
    def stores_privately(self, at: int, number: str | None) -> None:
        before = len(self.spaces.published)
        self.spaces.stores(self.sims[at], {"private": number}, SpaceKind.PRIVATE)
        assert len(self.spaces.published) == before

    @rule(carrier_id=st.sampled_from(CARRIERS), consent=st.booleans())
    def agrees(self, carrier_id: str, consent: bool) -> None:
        self.spaces.agrees(carrier_id, consent=consent)

    @rule(at=which)
    def requests(self, at: int) -> None:
        self.spaces.does(RequestUpdate(sim_id=self.sims[at]))

    @rule(at=which, accept=st.booleans())
    def decides(self, at: int, accept: bool) -> None:
        sim_id = self.sims[at]
        before = len(self.spaces.waits(sim_id))
        assert self.spaces.decides(sim_id, accept=accept).settled == before
        assert self.spaces.waits(sim_id) == {}

    @rule(seed=seeds)
    def one_arrives(self, seed: int) -> None:
        if self.spaces.under_way:
            at = Random(seed).randrange(len(self.spaces.under_way))
            self.spaces.deliver(self.spaces.under_way[at])

    @rule(seed=seeds)
    def all_arrive(self, seed: int) -> None:
        self.spaces.settle(Random(seed))
        agreeing = [self.spaces.holds(one) for one in CARRIERS if self.spaces.account(one).consent]
        assert all(one == agreeing[0] for one in agreeing)
        assert not any(self.spaces.sim(sim_id).filling for sim_id in self.sims)

    @invariant()
    def private_never_leaves(self) -> None:
        for entry in self.spaces.state.entries:
            assert entry.uid != "private" or entry.space_id.endswith("/private")
        assert all(one.uid != "private" for one in self.spaces.state.sim_entries)

    @invariant()
    def what_waits_is_shared_and_unseen(self) -> None:
        for carrier_id in CARRIERS if self.spaces.state.accounts_of("lin") else ():
            account = self.spaces.account(carrier_id)
            space_id = account.space_id(SpaceKind.SHARED)
            assert account.shared.contacts == len(self.spaces.holds(carrier_id))
            for sim in account.sims:
                assert sim.waiting == len(self.spaces.waits(sim.sim_id))
                for uid, digest in self.spaces.waits(sim.sim_id).items():
                    assert digest == self.spaces.state.digest(space_id, uid)
                    assert digest != self.spaces.state.sim_entry(sim.sim_id, uid).seen

    @invariant()
    def nothing_echoes(self) -> None:
        published = sum(isinstance(one, SpaceChanged) for one in self.spaces.published)
        assert published <= self.stored


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAnyOrder = pytest.mark.claim("M3")(
    pytest.mark.claim("M4")(pytest.mark.claim("M6")(AnyOrder.TestCase))
)
