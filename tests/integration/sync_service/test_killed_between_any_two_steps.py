"""The service is killed (SIGKILL) between two steps of a unit of work, and started again.

Whatever the moment: what was answered is stored once, the other terminal is given it and told of
it, nothing is a conflict, and the own card comes to the group.
"""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.integration.sync_service.books import Book, contact, uid_of
from tests.integration.sync_service.conftest import SERVICE
from tests.wire import System, running_system

from contactmesh.contracts.sync.commands import SetOwnCard
from contactmesh.contracts.sync.records import Outcome
from contactmesh.local.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

POINTS = (
    "before_commit",
    "in_transaction",
    "after_commit",
    "before_publish",
    "after_publish",
    "before_reply",
    "before_ack",
)
SHORT_FORM = ("in_transaction", "after_commit")
KILLED_AT = POINTS if os.environ.get("CONTACTMESH_LONG_TESTS") else SHORT_FORM


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


def _pid(system: System) -> int | None:
    return next(one.pid for one in system.stack.services if one.name == SERVICE)


@pytest.mark.claim("Y6")
@pytest.mark.parametrize("point", KILLED_AT)
async def test_nothing_is_lost_or_doubled(system: System, point: str) -> None:
    phone = Book(await system.terminal("lin"))
    tablet = Book(await system.another_terminal(phone.terminal.user_id))
    viewer = await system.terminal("bo")
    group_id = await phone.terminal.creates(viewer)
    await phone.saves({"me": contact("me", "1"), "an": contact("an", "1")})
    await phone.terminal.does(SetOwnCard(uid=uid_of("me")))
    await tablet.begins_anew()
    await viewer.until_pushed(phone.terminal, group_id, "1")
    await system.stack.stop(SERVICE)
    await system.stack.start(SERVICE, environment={"CONTACTMESH_FAULT_POINT": f"{point}:2"})
    pid = _pid(system)

    first = await phone.saves({"me": contact("me", "2"), "an": None, "bo": contact("bo", "1")})
    assert [one.outcome for one in first] == [Outcome.APPLIED] * 3, "decided once"
    second = await phone.saves({"me": contact("me", "3"), "chen": contact("chen", "1")})
    assert [one.outcome for one in second] == [Outcome.APPLIED] * 2, "decided once"

    async def was_killed() -> bool:
        return _pid(system) not in (pid, None)

    await until(was_killed, seconds=60)
    await tablet.catches_up()
    assert tablet.numbers() == phone.numbers() == {"bo": "1", "chen": "1", "me": "3"}
    revs = {uid: rev for uid, rev in phone.revs.items() if uid != uid_of("an")}
    assert {uid: tablet.revs[uid] for uid in revs} == revs
    given = [entry.uid for entry in tablet.given]
    assert sorted(given) == sorted(uid_of(name) for name in ("an", "bo", "chen", "me"))
    assert len(await phone.history("me")) == 3
    assert await phone.conflicts() == []
    told = {*revs.values(), phone.revs[uid_of("an")]}
    await tablet.terminal.until(lambda: told <= {one["rev"] for one in tablet.pushed()}, seconds=90)
    await viewer.until(lambda: "3" in viewer.pushed_numbers(phone.terminal, group_id), seconds=90)
