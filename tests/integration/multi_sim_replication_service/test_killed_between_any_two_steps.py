"""The service is killed (SIGKILL) between two steps of a unit of work, and started again.

Whatever the moment: what was answered is stored once, it comes to the other carrier, its SIM is
told of it, and a decision holds.
"""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    UNICOM,
    agrees,
    holds,
    registers,
)
from tests.wire import System, running_system

from contactmesh.local.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

SERVICE = "multi_sim_replication_service"
POINTS = ("before_commit", "after_commit", "before_publish", "before_reply", "before_ack")
SHORT_FORM = ("after_commit",)
KILLED_AT = POINTS if os.environ.get("CONTACTMESH_LONG_TESTS") else SHORT_FORM


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


def _pid(system: System) -> int | None:
    return next(one.pid for one in system.stack.services if one.name == SERVICE)


@pytest.mark.claim("M4")
@pytest.mark.claim("M6")
@pytest.mark.parametrize("point", KILLED_AT)
async def test_nothing_is_lost_or_doubled(system: System, point: str) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await agrees(phone, UNICOM)
    await system.stack.stop(SERVICE)
    await system.stack.start(SERVICE, environment={"CONTACTMESH_FAULT_POINT": f"{point}:2"})
    pid = _pid(system)

    stored = await one.stores({"an": "+861390000001"})
    assert (stored.written, stored.rev) == (1, 1), "decided once"
    again = await one.stores({"bo": "+861390000002"})
    assert (again.written, again.rev) == (1, 2), "decided once"

    async def was_killed() -> bool:
        return _pid(system) not in (pid, None)

    await until(was_killed, seconds=60)

    async def has_come() -> bool:
        return await holds(phone, MOBILE) == await holds(phone, UNICOM)

    await until(has_come, seconds=90)
    shown = await two.pending()
    assert {item.uid for item in shown.items} == {"urn:example:an", "urn:example:bo"}
    await phone.until(lambda: any(told["rev"] == shown.pending_rev for told in two.told()))
    assert (await two.decides(shown.pending_rev, accept=False)).settled == 2
    await one.stores({"an": "+861390000001", "bo": "+861390000002"})
    assert (await two.pending()).items == ()
