"""What the terminal is told of an update that it requested, up to its end (row M5)."""

from collections.abc import Callable
from random import Random

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    LIN,
    MOBILE,
    PHONE,
    TABLET,
    TELECOM,
    UNICOM,
    Spaces,
    iccid,
)

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.multi_sim.commands import (
    MoveSim,
    RegisterSim,
    RemoveSim,
    RequestUpdate,
    SimRegistered,
)
from contactmesh.contracts.multi_sim.events import CatchUp, SimRemoved

pytestmark = pytest.mark.claim("M5")

FIVE = {f"c{number}": "1" for number in range(5)}


def _told(spaces: Spaces, sim_id: str, terminal: str = PHONE) -> list[tuple[int, bool]]:
    """What a terminal was told of a SIM, in order: how many wait, and whether more follow."""
    pending = [one.pending for one in spaces.told_of(sim_id)]
    return [
        (one.waiting, one.filling)
        for one in pending
        if one is not None and one.terminal_id == terminal
    ]


def _new_sim_beside(contacts: dict[str, str]) -> tuple[Spaces, str]:
    spaces = Spaces()
    spaces.stores(spaces.registers(MOBILE, 1, TABLET), dict(contacts), terminal=TABLET)
    return spaces, spaces.registers(MOBILE, 2)


def test_every_page_says_that_more_follow_but_the_last() -> None:
    spaces, sim = _new_sim_beside(FIVE)
    spaces.does(RequestUpdate(sim_id=sim))
    spaces.settle()
    assert _told(spaces, sim) == [(2, True), (4, True), (5, False)]
    revs = [one.rev for one in spaces.told_of(sim)]
    assert revs == sorted(set(revs)), "each has a revision of its own"


@pytest.mark.parametrize("contacts", [{}, FIVE], ids=["an empty space", "all seen already"])
def test_the_end_is_told_also_when_nothing_waits(contacts: dict[str, str]) -> None:
    spaces, sim = _new_sim_beside(contacts)
    spaces.stores(sim, dict(contacts))
    spaces.published.clear()
    spaces.does(RequestUpdate(sim_id=sim))
    spaces.settle()
    assert _told(spaces, sim) == [(0, False)]
    assert not spaces.sim(sim).filling


def test_an_update_from_another_account_says_that_more_follow_until_its_end() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.agrees(MOBILE)
    spaces.settle()
    spaces.stores(there, dict(FIVE), terminal=TABLET)
    spaces.under_way.clear()
    spaces.does(RequestUpdate(sim_id=here, from_carrier_id=UNICOM))
    spaces.settle()
    told = _told(spaces, here)
    assert told[-1] == (5, False)
    assert {filling for _, filling in told[:-1]} == {True}


def test_a_consent_that_is_withdrawn_on_the_way_ends_the_update() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2, TABLET)
    spaces.agrees(MOBILE)
    spaces.settle()
    spaces.stores(there, dict(FIVE), terminal=TABLET)
    spaces.under_way.clear()
    spaces.does(RequestUpdate(sim_id=here, from_carrier_id=UNICOM))
    spaces.deliver(spaces.under_way.pop(0))
    spaces.agrees(MOBILE, consent=False)
    spaces.settle()
    assert len(spaces.waits(here)) == 2, "what has been copied stays, and no more came"
    assert _told(spaces, here)[-1] == (2, False)
    assert not spaces.sim(here).filling


def _pages(spaces: Spaces) -> int:
    """How many pages were asked for."""
    return sum(isinstance(one, CatchUp) for one in spaces.published)


@pytest.mark.parametrize("seed", range(5))
def test_requests_while_an_update_is_under_way_join_it(seed: int) -> None:
    spaces, sim = _new_sim_beside(FIVE)
    spaces.settle()
    spaces.published.clear()
    for _ in range(10):
        spaces.does(RequestUpdate(sim_id=sim))
    spaces.settle(Random(seed))
    assert not spaces.sim(sim).filling
    assert _pages(spaces) == 10 + 2, "three pages, and once more for each request"
    assert _told(spaces, sim) == [(5, False)], "it has been told of all before"


@pytest.mark.parametrize("seed", range(5))
def test_a_consent_given_again_and_again_starts_one_update(seed: int) -> None:
    spaces = Spaces()
    here = spaces.registers(MOBILE, 1)
    spaces.stores(here, dict(FIVE))
    spaces.registers(UNICOM, 2)
    random = Random(seed)
    for _ in range(10):
        spaces.agrees(UNICOM)
        if spaces.under_way and random.random() < 0.5:
            spaces.deliver(spaces.under_way.pop(0))
        spaces.agrees(UNICOM, consent=False)
    spaces.stores(here, {"c0": "2"})
    spaces.agrees(UNICOM)
    before = _pages(spaces)
    spaces.settle(random)
    assert spaces.holds(UNICOM) == spaces.holds(MOBILE)
    assert spaces.account(UNICOM).updates == ()
    assert _pages(spaces) - before <= 2, "two pages more, whatever was begun before"


