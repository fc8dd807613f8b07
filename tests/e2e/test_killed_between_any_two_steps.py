"""A service is killed (SIGKILL) between two steps of a unit of work, and started again.

Terminals send a command again, under the same id, until it is answered. Whatever the moment:
nothing is lost, nothing is doubled, and nothing is shown to a member who is blocked.
"""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, Terminal, number_of, running_system

from contactmesh.contracts.group.commands import (
    Block,
    BlockList,
    GroupShown,
    Lift,
    ListBlocks,
    ShowGroup,
)
from contactmesh.local.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

LONG = bool(os.environ.get("CONTACTMESH_LONG_TESTS"))
GROUP_POINTS = (
    "before_commit",
    "after_commit",
    "before_publish",
    "after_publish",
    "before_reply",
    "before_ack",
)
FANOUT_POINTS = ("before_push", "after_push", "before_ack")
PASSAGES = range(1, 11) if LONG else (6,)
"""At which passage of the point it is killed; the sixth command is the hidden change."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


@dataclass
class Scenario:
    """What happened, and what each of the four must hold at the end."""

    point: str
    group_id: str
    lin: Terminal
    bo: Terminal
    mei: Terminal
    ada: Terminal
    numbers: list[str]
    revs: list[int]

    async def check_by_pull(self) -> None:
        """Every acknowledged change is there once, and bo holds what was before the block."""
        expected = {self.bo: self.numbers[2], self.mei: self.numbers[3], self.ada: self.numbers[3]}
        for terminal, number in expected.items():
            members = await terminal.pulls(self.group_id)
            assert len(members) == 4, self.point
            assert number_of(members[self.lin.user_id].card) == number, self.point
            assert number_of(members[self.ada.user_id].card) == self.numbers[0], self.point
        shown = await self.lin.does(ShowGroup(group_id=self.group_id))
        assert isinstance(shown, GroupShown)
        assert shown.group.members == 4
        assert shown.invitations == ()
        assert shown.blocked == (self.bo.user_id,)
        blocks = await self.lin.does(ListBlocks())
        assert isinstance(blocks, BlockList)
        assert blocks.everywhere == (self.bo.user_id,)
        assert self.revs == sorted(set(self.revs)), self.point
        at_mei = await self.mei.pulls(self.group_id)
        assert at_mei[self.lin.user_id].rev == self.revs[-1], "decided once"

    async def check_by_push(self) -> None:
        """Every change was pushed to everyone allowed, as one event, and to nobody else."""
        for number in self.numbers:
            await self.mei.until_pushed(self.lin, self.group_id, number)
        for number in self.numbers[1:]:  # ada came after the first
            await self.ada.until_pushed(self.lin, self.group_id, number)
        await self.bo.until_pushed(self.lin, self.group_id, self.numbers[2])
        for terminal in (self.bo, self.mei, self.ada):
            numbers = terminal.pushed_numbers(self.lin, self.group_id)
            assert len(numbers) == len(set(numbers)), f"{self.point}: two events for one change"
        for hidden in (self.numbers[1], self.numbers[3]):
            assert not self.bo.ever_saw(hidden), self.point


async def _play(system: System, point: str, number: int) -> Scenario:
    """Create, publish, invite, accept, block, publish, lift, publish, block, publish."""
    lin, bo, mei, ada = await system.terminals("lin", "bo", "mei", "ada")
    numbers = [f"+86138{number:04d}000{n}" for n in range(4)]
    group_id = await lin.creates(bo, mei)
    revs = [await lin.publishes(group_id, numbers[0])]
    await ada.accepts(await lin.invites(group_id, ada))
    await lin.does(Block(user_id=bo.user_id, group_id=group_id))
    revs.append(await lin.publishes(group_id, numbers[1], revs[-1]))
    await ada.publishes(group_id, numbers[0], name="Ada Byrne")
    await lin.does(Lift(user_id=bo.user_id, group_id=group_id))
    revs.append(await lin.publishes(group_id, numbers[2], revs[-1]))
    await lin.does(Block(user_id=bo.user_id))
    revs.append(await lin.publishes(group_id, numbers[3], revs[-1]))
    return Scenario(point, group_id, lin, bo, mei, ada, numbers, revs)


async def _play_with_kills(system: System, service: str, points: tuple[str, ...]) -> None:
    played: list[Scenario] = []
    for passage in PASSAGES:
        for point in points:
            await system.stack.stop(service)
            fault = {"CONTACTMESH_FAULT_POINT": f"{point}:{passage}"}
            await system.stack.start(service, environment=fault)
            pid = _pid(system, service)
            scenario = await _play(system, f"{point}:{passage}", len(played))

            async def was_killed(pid: int | None = pid) -> bool:
                return _pid(system, service) not in (pid, None)

            await until(was_killed, seconds=60)
            await scenario.check_by_pull()
            played.append(scenario)
    # The events that a dead process left in its outbox are taken over when its lease has ended.
    for scenario in played:
        await scenario.check_by_push()


def _pid(system: System, service: str) -> int | None:
    return next(one.pid for one in system.stack.services if one.name == service)


@pytest.mark.claim("G1")
@pytest.mark.claim("G1c")
async def test_g1c_group_service_killed_between_any_two_steps(system: System) -> None:
    await _play_with_kills(system, "group_service", GROUP_POINTS)


@pytest.mark.claim("G1c")
async def test_g1c_group_service_killed_within_a_transaction(system: System) -> None:
    """The database gives the dead process's transaction up after a minute: nothing is parked."""
    await _play_with_kills(system, "group_service", ("in_transaction",))


@pytest.mark.claim("G1b")
async def test_g1b_fanout_service_killed_between_any_two_steps(system: System) -> None:
    await _play_with_kills(system, "fanout_service", FANOUT_POINTS)
