"""Edits that a terminal has not seen, what was declined, and what is private (rows M3, M4, M6)."""

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    MOBILE,
    TABLET,
    TELECOM,
    UNICOM,
    Spaces,
    card,
)

from contactmesh.contacts import digest
from contactmesh.contracts.multi_sim.commands import Decide, DecisionTaken, RemoveSim
from contactmesh.contracts.multi_sim.events import SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from multi_sim_replication_service.domain.documents import NO_CONTACT

ONE, TWO, THREE = (digest(card("an", number)) for number in "123")


def _two_sims() -> tuple[Spaces, str, str]:
    """Two SIMs of one account, the second in the tablet; both have the first contents."""
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(MOBILE, 2, TABLET)
    spaces.stores(here, {"an": "1"})
    spaces.decides(there, accept=True, terminal=TABLET)
    return spaces, here, there


def _over(spaces: Spaces, sim_id: str) -> str:
    """What the contents that wait were made of."""
    return spaces.state.sim_entry(spaces.sim(sim_id).view_id, "an").over


@pytest.mark.claim("M4")
@pytest.mark.parametrize("space", SpaceKind)
@pytest.mark.parametrize(
    ("theirs", "mine"),
    [("2", "3"), (None, "3"), ("2", None)],
    ids=["both edit", "they remove", "I remove"],
)
def test_an_edit_that_the_sender_has_not_seen_is_not_overwritten(
    space: SpaceKind, theirs: str | None, mine: str | None
) -> None:
    if space is SpaceKind.PRIVATE and mine is None:
        mine = "4"
    spaces, here, there = _two_sims()
    spaces.stores(here, {"an": theirs}, known={"an": ONE})
    held = spaces.holds(MOBILE)
    stored = spaces.stores(
        there, {"an": mine, "bo": "1"}, space, terminal=TABLET, known={"an": ONE}
    )
    assert (stored.behind, stored.written, stored.removed) == (("an",), 1, 0)
    assert spaces.holds(MOBILE).get("an", NO_CONTACT) == held.get("an", NO_CONTACT)
    assert "an" not in spaces.holds(MOBILE, SpaceKind.PRIVATE)
    now = held.get("an", NO_CONTACT)
    assert spaces.waits(there) == {"an": now}
    spaces.decides(there, accept=True, terminal=TABLET)
    stored = spaces.stores(there, {"an": mine}, space, terminal=TABLET, known={"an": now})
    assert stored.behind == ()
    assert stored.written + stored.removed == 1


@pytest.mark.claim("M4")
def test_what_a_terminal_does_not_know_waits_though_its_sim_had_seen_it() -> None:
    spaces, here, _ = _two_sims()
    stored = spaces.stores(here, {"an": "2"}, known={})
    assert stored.behind == ("an",)
    assert spaces.waits(here) == {"an": ONE}
    assert spaces.told_of(here)
    assert spaces.stores(here, {"an": "1"}, known={}).same == 1, "the same is no edit"
    assert spaces.waits(here) == {}
    assert spaces.stores(here, {"an": "2"}).written == 1, "nothing known: over whatever is there"


@pytest.mark.claim("M4")
def test_contents_say_what_they_were_made_of() -> None:
    spaces, here, there = _two_sims()
    other = spaces.registers(UNICOM, 3)
    spaces.agrees(UNICOM)
    spaces.settle()
    spaces.decides(other, accept=True)
    for number, known in (("2", ONE), ("3", TWO)):
        spaces.stores(here, {"an": number}, known={"an": known})
        spaces.settle()
    sent = [one for one in spaces.published if isinstance(one, SpaceChanged)]
    assert [one.contacts[0].over for one in sent] == [NO_CONTACT, ONE, TWO]
    assert spaces.waits(there) == spaces.waits(other) == {"an": THREE}
    assert _over(spaces, there) == _over(spaces, other) == ONE, "what it has not seen is left out"
    spaces.stores(other, {"an": "4"})
    spaces.settle()
    assert _over(spaces, there) == ONE, "edited one after the other"


@pytest.mark.claim("M4")
def test_of_two_edits_at_once_the_later_one_says_that_it_knew_not_of_the_other() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.agrees(MOBILE, UNICOM)
    spaces.settle()
    spaces.stores(here, {"an": "1"})
    spaces.settle()
    spaces.decides(there, accept=True, terminal=TABLET)
    spaces.stores(here, {"an": "2"}, known={"an": ONE})
    spaces.stores(there, {"an": "3"}, terminal=TABLET, known={"an": ONE})
    spaces.settle()
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == {"an": THREE}
    assert spaces.waits(here) == {"an": THREE}
    assert _over(spaces, here) == ONE, "and the phone has its own edit"


