"""The service is killed (SIGKILL) between two steps of a unit of work, and started again.

Whatever the moment, be it in a command or in an event: what was answered is stored once, it comes
to the other carrier, private contacts do not, the SIMs' terminals are told what waits and that a
requested update has ended, and a decision holds.
"""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    UNICOM,
    Held,
    agrees,
    holds,
    registers,
)
from tests.wire import System, running_system

from contactmesh.contracts.multi_sim.commands import RequestUpdate
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.local.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(3_000)]

SERVICE = "multi_sim_replication_service"
POINTS = (
    "before_commit",
    "in_transaction",
    "after_commit",
    "before_publish",
    "after_publish",
    "before_reply",
    "before_ack",
)
PASSAGES = range(1, 5)
"""At which passage of the point it is killed: four commands come by, and their events."""
KILLED_AT = (
    [(point, passage) for passage in PASSAGES for point in POINTS]
    if os.environ.get("CONTACTMESH_LONG_TESTS")
    else [("after_commit", 2), ("before_publish", 3)]
)
BOTH = {"urn:example:an", "urn:example:bo"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


def _pid(system: System) -> int | None:
    return next(one.pid for one in system.stack.services if one.name == SERVICE)


@dataclass
class Scenario:
    """The SIM that stored, one at the other carrier, and one beside it in another terminal."""

    killed_at: str
    one: Held
    two: Held
    three: Held

    async def check(self) -> None:
        """What was answered is there, has come to the other carrier, and is told of."""
        phone = self.one.terminal

        async def has_come() -> bool:
            return set(await holds(phone, UNICOM)) == BOTH

        # The events that a dead process left in its outbox are taken over when its lease has ended.
        await until(has_come, seconds=90)
        assert await holds(phone, MOBILE) == await holds(phone, UNICOM), self.killed_at
        private = await holds(phone, MOBILE, SpaceKind.PRIVATE)
        assert set(private) == {"urn:example:secret"}, self.killed_at
        assert await holds(phone, UNICOM, SpaceKind.PRIVATE) == {}, self.killed_at
        await self.two.terminal.until(self._update_has_ended, seconds=90)
        for sim in (self.two, self.three):
            await self._check_pending(sim)
        assert not phone.ever_saw("+861390000777"), self.killed_at

    def _update_has_ended(self) -> bool:
        told = self.two.told()
        return any(one["waiting"] == len(BOTH) and not one["filling"] for one in told)

    async def _check_pending(self, sim: Held) -> None:
        shown = await sim.pending()
        assert {item.uid for item in shown.items} == BOTH, self.killed_at
        assert shown.waiting == len(BOTH), self.killed_at
        assert not shown.filling, self.killed_at
        await sim.until_told(rev=shown.pending_rev, waiting=len(BOTH), filling=False)
        revs = [told["rev"] for told in sim.told()]
        assert len(revs) == len(set(revs)), f"{self.killed_at}: two events for one change"
        assert (await sim.decides(shown.pending_rev, accept=False)).settled == len(BOTH)
        await sim.terminal.does(RequestUpdate(sim_id=sim.sim_id))
        await sim.until_told(waiting=0, filling=False)
        assert (await sim.pending()).items == (), f"{self.killed_at}: a declined content is back"


async def _play(system: System, killed_at: str) -> Scenario:
    """Store twice, request an update, store privately; the service is killed meanwhile."""
    phone = await system.terminal("lin")
    tablet = await system.another_terminal(phone.user_id)
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    three = await registers(tablet, MOBILE, 3)
    await agrees(phone, UNICOM)
    await system.stack.stop(SERVICE)
    await system.stack.start(SERVICE, environment={"CONTACTMESH_FAULT_POINT": killed_at})
    pid = _pid(system)

    stored = await one.stores({"an": "+861390000001"})
    assert (stored.written, stored.rev) == (1, 1), f"{killed_at}: decided once"
    again = await one.stores({"bo": "+861390000002"})
    assert (again.written, again.rev) == (1, 2), f"{killed_at}: decided once"
    await phone.does(RequestUpdate(sim_id=two.sim_id, from_carrier_id=MOBILE))
    private = await one.stores({"secret": "+861390000777"}, SpaceKind.PRIVATE)
    assert (private.written, private.rev) == (1, 1), f"{killed_at}: decided once"

    async def was_killed() -> bool:
        if _pid(system) == pid:  # one more command with its events, so that it gets there
            await phone.does(RequestUpdate(sim_id=two.sim_id))
        return _pid(system) not in (pid, None)

    await until(was_killed, seconds=60)
    return Scenario(killed_at, one, two, three)


@pytest.mark.claim("M3")
@pytest.mark.claim("M4")
@pytest.mark.claim("M5")
@pytest.mark.claim("M6")
async def test_nothing_is_lost_or_doubled(system: System) -> None:
    played = [await _play(system, f"{point}:{passage}") for point, passage in KILLED_AT]
    for scenario in played:
        await scenario.check()
