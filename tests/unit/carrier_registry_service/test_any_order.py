"""For any facts in any order: who checks in between ends right, and is told each change once."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.carrier_registry_service.registry import (
    BO,
    LIN,
    Fact,
    Registry,
    began,
    ended,
)

from contactmesh.contracts.carrier.check import ChangeCode, Checked, LineChange
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.contact import ContactChanged

CARRIERS = ("cn-mobile", "cn-unicom", "cn-telecom")
EVERY_REF = tuple(f"{carrier}:{seq}" for carrier in CARRIERS for seq in range(1, 9))
PEOPLE = (LIN, BO)


class Tenure(NamedTuple):
    """A number that somebody has or had."""

    name: str
    msisdn: str
    who: str

    @property
    def carrier(self) -> str:
        return self.name.partition(":")[0]


@dataclass
class Lives:
    """Two people's registrations as they really were: what each fact is about, and what stands."""

    facts: list[Fact] = field(default_factory=list)
    standing: dict[str, Tenure] = field(default_factory=dict)
    over: list[Tenure] = field(default_factory=list)
    issued: Counter[str] = field(default_factory=Counter)

    def begins(
        self, carrier: str, msisdn: str, at: float, who: str, replaces: str | None = None
    ) -> None:
        self.issued[carrier] += 1
        name = f"{carrier}:{self.issued[carrier]}"
        self.facts.append(began(name, msisdn, at, replaces=replaces, who=who))
        self.standing[name] = Tenure(name, msisdn, who)

    def is_over(self, gone: Tenure) -> None:
        self.over.append(self.standing.pop(gone.name))

    def live(self, who: str) -> dict[str, str]:
        return {one.name: one.msisdn for one in self.standing.values() if one.who == who}


@st.composite
def lives(draw: st.DrawFn) -> Lives:
    """Numbers begin, are ported, changed, re-issued, withdrawn and given on.

    Carriers may name no link, and may leave it at telling who has a number now.
    """
    life = Lives()
    for step in range(draw(st.integers(1, 8))):
        at = float(step * 10)
        carrier, who = draw(st.sampled_from(CARRIERS)), draw(st.sampled_from(PEOPLE))
        fresh = f"+86138{step:08d}"
        happening = draw(st.sampled_from(["begins", "ends", "taken over", "told late"]))
        if happening == "told late" and life.over:
            gone = draw(st.sampled_from(life.over))
            life.over.remove(gone)
            reason = draw(st.sampled_from([EndReason.RECYCLED, EndReason.ERASED]))
            life.facts.append(ended(gone.name, at, reason))
        elif happening == "begins" or not life.standing:
            life.begins(carrier, fresh, at, who)
        else:
            gone = life.standing[draw(st.sampled_from(sorted(life.standing)))]
            life.is_over(gone)
            hers = draw(st.sampled_from([gone.name, None])) if who == gone.who else None
            if happening == "taken over":
                life.begins(gone.carrier, gone.msisdn, at, who, hers)
                continue
            reason = draw(st.sampled_from([EndReason.REPLACED, EndReason.CANCELLED]))
            life.facts.append(ended(gone.name, at, reason))
            if who != gone.who and carrier != gone.carrier:
                hers = draw(st.sampled_from([gone.name, None]))  # which counts for nothing
            match draw(st.sampled_from(["withdrawn", "same number", "other number"])):
                case "same number":
                    life.begins(carrier, gone.msisdn, at, who, hers)
                case "other number":
                    life.begins(carrier, fresh, at, who, hers)
    return life


@dataclass
class Viewer:
    """A phonebook that does what an answer says, and nothing else."""

    known: dict[str, str] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)

    def apply(self, checked: Checked) -> list[LineChange]:
        """Take over an answer; gives the changes that a person would be shown."""
        before = dict(self.known)
        for change in checked.changes:
            if change.known is not None:
                self.known.pop(str(change.known), None)
        for change in checked.changes:
            if change.line is not None:
                self.known[str(change.line.ref)] = change.line.msisdn
        assert all(str(one.known) in before for one in checked.changes if one.known is not None)
        return [one for one in checked.changes if one.code is not ChangeCode.UNCHANGED]