@pytest.mark.claim("M6")
def test_declined_contents_do_not_come_back_after_others() -> None:
    spaces, here, there = _two_sims()
    for number in ("2", "3"):
        spaces.stores(here, {"an": number})
        spaces.decides(there, accept=False, terminal=TABLET)
    spaces.stores(here, {"an": "2"})
    assert spaces.waits(there) == {}
    stored = spaces.stores(there, {"an": "5"}, terminal=TABLET, known={"an": THREE})
    assert stored.written == 1, "it has seen what it declined"
    spaces.stores(there, {"an": "2"}, terminal=TABLET)
    spaces.stores(here, {"an": "5"})
    spaces.decides(there, accept=True, terminal=TABLET)
    spaces.stores(here, {"an": "2"})
    assert set(spaces.waits(there)) == {"an"}, "what it stored itself is declined no longer"


@pytest.mark.claim("M6")
def test_a_removal_that_was_declined_says_nothing_of_later_ones() -> None:
    spaces, here, there = _two_sims()
    spaces.stores(here, {"an": None})
    spaces.decides(there, accept=False, terminal=TABLET)
    spaces.stores(here, {"an": "2"})
    spaces.decides(there, accept=True, terminal=TABLET)
    spaces.stores(here, {"an": None})
    assert spaces.waits(there) == {"an": NO_CONTACT}


@pytest.mark.claim("M6")
def test_what_is_left_is_counted_though_a_store_moved_the_revision_before() -> None:
    spaces, here, there = _two_sims()
    contacts: dict[str, str | None] = {f"c{number:03}": "1" for number in range(200)}
    for letter in "abc":
        spaces.stores(here, {letter + uid: "1" for uid in contacts})
    rev = spaces.sim(there).pending_rev
    spaces.stores(here, {"an": "2"})
    for settled, left in ((500, 100), (100, 0)):
        taken = spaces.does(Decide(sim_id=there, pending_rev=rev, accept=True), TABLET)
        assert isinstance(taken, DecisionTaken)
        assert (taken.settled, taken.left) == (settled, left)
    assert set(spaces.waits(there)) == {"an"}


@pytest.mark.claim("M3")
@pytest.mark.parametrize("has_sim", [True, False], ids=["with a SIM", "without a SIM"])
def test_what_is_private_where_no_sim_is_left_may_be_shared_again(has_sim: bool) -> None:
    spaces = Spaces()
    gone, here = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.stores(gone, {"an": "1", "bo": "1"}, SpaceKind.PRIVATE)
    if not has_sim:
        spaces.does(RemoveSim(sim_id=gone))
    assert spaces.stores(here, {"an": "1"}, terminal=TABLET).private == ("an",), "it is so still"
    spaces.stores(here, {"an": None}, SpaceKind.PRIVATE, terminal=TABLET)
    stored = spaces.stores(here, {"an": "1"}, terminal=TABLET)
    assert (stored.written, stored.private) == ((0, ("an",)) if has_sim else (1, ()))
    left = spaces.holds(MOBILE, SpaceKind.PRIVATE)
    assert set(left) == ({"an", "bo"} if has_sim else {"bo"})


@pytest.mark.claim("M3")
@pytest.mark.parametrize("consent", [True, False])
def test_what_becomes_private_is_in_no_shared_space(consent: bool) -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    beside = spaces.registers(TELECOM, 3)
    spaces.agrees(UNICOM, consent=consent)
    spaces.stores(here, {"an": "1"})
    spaces.settle()
    spaces.stores(there, {"an": "1"}, terminal=TABLET)
    spaces.stores(here, {"an": "2"})
    on_the_way = list(spaces.under_way)
    spaces.stores(beside, {"an": "3"}, SpaceKind.PRIVATE)
    for event in (*on_the_way, *spaces.under_way):
        spaces.deliver(event)
        assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == spaces.holds(TELECOM) == {}
    assert spaces.waits(there) == {"an": NO_CONTACT}, "another terminal is told of a removal"
    assert spaces.waits(here) == {}, "this one knows"
    for sim_id, terminal in ((here, "lin_aaaaaaaa"), (there, TABLET)):
        stored = spaces.stores(sim_id, {"an": "4"}, terminal=terminal)
        assert (stored.private, stored.written) == (("an",), 0)
    assert spaces.stores(beside, {"an": None}, SpaceKind.PRIVATE).removed == 1
    assert spaces.stores(here, {"an": "4"}).written == 1, "it is private no longer"


@pytest.mark.claim("M3")
def test_of_a_contact_that_was_never_shared_nobody_is_told() -> None:
    spaces = Spaces()
    here = spaces.registers(MOBILE, 1)
    spaces.registers(UNICOM, 2)
    spaces.agrees(UNICOM)
    spaces.settle()
    spaces.published.clear()
    spaces.stores(here, {"an": "1"}, SpaceKind.PRIVATE)
    spaces.stores(here, {"an": None}, SpaceKind.PRIVATE)
    assert spaces.published == []
