"""Audiences and blocks as a state machine (rows G1, G1b, G4).

Whatever members do, and in whatever order events arrive at the fan-out: a blocked member is never
shown a change that was made while the block stood, neither by push nor by pull, and never misses
one that was made after.
"""

from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.unit.group_service.world import World, card_of, number_in

from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.group.commands import (
    AcceptInvitation,
    Block,
    Created,
    CreateGroup,
    Invite,
    Invited,
    LeaveGroup,
    Lift,
    PublishCard,
)
from contactmesh.contracts.group.views import MemberState

PEOPLE = ("an", "bo", "chen")
person = st.sampled_from(PEOPLE)


class Groups(RuleBasedStateMachine):
    """Three people in one group, coming, going, blocking, publishing, pulling."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.published: dict[str, int] = {}
        self.forbidden: dict[tuple[str, str], set[int]] = {}
        self.blocked: set[tuple[str, str]] = set()
        self.everywhere: set[tuple[str, str]] = set()
        self.excepted: set[tuple[str, str]] = set()
        self.pulled_to: dict[str, int] = {}
        self.seen: dict[tuple[str, str], tuple[int, int | None]] = {}
        self.next_number = 1

    @initialize()
    def an_creates(self) -> None:
        created = self.world.does("an", CreateGroup(name="家人", members=("bo",)))
        assert isinstance(created, Created)
        self.group_id = created.group_id

    def _is_member(self, user_id: str) -> bool:
        member = self.world.state.members.get((self.group_id, user_id))
        return member is not None and member.active

    @rule(who=person)
    def joins(self, who: str) -> None:
        if self._is_member(who) or not self._is_member("an"):
            return
        invited = self.world.does("an", Invite(group_id=self.group_id, user_id=who))
        assert isinstance(invited, Invited)
        self.world.does(who, AcceptInvitation(invitation_id=invited.invitation_id))
        for pair in self.everywhere - self.excepted:
            if self._is_member(pair[0]) and self._is_member(pair[1]):
                self.blocked.add(pair)
        self._forget(who)

    @rule(who=st.sampled_from(PEOPLE[1:]))
    def leaves(self, who: str) -> None:
        if self._is_member(who):
            self.world.does(who, LeaveGroup(group_id=self.group_id))
            self.published.pop(who, None)
            self._forget(who)

    def _forget(self, who: str) -> None:
        """A terminal that is out of the group drops what it had of it."""
        self.pulled_to.pop(who, None)
        self.seen = {pair: state for pair, state in self.seen.items() if pair[0] != who}

    @rule(who=person)
    def publishes(self, who: str) -> None:
        if not self._is_member(who):
            return
        number, self.next_number = self.next_number, self.next_number + 1
        base = self.world.state.members.get((self.group_id, who))
        assert base is not None
        card = card_of(who, number)
        self.world.does(who, PublishCard(group_id=self.group_id, card=card, base_rev=base.card_rev))
        self.published[who] = number
        for setter, other in self.blocked:
            if setter == who:
                self.forbidden.setdefault((setter, other), set()).add(number)

    @rule(who=person, whom=person, everywhere=st.booleans())
    def blocks(self, who: str, whom: str, *, everywhere: bool) -> None:
        if who == whom:
            return
        group_id = None if everywhere else self.group_id
        try:
            self.world.does(who, Block(user_id=whom, group_id=group_id))
        except Refusal:
            return
        if everywhere:
            self.everywhere.add((who, whom))
            self.excepted.discard((who, whom))
        if self._is_member(who) and self._is_member(whom):
            self.blocked.add((who, whom))

    @rule(who=person, whom=person, everywhere=st.booleans())
    def lifts(self, who: str, whom: str, *, everywhere: bool) -> None:
        group_id = None if everywhere else self.group_id
        try:
            self.world.does(who, Lift(user_id=whom, group_id=group_id))
        except Refusal:
            return
        if everywhere:
            self.everywhere.discard((who, whom))
        if (who, whom) in self.blocked:
            if (who, whom) in self.everywhere:
                self.excepted.add((who, whom))
            self.blocked.discard((who, whom))
            # What was published while the block stood stays hidden, but for the present state.
            if who in self.published:
                self.forbidden.get((who, whom), set()).discard(self.published[who])

    @rule(who=person, whom=person)
    def publishes_while_blocking(self, who: str, whom: str) -> None:
        """What matters most, as one step, so that it is tried often."""
        self.blocks(who, whom, everywhere=False)
        self.publishes(who)
        self.publishes(who)
        self.publishes(whom)

    @precondition(lambda self: self.world.under_way)
    @rule(shuffle=st.randoms(use_true_random=False), leaving=st.integers(0, 3))
    def events_arrive(self, shuffle: Random, leaving: int) -> None:
        """In any order, but for a few that stay under way; what has to wait is tried again."""
        late = shuffle.sample(self.world.under_way, min(leaving, len(self.world.under_way)))
        before = -1
        while len(self.world.under_way) != before:
            before = len(self.world.under_way)
            arriving = [event for event in self.world.under_way if event not in late]
            shuffle.shuffle(arriving)
            for event in arriving:
                for viewer, update in self.world.arrives(self.world.under_way.index(event)):
                    self._sees(viewer, update.owner_id, update.rev, number_in(update.card))

    @rule(who=person)
    def pulls(self, who: str) -> None:
        if not self._is_member(who):
            return
        for member in self.world.pulls(who, self.group_id, self.pulled_to.get(who, 0)):
            number = number_in(member.card)
            self._sees(who, member.user_id, member.rev, number)
            self.pulled_to[who] = member.rev

    def _sees(self, viewer: str, owner: str, rev: int, number: int | None) -> None:
        """A terminal learns something; whatever it is, it must be allowed."""
        hidden = self.forbidden.get((owner, viewer), set())
        assert number not in hidden, f"{viewer} was shown {owner}'s hidden change"
        known = self.seen.get((viewer, owner))
        if self._is_member(viewer) and (known is None or rev > known[0]):
            self.seen[viewer, owner] = (rev, number)

    @invariant()
    def after_a_pull_everyone_holds_what_they_may_see(self) -> None:
        """Convergence and "no change lost": a pull alone brings the present state."""
        for viewer in PEOPLE:
            if not hasattr(self, "group_id") or not self._is_member(viewer):
                continue
            held = dict(self.seen)
            for member in self.world.pulls(viewer, self.group_id, self.pulled_to.get(viewer, 0)):
                known = held.get((viewer, member.user_id))
                if known is None or member.rev > known[0]:
                    held[viewer, member.user_id] = (member.rev, number_in(member.card))
            for owner in PEOPLE:
                member_state = self.world.state.members.get((self.group_id, owner))
                if member_state is None or member_state.state is not MemberState.ACTIVE:
                    continue
                number = held[viewer, owner][1]
                if (owner, viewer) in self.blocked:
                    assert number not in self.forbidden.get((owner, viewer), set())
                else:
                    assert number == self.published.get(owner)


Groups.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)


TestG1bNothingHiddenIsEverShown = pytest.mark.claim("G1b")(Groups.TestCase)
