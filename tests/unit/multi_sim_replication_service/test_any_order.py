"""Three accounts with their SIMs as a state machine (rows M1-M6).

Whatever is stored, agreed, requested and decided, in whatever order events arrive, some of them
twice. Beside the service's rules the machine keeps a ledger of its own, from the commands and their
results alone: what each SIM's terminal has last stored, accepted or declined, what changed, and
what was said privately. It says what must wait, how much may be told, and what must never be seen.
"""

from collections.abc import Iterable, Mapping
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.unit.multi_sim_replication_service.ledger import Ledger
from tests.unit.multi_sim_replication_service.spaces import (
    MOBILE,
    PHONE,
    TABLET,
    TELECOM,
    UNICOM,
    Spaces,
)

from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.multi_sim.commands import (
    Decide,
    DecisionTaken,
    FollowBook,
    MoveSim,
    RemoveSim,
    RequestUpdate,
)
from contactmesh.contracts.multi_sim.events import SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from multi_sim_replication_service.domain.documents import NO_CONTACT

CARRIERS = (MOBILE, UNICOM, TELECOM)
UIDS = ("an", "bo", "chen", "dai")
SECRET = "+861390000777"
LATE = 9
which = st.integers(0, 4)
seeds = st.integers(0, 2**32)
knowledge = st.sampled_from(("seen", None, "wrong"))
pages = st.dictionaries(st.sampled_from(UIDS), st.sampled_from(("1", "2", None)), min_size=1)


