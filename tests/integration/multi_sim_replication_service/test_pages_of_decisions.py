"""A decision on more than one page settles, after a store too: with the real database (M6)."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.integration.multi_sim_replication_service.copies import SimCopy
from tests.integration.multi_sim_replication_service.holders import MOBILE, iccid
from tests.wire import card_of

from contactmesh.contracts.multi_sim.commands import Decide, RegisterSim, Store, StoredChange
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.storage.database import Database
from multi_sim_replication_service.repository import loading

pytestmark = pytest.mark.claim("M6")

PHONE, TABLET = "lin_aaaaaaaa", "lin_bbbbbbbb"


@pytest_asyncio.fixture
async def copy(
    database_url: str, database_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SimCopy]:
    monkeypatch.setattr(loading, "MOST_DECIDED", 2)
    name = f"{database_prefix}multi_sim_replication_service"
    async with Database(database_url, name) as database:
        copy = SimCopy(database)
        await copy.unit_of_work.prepare()
        await copy.reading.prepare()
        yield copy


async def _registers(copy: SimCopy, terminal_id: str, number: int) -> str:
    command = RegisterSim(carrier_id=MOBILE, iccid=iccid(number), name="SIM")
    result = (await copy.does(terminal_id, command)).result
    assert result is not None
    return str(result["sim_id"])


def _store(sim_id: str, *uids: str) -> Store:
    changes = tuple(
        StoredChange(uid=f"urn:example:{uid}", card=card_of(uid, "+861390000001")) for uid in uids
    )
    return Store(sim_id=sim_id, space=SpaceKind.SHARED, changes=changes)


@pytest.mark.parametrize("moves", [True, False], ids=["a store comes first", "alone"])
async def test_what_is_left_of_a_decision_is_counted(copy: SimCopy, moves: bool) -> None:
    here, there = await _registers(copy, PHONE, 1), await _registers(copy, TABLET, 2)
    await copy.does(PHONE, _store(here, "a", "b", "c", "d", "e"))
    decide = (TABLET, Decide(sim_id=there, pending_rev=5, accept=True))
    before = [(PHONE, _store(here, "f"))] if moves else []
    *_, reply = await copy.decides(*before, decide)
    assert reply.result is not None
    assert (reply.result["settled"], reply.result["left"]) == (2, 3)
    for settled, left in ((2, 1), (1, 0)):
        reply = await copy.does(*decide)
        assert reply.result is not None
        assert (reply.result["settled"], reply.result["left"]) == (settled, left)
        assert reply.result["waiting"] == left + moves
