"""For any facts in any order: who checks in between ends right, and is told each change once."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.carrier_registry_service.registry import (
    LIN,
    Fact,
    Registry,
    began,
    ended,
)

from contactmesh.contracts.carrier.check import ChangeCode, Checked, LineChange
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.contact import ContactChanged

CARRIERS = ("cn-mobile", "cn-unicom", "cn-telecom")
EVERY_REF = tuple(f"{carrier}:{seq}" for carrier in CARRIERS for seq in range(1, 9))


@dataclass
class Life:
    """A person's registrations as they really were: what each fact is about, and what stands."""

    facts: list[Fact] = field(default_factory=list)
    live: dict[str, str] = field(default_factory=dict)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """Numbers begin, are ported, changed, re-issued and withdrawn; carriers may name no link."""
    life = Life()
    issued = dict.fromkeys(CARRIERS, 0)
    number = 0

    def begins(carrier: str, msisdn: str, at: float, replaces: str | None) -> None:
        issued[carrier] += 1
        name = f"{carrier}:{issued[carrier]}"
        life.facts.append(began(name, msisdn, at, replaces=replaces))
        life.live[name] = msisdn

    for step in range(draw(st.integers(1, 8))):
        at = float(step * 10)
        carrier = draw(st.sampled_from(CARRIERS))
        number += 1
        fresh = f"+86138{number:08d}"
        if not life.live or draw(st.booleans()):
            begins(carrier, fresh, at, None)
            continue
        gone = draw(st.sampled_from(sorted(life.live)))
        msisdn = life.live.pop(gone)
        reason = draw(st.sampled_from([EndReason.REPLACED, EndReason.CANCELLED]))
        life.facts.append(ended(gone, at, reason))
        match draw(st.sampled_from(["withdrawn", "same number", "other number"])):
            case "same number":
                begins(carrier, msisdn, at, draw(st.sampled_from([gone, None])))
            case "other number":
                begins(carrier, fresh, at, draw(st.sampled_from([gone, None])))
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
@settings(deadline=None, max_examples=60)
def test_a_viewer_who_checks_at_any_time_ends_right_and_hears_of_each_change_once(
    data: st.DataObject,
) -> None:
    life = data.draw(lives())
    order = data.draw(st.permutations(life.facts))
    repeats = data.draw(st.lists(st.sampled_from(life.facts), max_size=4))
    registry, viewer = Registry(), Viewer()
    for fact in (*order, *repeats):
        registry.feed(fact)
        if data.draw(st.booleans()):
            viewer.apply(registry.check(*viewer.known))
            assert viewer.known == registry.live()
            assert viewer.apply(registry.check(*viewer.known)) == [], "told once"
    viewer.apply(registry.check(*viewer.known))
    assert viewer.known == registry.live() == life.live


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_the_state_does_not_depend_on_the_order(data: st.DataObject) -> None:
    life = data.draw(lives())
    one, other = Registry(), Registry()
    one.feed(*life.facts)
    other.feed(*data.draw(st.permutations(life.facts)))
    assert one.state.record(LIN).registrations == other.state.record(LIN).registrations
    assert one.check(*EVERY_REF) == other.check(*EVERY_REF)


def places(registry: Registry) -> dict[str, str | None]:
    """What stands in the place of each registration that began, as a check tells it."""
    changes = registry.check(*EVERY_REF).changes if registry.lines() else ()
    lineage = registry.state.lineage(LIN, registry.terms.rules)
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
@settings(deadline=None, max_examples=60)
def test_events_alone_lead_to_the_live_numbers_and_their_revisions_rise(
    data: st.DataObject,
) -> None:
    life = data.draw(lives())
    registry, follower = Registry(), Follower()
    for fact in data.draw(st.permutations(life.facts)):
        told = len(registry.line_events())
        before = (registry.lines(), places(registry))
        registry.feed(fact)
        events = registry.line_events()[told:]
        after = (registry.lines(), places(registry))
        assert len(events) == (before != after), "equal states are told to nobody"
        for event in events:
            follower.hear(event)
            assert event.card is not None
            numbers = [phone["number"] for phone in event.card.get("phones", {}).values()]
            assert sorted(numbers) == sorted(registry.live().values())
        assert {ref: follower.place(ref) for ref in places(registry)} == places(registry)
    revisions = [event.rev for event in registry.line_events()]
    assert revisions == sorted(set(revisions))
