"""Terminals with wrong clocks, offline for long, whose replies are lost (Y1-Y6).

Whatever they edit and delete, and in whatever order they sync: all come to the same, every edit
that was sent is in the book or in its history, nothing that was deleted comes back without an edit
that its deleter had not seen, and what the server gives is every change once.
"""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Json, Server
from tests.unit.sync_service.terminals import Kept, Terminal

from contactmesh.contacts import Card, digest
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Exchange, Exchanged, Restore, SetPolicy, Settle
from contactmesh.contracts.sync.records import Change, Outcome, Policy
from sync_service.domain.documents import Entry, Limits

UIDS: Final = ("an", "bo", "chen")
CLOCKS: Final = (timedelta(), timedelta(hours=1), timedelta(days=-20_000), timedelta(days=26_000))
TERMINALS: Final = (PHONE, TABLET, LAPTOP)
FIELDS: Final[dict[str, Callable[[str], object]]] = {
    "name": lambda mark: {"full": mark},
    "language": lambda mark: mark,
    "phones": lambda mark: {"m": {"number": "1", "label": mark}},
    "notes": lambda mark: {mark: {"note": mark}},
}
which = st.sampled_from(range(len(TERMINALS)))
uids = st.sampled_from(UIDS)


def marks(cards: list[Json | None]) -> set[str]:
    """The marks of all edits that are in these contents."""
    return set(re.findall(r"m[0-9]+", json.dumps(cards)))