def test_a_page_that_comes_again_asks_for_nothing() -> None:
    spaces, sim = _new_sim_beside(FIVE)
    (page,) = (one for one in spaces.under_way if isinstance(one, CatchUp))
    spaces.deliver(page)
    published = len(spaces.published)
    spaces.deliver(page)
    assert len(spaces.published) == published
    spaces.settle()
    assert spaces.sim(sim).waiting == len(FIVE)


def test_requests_from_two_accounts_both_come() -> None:
    spaces = Spaces()
    here = spaces.registers(MOBILE, 1)
    for carrier_id, number in ((UNICOM, 2), (TELECOM, 3)):
        sim = spaces.registers(carrier_id, number, TABLET)
        spaces.stores(sim, {f"{carrier_id} {uid}": "1" for uid in FIVE}, terminal=TABLET)
    spaces.agrees(MOBILE)
    spaces.under_way.clear()
    for carrier_id in (UNICOM, TELECOM):
        spaces.does(RequestUpdate(sim_id=here, from_carrier_id=carrier_id))
    spaces.settle()
    assert len(spaces.waits(here)) == 2 * len(FIVE)
    told = _told(spaces, here)
    assert told[-1] == (10, False)
    assert {filling for _, filling in told[:-1]} == {True}


def _removes(spaces: Spaces, sim_id: str) -> None:
    spaces.does(RemoveSim(sim_id=sim_id), TABLET)


def _is_recycled(spaces: Spaces, _sim_id: str) -> None:
    ref = RegistrationRef(carrier_id=MOBILE, registration_seq="7")
    spaces.deliver(RegistrationRecycled(owner_id=LIN, ref=ref))


@pytest.mark.parametrize("goes", [_removes, _is_recycled])
@pytest.mark.parametrize("pages", [0, 1, 3], ids=["at once", "on the way", "after the end"])
def test_a_sim_that_goes_takes_its_update_with_it(
    goes: Callable[[Spaces, str], None], pages: int
) -> None:
    spaces, _ = _new_sim_beside(FIVE)
    registered = spaces.does(
        RegisterSim(carrier_id=MOBILE, iccid=iccid(3), name="three", registration_seq="7")
    )
    assert isinstance(registered, SimRegistered)
    sim = registered.sim_id
    spaces.under_way.clear()
    spaces.does(RequestUpdate(sim_id=sim))
    for _ in range(pages):
        page = next(one for one in spaces.under_way if isinstance(one, CatchUp))
        spaces.under_way.remove(page)
        spaces.deliver(page)
    before = spaces.sim(sim).pending_rev
    goes(spaces, sim)
    spaces.settle()
    assert _told(spaces, sim)[-1] == (0, False)
    assert spaces.told_of(sim)[-1].rev > before
    assert spaces.waits(sim) == {}


def test_a_sim_that_nothing_waits_for_goes_silently() -> None:
    spaces, sim = _new_sim_beside({})
    spaces.does(RemoveSim(sim_id=sim))
    assert _told(spaces, sim) == []


@pytest.mark.parametrize("registered", [True, False], ids=["registered anew", "moved"])
def test_a_sim_that_moves_takes_its_update_along(registered: bool) -> None:
    spaces, sim = _new_sim_beside(FIVE)
    spaces.under_way.clear()
    spaces.does(RequestUpdate(sim_id=sim))
    spaces.deliver(spaces.under_way.pop(0))
    if registered:
        spaces.registers(MOBILE, 2, TABLET)
    else:
        spaces.does(MoveSim(sim_id=sim), TABLET)
    spaces.settle()
    assert _told(spaces, sim, PHONE) == [(2, True), (0, False)]
    assert _told(spaces, sim, TABLET) == [(2, True), (4, True), (5, False)], "from its beginning"
    spaces.published.clear()
    spaces.does(MoveSim(sim_id=sim), TABLET)
    assert spaces.published == [], "it is there"


def test_a_sim_that_nothing_waits_for_moves_silently() -> None:
    spaces, sim = _new_sim_beside({})
    spaces.does(MoveSim(sim_id=sim), TABLET)
    assert spaces.told_of(sim) == []


def test_what_was_seen_stays_in_the_terminal_that_saw_it() -> None:
    """A SIM goes from the phone to the tablet and back; nothing of either is taken as seen."""
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    spaces.stores(sim, dict(FIVE))
    first = spaces.sim(sim).view_id
    spaces.does(MoveSim(sim_id=sim), TABLET)
    spaces.settle()
    assert spaces.waits(sim) == spaces.holds(MOBILE)
    spaces.decides(sim, accept=True, terminal=TABLET)
    spaces.stores(sim, {"c0": "of the tablet"}, terminal=TABLET)
    spaces.does(MoveSim(sim_id=sim), PHONE)
    spaces.settle()
    assert spaces.waits(sim) == spaces.holds(MOBILE), "also what the tablet stored"
    ended = [one for one in spaces.published if isinstance(one, SimRemoved)]
    assert [one.moved for one in ended] == [True, True]
    views = {one.view_id for one in spaces.state.sim_entries}
    assert views == {spaces.sim(sim).view_id}, "what the others saw is forgotten"
    assert first == ended[0].view_id
