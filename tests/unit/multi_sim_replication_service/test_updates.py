"""What the terminal is told of an update that it requested, up to its end (row M5)."""

from collections.abc import Callable

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    LIN,
    MOBILE,
    PHONE,
    TABLET,
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
from contactmesh.contracts.multi_sim.events import CatchUp

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


def test_an_update_requested_twice_is_under_way_until_both_have_ended() -> None:
    spaces, sim = _new_sim_beside(FIVE)
    spaces.under_way.clear()
    for _ in range(2):
        spaces.does(RequestUpdate(sim_id=sim))
    second = spaces.under_way.pop()
    spaces.settle()
    assert not spaces.sim(sim).filling
    spaces.deliver(second)
    assert spaces.sim(sim).filling
    spaces.settle()
    assert _told(spaces, sim)[-2:] == [(5, False), (5, False)]


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
    spaces, sim = _new_sim_beside(FIVE)
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
    assert _told(spaces, sim, TABLET) == [(2, True), (4, True), (5, False)]
    spaces.published.clear()
    spaces.does(MoveSim(sim_id=sim), TABLET)
    assert spaces.published == [], "it is there"


def test_a_sim_that_nothing_waits_for_moves_silently() -> None:
    spaces, sim = _new_sim_beside(FIVE)
    spaces.does(MoveSim(sim_id=sim), TABLET)
    assert spaces.told_of(sim) == []