@pytest.mark.claim("C1")
@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_a_viewer_who_checks_at_any_time_ends_right_and_hears_of_each_change_once(
    data: st.DataObject,
) -> None:
    life = data.draw(lives())
    order = data.draw(st.permutations(life.facts))
    repeats = data.draw(st.lists(st.sampled_from(life.facts), max_size=4))
    registry, viewers = Registry(), {who: Viewer() for who in PEOPLE}
    for fact in (*order, *repeats):
        registry.feed(fact)
        for who, viewer in viewers.items():
            if data.draw(st.booleans()):
                viewer.apply(registry.check(*viewer.known, who=who))
                assert viewer.known == registry.live(who)
                assert viewer.apply(registry.check(*viewer.known, who=who)) == [], "told once"
    for who, viewer in viewers.items():
        viewer.apply(registry.check(*viewer.known, who=who))
        assert viewer.known == registry.live(who) == life.live(who)


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_the_state_does_not_depend_on_the_order(data: st.DataObject) -> None:
    life = data.draw(lives())
    one, other = Registry(), Registry()
    one.feed(*life.facts)
    other.feed(*data.draw(st.permutations(life.facts)))
    for who in PEOPLE:
        assert one.state.record(who).registrations == other.state.record(who).registrations
        answers = [each.ask(who, *EVERY_REF, who=who).answer for each in (one, other)]
        assert str(answers[0]) == str(answers[1])
    assert given_on(one) == given_on(other)


def given_on(registry: Registry) -> list[tuple[str, str]]:
    """Whose registrations are told to be recycled, each as often as it was told."""
    told = [event for event in registry.told if isinstance(event, RegistrationRecycled)]
    return sorted((event.owner_id, str(event.ref)) for event in told)


def places(registry: Registry, who: str) -> dict[str, str | None]:
    """What stands in the place of each registration that began, as a check tells it."""
    changes = registry.check(*EVERY_REF, who=who).changes if registry.lines(who) else ()
    lineage = registry.state.lineage(who, registry.terms.rules)
    return dict.fromkeys(map(str, lineage.by_ref)) | {
        str(one.known): str(one.line.ref)
        for one in changes
        if one.known is not None and one.line is not None
    }


@dataclass
class Follower:
    """Whoever hears events alone: of each registration, what it was last told to be."""

    successions: dict[str, str | None] = field(default_factory=dict)

    def hear(self, event: ContactChanged) -> None:
        for line in event.lines:
            after = None if line.after is None else str(line.after.ref)
            if line.before is not None:
                self.successions[str(line.before.ref)] = after
            elif after is not None:
                self.successions[after] = after

    def place(self, ref: str) -> str | None:
        """The end of a registration's successions."""
        after = self.successions.get(ref, ref)
        return after if after is None or after == ref else self.place(after)


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_events_alone_lead_to_the_live_numbers_and_their_revisions_rise(
    data: st.DataObject,
) -> None:
    life = data.draw(lives())
    registry, followers = Registry(), {who: Follower() for who in PEOPLE}
    for fact in data.draw(st.permutations(life.facts)):
        told = len(registry.line_events())
        before = {who: (registry.lines(who), places(registry, who)) for who in PEOPLE}
        registry.feed(fact)
        for who, follower in followers.items():
            events = [one for one in registry.line_events()[told:] if one.owner_id == who]
            after = (registry.lines(who), places(registry, who))
            assert len(events) == (before[who] != after), "equal states are told to nobody"
            for event in events:
                follower.hear(event)
                assert event.card is not None
                numbers = [phone["number"] for phone in event.card.get("phones", {}).values()]
                assert sorted(numbers) == sorted(registry.live(who).values())
            assert {ref: follower.place(ref) for ref in after[1]} == after[1]
    for who in PEOPLE:
        revisions = [event.rev for event in registry.line_events() if event.owner_id == who]
        assert revisions == sorted(set(revisions))
