"""Edits that were not seen, private spaces, and SIMs that move: with broker and database."""

import pytest
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    UNICOM,
    Held,
    agrees,
    holds,
    registers,
)
from tests.wire import System, card_of

from contactmesh.contacts import digest
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.multi_sim.commands import (
    ListEntries,
    MoveSim,
    Pending,
    ShowPending,
    Store,
    Stored,
    StoredChange,
)
from contactmesh.contracts.multi_sim.records import SpaceKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE, TWO, THREE = "+861390000001", "+861390000002", "+861390000003"


async def _stores(held: Held, number: str, known: str) -> Stored:
    """Store a contact over the number that is known."""
    change = StoredChange(
        uid="urn:example:an", card=card_of("an", number), known=digest(card_of("an", known))
    )
    command = Store(sim_id=held.sim_id, space=SpaceKind.SHARED, changes=(change,))
    stored = await held.terminal.does(command)
    assert isinstance(stored, Stored)
    return stored


@pytest.mark.claim("M4")
@pytest.mark.claim("M5")
async def test_an_unseen_edit_waits_instead_of_being_overwritten(system: System) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    here, there = await registers(phone, MOBILE, 1), await registers(tablet, MOBILE, 2)
    await here.stores({"an": ONE, "bo": ONE, "chen": ONE})
    shown = await there.until_waiting(3)
    await there.decides(shown.pending_rev, accept=True)
    assert (await _stores(here, TWO, known=ONE)).written == 1
    stored = await _stores(there, THREE, known=ONE)
    assert (stored.behind, stored.written) == (("urn:example:an",), 0)
    await here.stores({"bo": TWO, "chen": TWO})
    uids = ("urn:example:bo", "urn:example:an", "urn:example:dai")
    named = await tablet.does(ShowPending(sim_id=there.sim_id, uids=uids))
    assert isinstance(named, Pending)
    assert [one.uid for one in named.items] == ["urn:example:an", "urn:example:bo"]
    assert named.waiting == 3
    assert named.items[0].card == card_of("an", TWO).to_json()
    assert named.items[0].over == digest(card_of("an", ONE))
    first = await tablet.does(ShowPending(sim_id=there.sim_id, uids=uids, limit=1))
    assert isinstance(first, Pending)
    assert first.after is not None
    rest = await tablet.does(ShowPending(sim_id=there.sim_id, uids=uids, after=first.after))
    assert isinstance(rest, Pending)
    assert [[one.uid for one in page.items] for page in (first, rest)] == [
        ["urn:example:an"],
        ["urn:example:bo"],
    ]
    await there.decides(named.pending_rev, accept=False)
    assert (await _stores(there, THREE, known=TWO)).written == 1, "over what it declined"


@pytest.mark.claim("M3")
async def test_a_private_space_is_shown_to_a_terminal_with_a_sim_of_its_account(
    system: System,
) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    here, there = await registers(phone, MOBILE, 1), await registers(tablet, UNICOM, 2)
    await agrees(phone, UNICOM)
    await here.stores({"an": ONE})
    await there.until_waiting(1)
    await here.stores({"an": ONE}, SpaceKind.PRIVATE)
    assert await holds(phone, MOBILE) == await holds(phone, UNICOM) == {}
    assert set(await holds(phone, MOBILE, SpaceKind.PRIVATE)) == {"urn:example:an"}
    await there.until_waiting(0)
    error = await tablet.refused(ListEntries(carrier_id=MOBILE, space=SpaceKind.PRIVATE))
    assert error.code is ErrorCode.PERMISSION_DENIED
    assert "Move one here first" in error.message
    assert (await there.stores({"an": TWO})).private == ("urn:example:an",)
    assert await holds(tablet, MOBILE) == {}


@pytest.mark.claim("M5")
async def test_a_sim_in_another_terminal_gets_all_that_its_account_holds(system: System) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    held = await registers(phone, MOBILE, 1)
    contacts: dict[str, str | None] = {f"c{number}": ONE for number in range(5)}
    await held.stores(contacts)
    for terminal in (tablet, phone):
        await terminal.does(MoveSim(sim_id=held.sim_id))
        moved = Held(terminal, held.sim_id)
        await moved.until_told(waiting=len(contacts), filling=False)
        shown = await moved.pending()
        assert [one.uid for one in shown.items] == [f"urn:example:{uid}" for uid in contacts]
        assert (await moved.decides(shown.pending_rev, accept=True)).settled == len(contacts)