class AnyOrder(RuleBasedStateMachine):
    """One user's SIMs: two at one carrier, one at each of two others, and one that comes late."""

    def __init__(self) -> None:
        super().__init__()
        self.spaces = Spaces()
        self.ledger = Ledger()
        self.sims: list[str] = []
        self.late: str | None = None
        self.looked_at = 0

    @initialize()
    def begin(self) -> None:
        carriers = (MOBILE, MOBILE, UNICOM, TELECOM)
        self.sims = [self.spaces.registers(one, at) for at, one in enumerate(carriers)]
        self.ledger.complete = set(self.sims)

    def _sim(self, at: int) -> tuple[str, str]:
        """A SIM and the terminal that it is in."""
        sim_id = self.sims[at % len(self.sims)]
        return sim_id, self.spaces.sim(sim_id).terminal_id

    def _carrier(self, sim_id: str) -> str:
        return self.spaces.state.sim("lin", sim_id)[0].carrier_id

    def _closed(self) -> dict[str, dict[str, str]]:
        """What the accounts hold that nothing may come to from elsewhere."""
        accounts = map(self.spaces.account, CARRIERS)
        return {
            one.carrier_id: self.spaces.holds(one.carrier_id)
            for one in accounts
            if not one.consent and not one.follows_book
        }

    @rule(at=which, contacts=pages, whole=st.booleans(), knowing=knowledge)
    def stores(
        self, at: int, contacts: dict[str, str | None], whole: bool, knowing: str | None
    ) -> None:
        sim_id, terminal = self._sim(at)
        held = self.spaces.holds(self._carrier(sim_id))
        known = self._known(sim_id, contacts, knowing)
        unseen = self._unseen(sim_id, contacts, known)
        unnamed: dict[str, str | None] = dict.fromkeys(held.keys() - contacts.keys())
        before = len(self.spaces.published)
        stored = self.spaces.stores(sim_id, contacts, terminal=terminal, whole=whole, known=known)
        if stored.written + stored.removed == 0 and not stored.behind:
            assert len(self.spaces.published) == before, "the same is told to nobody"
        assert set(stored.private) == {uid for uid in contacts if self._private(uid, contacts)}
        assert set(stored.behind) == unseen - set(stored.private)
        holds = self.spaces.holds(self._carrier(sim_id))
        assert all(holds.get(uid) == held.get(uid) for uid in unseen), "no unseen edit is lost"
        self.ledger.stored(sim_id, (unnamed if whole else {}) | contacts, stored, known)

    @rule(
        at=which,
        uid=st.sampled_from(UIDS),
        number=st.sampled_from((SECRET, None)),
        knowing=knowledge,
    )
    def stores_privately(self, at: int, uid: str, number: str | None, knowing: str | None) -> None:
        sim_id, terminal = self._sim(at)
        before = list(self.spaces.published)
        shared = any(uid in self.spaces.holds(one) for one in CARRIERS)
        known = self._known(sim_id, (uid,), knowing)
        unseen = self._unseen(sim_id, {uid: number}, known) if number else set()
        stored = self.spaces.stores(
            sim_id, {uid: number}, SpaceKind.PRIVATE, terminal=terminal, known=known
        )
        assert set(stored.behind) == unseen
        if unseen:
            self.ledger.stored(sim_id, {}, stored, known)
        elif number is not None:
            here = [one for one in self.sims if self.spaces.sim(one).terminal_id == terminal]
            self.ledger.became_private(here, uid)
        if unseen or number is None or not shared:
            new = self.spaces.published[len(before) :]
            assert not any(isinstance(one, SpaceChanged) for one in new), "nobody is told"

    def _known(
        self, sim_id: str, uids: Iterable[str], knowing: str | None
    ) -> dict[str, str] | None:
        """What a terminal says that it knows: the truth, nothing, or what it never was."""
        if knowing == "seen":
            return {uid: self.ledger.seen(sim_id, uid) for uid in uids}
        return None if knowing is None else {uid: self.ledger.digest(uid, "never") for uid in uids}

    def _unseen(
        self,
        sim_id: str,
        contacts: Mapping[str, str | None],
        known: Mapping[str, str] | None,
    ) -> set[str]:
        """What the terminal does not know of its account, so that it may not be overwritten."""
        holds = self.spaces.holds(self._carrier(sim_id))
        there = {uid: holds.get(uid, NO_CONTACT) for uid in contacts}
        return {
            uid
            for uid, number in contacts.items()
            if known is not None
            and there[uid] not in (known[uid], self.ledger.digest(uid, number))
            and not self.ledger.has_declined(sim_id, uid, there[uid])
        }

    def _private(self, uid: str, contacts: Mapping[str, str | None]) -> bool:
        spaces = (self.spaces.holds(one, SpaceKind.PRIVATE) for one in CARRIERS)
        return contacts[uid] is not None and any(uid in space for space in spaces)

    @rule(uid=st.sampled_from(UIDS), number=st.sampled_from(("1", "3", None)))
    def the_book_changes(self, uid: str, number: str | None) -> None:
        self.spaces.book_changes(uid, number)
        # Each change may come as an event, and beside it on a page of what the book holds.
        self.ledger.changes += 2 * len(CARRIERS)
        self.ledger.pages += 2 * len(CARRIERS)

    @rule(carrier_id=st.sampled_from(CARRIERS), follow=st.booleans())
    def follows(self, carrier_id: str, follow: bool) -> None:
        self.spaces.does(FollowBook(carrier_id=carrier_id, follow=follow))
        self.ledger.changes += len(UIDS)
        self.ledger.pages += len(UIDS)

    @rule(carrier_id=st.sampled_from(CARRIERS), consent=st.booleans())
    def agrees(self, carrier_id: str, consent: bool) -> None:
        self.spaces.agrees(carrier_id, consent=consent)

    @rule(at=which, source=st.sampled_from((None, *CARRIERS)))
    def requests(self, at: int, source: str | None) -> None:
        sim_id, terminal = self._sim(at)
        if not self.spaces.account(self._carrier(sim_id)).consent:
            source = None
        self.spaces.does(RequestUpdate(sim_id=sim_id, from_carrier_id=source), terminal)
        self.ledger.requested.add(sim_id)

    @rule(at=which, accept=st.booleans(), some=st.sets(st.sampled_from(UIDS)))
    def decides(self, at: int, accept: bool, some: set[str]) -> None:
        sim_id, terminal = self._sim(at)
        waits = self.spaces.waits(sim_id)
        settled = {uid: digest for uid, digest in waits.items() if not some or uid in some}
        command = Decide(
            sim_id=sim_id,
            pending_rev=self.spaces.sim(sim_id).pending_rev,
            accept=accept,
            uids=tuple(sorted(some)) or None,
        )
        taken = self.spaces.does(command, terminal)
        assert isinstance(taken, DecisionTaken)
        assert taken.settled == len(settled)
        assert taken.waiting == len(waits) - len(settled)
        self.ledger.decided(sim_id, settled, taken.waiting, accept=accept)

    @rule(at=which, terminal=st.sampled_from((PHONE, TABLET)))
    def moves(self, at: int, terminal: str) -> None:
        sim_id, before = self._sim(at)
        self.spaces.does(MoveSim(sim_id=sim_id), terminal)
        if terminal != before:
            self.ledger.moved(sim_id)
            if self.spaces.holds(self._carrier(sim_id)):
                self.ledger.complete.discard(sim_id)
        self.ledger.moves += 2  # The one terminal is told, and the other.

    @precondition(lambda self: self.late is None)
    @rule()
    def a_sim_comes_late(self) -> None:
        self.late = self.spaces.registers(MOBILE, LATE)
        self.sims.append(self.late)
        self.ledger.requested.add(self.late)

    @precondition(lambda self: self.late is not None)
    @rule()
    def it_goes(self) -> None:
        assert self.late is not None
        self.spaces.does(RemoveSim(sim_id=self.late))
        self.sims.remove(self.late)
        self.late = None

    @rule(seed=seeds)
    def one_arrives(self, seed: int) -> None:
        if self.spaces.under_way:
            at = Random(seed).randrange(len(self.spaces.under_way))
            closed = self._closed()
            self.spaces.deliver(self.spaces.under_way[at])
            assert self._closed() == closed

    @rule(seed=seeds)
    def all_arrive(self, seed: int) -> None:
        closed = self._closed()
        self.spaces.settle(Random(seed))
        assert self._closed() == closed
        self.ledger.complete |= self.ledger.requested
        agreeing = [self.spaces.holds(one) for one in CARRIERS if self.spaces.account(one).consent]
        assert all(one == agreeing[0] for one in agreeing)
        assert not any(self.spaces.sim(sim_id).filling for sim_id in self.sims)

    @precondition(lambda self: not self.spaces.under_way)
    @rule()
    def months_pass(self) -> None:
        self.spaces.forgets_removals()

    @invariant()
    def what_waits_is_what_the_terminal_has_not_seen(self) -> None:
        for sim_id in self.sims:
            holds = self.spaces.holds(self._carrier(sim_id))
            unseen = {
                uid: holds.get(uid, NO_CONTACT)
                for uid in UIDS
                if not self.ledger.has_seen(sim_id, uid, holds.get(uid, NO_CONTACT))
            }
            waits = self.spaces.waits(sim_id)
            assert waits.items() <= unseen.items()
            assert waits == unseen or sim_id not in self.ledger.complete
            assert self.spaces.sim(sim_id).waiting == len(waits)

    @invariant()
    def spaces_are_counted(self) -> None:
        for account in self.spaces.state.accounts_of("lin"):
            for kind in SpaceKind:
                held = self.spaces.holds(account.carrier_id, kind)
                assert account.space(kind).contacts == len(held)
                space_id = account.space_id(kind)
                there = [one for one in self.spaces.state.entries if one.space_id == space_id]
                assert account.space(kind).removed == len(there) - len(held)

    @invariant()
    def revisions_say_what_was_written_and_what_waits_in_which_order(self) -> None:
        """No two are the same, none is above its counter, and nothing waits that is settled."""
        state = self.spaces.state
        for account in state.accounts_of("lin"):
            for kind in SpaceKind:
                space_id = account.space_id(kind)
                revs = [one.rev for one in state.entries if one.space_id == space_id]
                assert len(set(revs)) == len(revs)
                assert all(0 < rev <= account.space(kind).rev for rev in revs)
            for sim in account.sims:
                own = (one for one in state.sim_entries if one.view_id == sim.view_id)
                revs = [one.pending_rev for one in own if one.pending is not None]
                assert len(set(revs)) == len(revs)
                assert all(sim.settled_rev < rev <= sim.pending_rev for rev in revs)

    @invariant()
    def private_contents_are_seen_nowhere_else(self) -> None:
        secret = {self.ledger.digest(uid, SECRET) for uid in UIDS}
        for entry in self.spaces.state.entries:
            assert entry.digest not in secret or entry.space_id.endswith("/private")
        assert not any(one.pending in secret for one in self.spaces.state.sim_entries)
        accounts = self.spaces.state.accounts_of("lin")
        shared = {uid for one in accounts for uid in self.spaces.holds(one.carrier_id)}
        for account in accounts:
            private = self.spaces.holds(account.carrier_id, SpaceKind.PRIVATE)
            assert not shared & private.keys(), "of no account"

    @invariant()
    def terminals_are_told_what_is_so(self) -> None:
        """Also: each change is told once at most to each SIM, and published once."""
        for message in self.spaces.published[self.looked_at :]:
            assert SECRET not in message.model_dump_json()
            if isinstance(message, ContactChanged) and message.pending is not None:
                self.ledger.told(message.pending)
        self.looked_at = len(self.spaces.published)
        for sim_id in self.sims:
            known = self.ledger.known_waiting(sim_id)
            assert known is None or known == self.spaces.sim(sim_id).waiting
        for sim_id in self.ledger.complete & set(self.sims):
            told = len(self.spaces.told_of(sim_id))
            assert told <= self.ledger.changes + self.spaces.laid_ready[sim_id] + self.ledger.moves

    @invariant()
    def nothing_echoes(self) -> None:
        published = sum(isinstance(one, SpaceChanged) for one in self.spaces.published)
        assert published <= self.ledger.pages


AnyOrder.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestAnyOrder = pytest.mark.claim("M3")(
    pytest.mark.claim("M4")(pytest.mark.claim("M6")(AnyOrder.TestCase))
)
