"""Quotas on the wire, with two copies of the service that count at once (rows M2, M3, M4)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.integration.multi_sim_replication_service.conftest import SERVICE
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    TELECOM,
    UNICOM,
    accounts_of,
    agrees,
    holds,
    iccid,
    registers,
)
from tests.wire import System, Terminal, card_of, running_system

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.multi_sim.commands import RegisterSim, Store, StoredChange
from contactmesh.contracts.multi_sim.records import SpaceKind

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("M2")]

CONTACTS, ACCOUNTS, SIMS, CARD_BYTES = 5, 2, 3, 4096


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process, this one as two, with small quotas."""
    async with running_system(
        backends,
        tmp_path_factory.mktemp("system"),
        scale={SERVICE: 2},
        environment={
            SERVICE: {
                "CONTACTMESH_SIM_ACCOUNTS_LIMIT": str(ACCOUNTS),
                "CONTACTMESH_SIMS_LIMIT": str(SIMS),
                "CONTACTMESH_SPACE_CONTACTS_LIMIT": str(CONTACTS),
                "CONTACTMESH_CARD_BYTES_LIMIT": str(CARD_BYTES),
            }
        },
    ) as running:
        yield running


async def _codes(sender: Terminal, commands: Sequence[Command]) -> Counter[ErrorCode | None]:
    """What commands that are sent all at once are answered."""
    replies = await asyncio.gather(*(sender.ask(command) for command in commands))
    assert all(reply.error.details.keys() == {"limit"} for reply in replies if reply.error)
    return Counter(None if reply.error is None else reply.error.code for reply in replies)


@pytest.mark.parametrize("space", SpaceKind)
async def test_of_contacts_that_are_stored_at_once_the_quota_is_kept_exactly(
    system: System, space: SpaceKind
) -> None:
    phone = await system.terminal("lin")
    held = await registers(phone, MOBILE, 1)
    stores = [held.store({f"c{number:02}": "+861390000001"}, space) for number in range(20)]
    kept = {None: CONTACTS, ErrorCode.QUOTA_EXCEEDED: 20 - CONTACTS}
    assert await _codes(phone, stores) == kept
    there = await holds(phone, MOBILE, space)
    assert len(there) == CONTACTS
    error = await phone.refused(held.store({"x": "1", "y": "2"}, space))
    assert error.message == f"A space may have {CONTACTS} contacts. Remove some first."
    first = next(iter(there)).removeprefix("urn:example:")
    page = {first: None, "x": "1", "y": "2"}
    assert (await phone.refused(held.store(page, space))).code is ErrorCode.QUOTA_EXCEEDED
    assert await holds(phone, MOBILE, space) == there, "nothing of the page was stored"
    assert (await held.stores({first: None, "x": "1"}, space)).written == 1


@pytest.mark.claim("M4")
async def test_what_an_agreeing_account_takes_over_is_not_counted_against_it(
    system: System,
) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await two.stores({f"u{number}": "+861390000001" for number in range(CONTACTS)})
    await agrees(phone, UNICOM)
    await one.stores({f"m{number}": "+861390000001" for number in range(CONTACTS)})
    await two.until_waiting(CONTACTS)
    assert len(await holds(phone, UNICOM)) == 2 * CONTACTS
    assert (await phone.refused(two.store({"x": "1"}))).code is ErrorCode.QUOTA_EXCEEDED
    assert (await two.stores({"u0": "+861390000002"})).written == 1, "what is there may change"


async def test_of_accounts_and_sims_that_are_made_at_once_the_quotas_are_kept_exactly(
    system: System,
) -> None:
    phone = await system.terminal("lin")
    carriers = [MOBILE, TELECOM, UNICOM, *(f"carrier-{number}" for number in range(9))]
    new = [
        RegisterSim(carrier_id=carrier_id, iccid=iccid(number), name="SIM")
        for number, carrier_id in enumerate(carriers)
    ]
    kept = {None: ACCOUNTS, ErrorCode.QUOTA_EXCEEDED: len(new) - ACCOUNTS}
    assert await _codes(phone, new) == kept
    there = [account.carrier_id for account in (await accounts_of(phone)).accounts]
    assert len(there) == ACCOUNTS
    more = [
        RegisterSim(carrier_id=there[0], iccid=iccid(100 + number), name="SIM")
        for number in range(10)
    ]
    kept = {None: SIMS - 1, ErrorCode.QUOTA_EXCEEDED: 10 - (SIMS - 1)}
    assert await _codes(phone, more) == kept
    accounts = (await accounts_of(phone)).accounts
    assert [len(account.sims) for account in accounts] == [SIMS, 1]
    assert await _codes(phone, [new[carriers.index(there[0])]]) == {None: 1}, "it is known"


async def test_a_card_that_is_too_large_is_refused_with_its_page(system: System) -> None:
    phone = await system.terminal("lin")
    held = await registers(phone, MOBILE, 1)
    note = {"n1": {"@type": "Note", "note": "x" * CARD_BYTES}}
    changes = (
        StoredChange(uid="urn:example:an", card=card_of("an", "+861390000001")),
        StoredChange(uid="urn:example:bo", card=card_of("bo", "+861390000002", notes=note)),
    )
    error = await phone.refused(Store(sim_id=held.sim_id, space=SpaceKind.SHARED, changes=changes))
    assert error.code is ErrorCode.TOO_LARGE
    assert error.details == {"limit_bytes": CARD_BYTES}
    assert await holds(phone, MOBILE) == {}