class AnyInterleaving(RuleBasedStateMachine):
    """One user's book on three terminals. Each edit writes a mark that no other one writes."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server(Limits(page=2))
        self.terminals: list[Terminal] = []
        self.edited = 0
        self.sent: dict[str, set[str]] = {uid: set() for uid in UIDS}
        """The marks that the server was sent, by uid."""
        self.given: dict[str, set[int]] = {one: set() for one in TERMINALS}
        """The revisions that a terminal was given, or told of as its own, in replies it got."""

    @initialize(
        clocks=st.lists(st.sampled_from(CLOCKS), min_size=3, max_size=3),
        policy=st.sampled_from(Policy),
    )
    def begin(self, clocks: list[timedelta], policy: Policy) -> None:
        self.server.does(SetPolicy(policy=policy))
        self.terminals = [
            Terminal(self.server, terminal_id, wrong)
            for terminal_id, wrong in zip(TERMINALS, clocks, strict=True)
        ]
        self.terminals[0].makes("an", phones={"m": {"number": "1"}})
        self._exchange(0, 1)
        for terminal in self.terminals[1:]:
            terminal.begins()

    @rule(at=which, uid=uids, field=st.sampled_from(sorted(FIELDS)))
    def edits(self, at: int, uid: str, field: str) -> None:
        terminal = self.terminals[at]
        self.edited += 1
        value = FIELDS[field](f"m{self.edited}")
        if terminal.contacts.get(uid, Kept(None)).card is None:
            terminal.makes(uid)
            terminal.edits(uid, **{field: value})
        else:
            terminal.edits(uid, **{field: value})

    @rule(at=which, uid=uids, field=st.sampled_from(("language", "phones", "notes")))
    def removes(self, at: int, uid: str, field: str) -> None:
        if self.terminals[at].contacts.get(uid, Kept(None)).card is not None:
            self.terminals[at].edits(uid, **{field: None})

    @rule(at=which, uid=uids)
    def deletes(self, at: int, uid: str) -> None:
        if self.terminals[at].contacts.get(uid, Kept(None)).card is not None:
            self.terminals[at].deletes(uid)

    @rule(at=which)
    def starts_a_sync(self, at: int) -> None:
        self.terminals[at].starts()

    @rule(at=which, most=st.integers(0, 3), lost=st.booleans())
    def exchanges(self, at: int, most: int, lost: bool) -> None:
        self._exchange(at, most, lost=lost)

    def _exchange(self, at: int, most: int, *, lost: bool = False) -> bool:
        """Exchange once; whether there is more."""
        terminal = self.terminals[at]
        before = dict(self.server.stored.entries)
        rev = self.server.book().rev
        command = terminal.command(most, confirm=True)
        for change in command.changes:
            self.sent[change.uid] |= marks([change.card])
        reply = terminal.exchanges(most, lost=lost, confirm=True)
        for stood in before.values():
            stands = self.server.entry(stood.uid)
            if stood.deleted and not stands.deleted:
                self._may_come_back(command, stood)
            if stands.deleted and not stood.deleted:
                self._may_go(command, stood, terminal.terminal_id)
        if reply is None:
            return True
        self._is_new(at, reply, rev)
        return reply.has_more

    @rule(seconds=st.sampled_from((-2, 1, 3_600, 20_000)))
    def time_passes(self, seconds: int) -> None:
        self.server.passes(timedelta(seconds=seconds))

    @precondition(lambda self: self.server.conflicts())
    @rule(at=which, take_lost=st.booleans())
    def settles(self, at: int, take_lost: bool) -> None:
        conflict = self.server.conflicts()[0]
        command = Settle(conflict_id=conflict.conflict_id, take_lost=take_lost)
        try:
            self.server.does(command, TERMINALS[at])
        except Refusal as refusal:
            code = refusal.body.code
        else:
            assert conflict not in self.server.conflicts()
            return
        # A field that lost has no place any more in what stands.
        assert (code, take_lost, conflict.path != "") == (ErrorCode.CONFLICT, True, True)

    @rule(at=which, uid=uids)
    def restores(self, at: int, uid: str) -> None:
        if versions := self.server.history(uid):
            self.server.does(Restore(uid=uid, rev=versions[0].rev), TERMINALS[at])

    @rule(policy=st.sampled_from(Policy))
    def chooses(self, policy: Policy) -> None:
        self.server.does(SetPolicy(policy=policy))

    @invariant()
    def the_book_counts_what_it_holds(self) -> None:
        assert self.server.book().entries == len(self.server.holds())

    @invariant()
    def revisions_are_given_once(self) -> None:
        revs = [one.rev for one in self.server.stored.entries.values()]
        revs += [one.rev for one in self.server.stored.versions.values()]
        assert len(revs) == len(set(revs))
        assert max(revs, default=0) == self.server.book().rev

    @invariant()
    def every_edit_that_was_sent_is_kept(self) -> None:
        for uid in UIDS:
            kept = [one.card for one in self.server.history(uid)]
            assert self.sent[uid] <= marks([*kept, self.server.holds().get(uid)])

    @invariant()
    def what_lost_a_conflict_is_in_the_history(self) -> None:
        for conflict in self.server.conflicts():
            (version,) = [
                one for one in self.server.history(conflict.uid) if one.rev == conflict.lost_rev
            ]
            assert marks([conflict.lost]) <= marks([version.card])

    def teardown(self) -> None:
        self._all_sync()
        self._all_sync()
        before = (len(self.server.told), self.server.book().rev)
        self._all_sync()
        assert (len(self.server.told), self.server.book().rev) == before
        for terminal in self.terminals:
            assert terminal.holds() == self.server.holds()

    def _all_sync(self) -> None:
        for at, terminal in enumerate(self.terminals):
            terminal.starts()
            for _ in range(20):
                more = self._exchange(at, 2)
                if not more and not terminal.waiting():
                    break
            else:
                raise AssertionError("a terminal does not come to an end")

    def _may_come_back(self, command: Exchange, stood: Entry) -> None:
        """Only by an edit of something else than what was deleted comes a contact back."""
        (change,) = [one for one in command.changes if one.uid == stood.uid]
        assert change.card is not None
        assert self._base(change) != digest(Card.model_validate(change.card))

    def _may_go(self, command: Exchange, stood: Entry, terminal_id: str) -> None:
        """What its author has seen is deleted; by the claim's policy, or it is in the inbox."""
        (change,) = [one for one in command.changes if one.uid == stood.uid]
        assert change.card is None
        if self.server.book().policy is Policy.MERGE:
            own = terminal_id in (stood.by, *stood.same_by)
            assert self._base(change) == stood.digest or own

    def _base(self, change: Change) -> str | None:
        """The digest of what a change was made from."""
        versions = {one.rev: one.digest for one in self.server.history(change.uid)}
        return versions.get(change.base_rev or 0)

    def _is_new(self, at: int, reply: Exchanged, before: int) -> None:
        """A terminal is given no revision twice, and none that it made itself."""
        given = self.given[TERMINALS[at]]
        revs = [entry.rev for entry in reply.changes]
        assert revs == sorted(set(revs))
        assert not given & set(revs)
        given |= set(revs)
        for result in reply.results:
            assert result.outcome is not Outcome.REJECTED
            assert result.rev is not None
            if result.rev > before:
                given.add(result.rev)


AnyInterleaving.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyInterleaving = pytest.mark.claim("Y3")(
    pytest.mark.claim("Y4")(pytest.mark.claim("Y5")(AnyInterleaving.TestCase))
)
