"""Two carriers, three SIM cards, two terminals: with broker and database (rows M1-M6)."""

import asyncio

import pytest
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    UNICOM,
    accounts_of,
    agrees,
    holds,
    iccid,
    registers,
)
from tests.wire import System

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.multi_sim.commands import (
    ListAccounts,
    RegisterSim,
    RequestUpdate,
    SimRegistered,
)
from contactmesh.contracts.multi_sim.records import SpaceKind, UserInformation

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.claim("M4")
@pytest.mark.claim("M5")
@pytest.mark.claim("M6")
async def test_what_one_sim_stores_waits_for_the_others_until_they_decide(system: System) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    one = await registers(phone, MOBILE, 1)
    two = await registers(tablet, MOBILE, 2)
    three = await registers(tablet, UNICOM, 3)
    await agrees(phone, UNICOM)

    stored = await one.stores({"an": "+861390000001", "bo": "+861390000002", "chen": "1"})
    assert (stored.written, stored.rev) == (3, 3)
    for sim in (two, three):
        shown = await sim.until_waiting(3)
        assert [item.uid for item in shown.items] == [
            f"urn:example:{uid}" for uid in ("an", "bo", "chen")
        ]
    assert all("card" not in update for update in three.told()), "the terminal asks for contacts"
    assert phone.updates("contact.changed") == [], "told to the holder alone"

    rev = (await two.pending()).pending_rev
    assert (await two.decides(rev, accept=True)).settled == 3
    rev = (await three.pending()).pending_rev
    assert (await three.decides(rev, accept=False)).settled == 3
    assert (await two.pending()).items == (await three.pending()).items == ()
    await tablet.does(RequestUpdate(sim_id=three.sim_id))
    await one.stores({"an": None})
    shown = await three.until_waiting(1)
    assert [(item.uid, item.card) for item in shown.items] == [("urn:example:an", None)]
    assert await holds(phone, MOBILE) == await holds(phone, UNICOM)


@pytest.mark.claim("M3")
async def test_private_contacts_never_leave_their_account(system: System) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await agrees(phone, MOBILE)
    await agrees(phone, UNICOM)
    async with system.channel() as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind("contactmesh.events", "#")
        await one.stores({"secret": "+861390000777"}, SpaceKind.PRIVATE)
        await one.stores({"an": "+861390000001"})
        await two.until_waiting(1)
        bodies = []
        while message := await tap.get(no_ack=True, fail=False):
            bodies.append(message.body)
    assert any(b"+861390000001" in body for body in bodies)
    assert not any(b"secret" in body or b"+861390000777" in body for body in bodies)
    assert set(await holds(phone, MOBILE, SpaceKind.PRIVATE)) == {"urn:example:secret"}
    assert set(await holds(phone, UNICOM)) == {"urn:example:an"}


@pytest.mark.claim("M1")
@pytest.mark.claim("M2")
async def test_two_terminals_that_register_at_once_get_one_account(system: System) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    said = UserInformation(name="林晓雨")
    registered = await asyncio.gather(
        *(
            terminal.does(
                RegisterSim(carrier_id=MOBILE, iccid=iccid(number), name="SIM", information=said)
            )
            for number, terminal in enumerate((phone, tablet) * 4)
        )
    )
    accounts = await accounts_of(phone)
    assert accounts.information == said
    (account,) = accounts.accounts
    assert len(account.sims) == 8
    results = [one for one in registered if isinstance(one, SimRegistered)]
    assert sum(one.created for one in results) == 1
    assert {one.identification_code for one in results} == {account.identification_code}


@pytest.mark.claim("M5")
async def test_a_new_carrier_asks_for_the_others_book_page_by_page(system: System) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await one.stores({f"c{number}": f"+86139000000{number}" for number in range(5)})
    command = RequestUpdate(sim_id=two.sim_id, from_carrier_id=MOBILE)
    assert (await phone.refused(command)).code is ErrorCode.PERMISSION_DENIED
    await agrees(phone, UNICOM)
    await phone.does(command)
    shown = await two.until_waiting(5)
    assert len(shown.items) == 5
    assert await holds(phone, MOBILE) == await holds(phone, UNICOM)


async def test_a_revoked_terminals_sims_stay_and_are_moved(system: System) -> None:
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    await registers(phone, MOBILE, 1)
    await phone.close()
    await system.revoke(phone.id)
    (account,) = (await accounts_of(tablet)).accounts
    assert [sim.terminal_id for sim in account.sims] == [phone.id]
    moved = await registers(tablet, MOBILE, 1)
    assert moved.sim_id == account.sims[0].sim_id
    assert (await moved.view()).terminal_id == tablet.id


async def test_another_users_sim_looks_like_none(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    held = await registers(lin, MOBILE, 1)
    error = await bo.refused(held.store({"an": "1"}))
    assert error.code is ErrorCode.NOT_FOUND
    assert held.sim_id not in error.message
    reply = await bo.ask(ListAccounts())
    assert reply.result is not None
    assert reply.result["accounts"] == []
