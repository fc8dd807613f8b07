"""Two copies of group_service and of fanout_service, commands and events doubled and shuffled."""

import asyncio
import os
import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, Terminal, number_of, running_system

from contactmesh.contracts.group.commands import Block, Lift
from contactmesh.messaging.topology import EVENTS

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

ROUNDS = 25 if os.environ.get("CONTACTMESH_LONG_TESTS") else 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    async with running_system(
        backends,
        tmp_path_factory.mktemp("system"),
        scale={"group_service": 2, "fanout_service": 2},
    ) as running:
        yield running


class Member:
    """What one member does, and what the others may know of it."""

    def __init__(self, terminal: Terminal, number: int, chance: random.Random) -> None:
        self.terminal = terminal
        self.number = number
        self.chance = chance
        self.rev: int | None = None
        self.current = ""
        self.hidden: dict[str, set[str]] = {}
        """By user: what was published while a block stood against them."""
        self.blocked: set[str] = set()

    async def lives(self, group_id: str, others: list[Terminal]) -> None:
        """Publish, with a block set or lifted in between; each command sent two or three times."""
        for turn in range(ROUNDS):
            other = self.chance.choice(others).user_id
            if other in self.blocked:
                await self._does(Lift(group_id=group_id, user_id=other))
                self.blocked.discard(other)
                # the present state is shown from now on
                self.hidden[other].discard(self.current)
            else:
                await self._does(Block(group_id=group_id, user_id=other))
                self.blocked.add(other)
            self.current = f"+86135{self.number:04d}{turn:04d}"
            for user_id in self.blocked:
                self.hidden.setdefault(user_id, set()).add(self.current)
            self.rev = await self.terminal.publishes(group_id, self.current, self.rev)

    async def _does(self, command: Block | Lift) -> None:
        message_id = await self.terminal.send_command(command)
        for _ in range(self.chance.randint(1, 2)):
            await self.terminal.send_command(command, message_id)
        assert (await self.terminal.reply_to(message_id)).error is None


@pytest.mark.claim("G1")
@pytest.mark.claim("G1b")
async def test_g1b_doubled_and_shuffled_nothing_is_lost_or_shown_that_is_hidden(
    system: System,
) -> None:
    terminals = await system.terminals("lin", "bo", "ada", "mei", "kit")
    chance = random.Random(5)
    members = [
        Member(terminal, number, random.Random(number)) for number, terminal in enumerate(terminals)
    ]
    lin, *rest = terminals
    async with system.channel() as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind(EVENTS, "#")
        group_id = await lin.creates(*rest)
        await asyncio.gather(
            *(
                member.lives(group_id, [one for one in terminals if one is not member.terminal])
                for member in members
            )
        )
        events: list[tuple[str, bytes]] = []
        while message := await tap.get(no_ack=True, fail=False):
            events.append((message.routing_key or "", message.body))
    chance.shuffle(events)
    await system.publish_events(events)

    # one that nobody is kept from passes through the same queues after all of these
    last = await system.terminal("zoe")
    await last.accepts(await lin.invites(group_id, last))
    await last.publishes(group_id, "+8613699999999", name="左伊")
    for terminal in terminals:
        await terminal.until_pushed(last, group_id, "+8613699999999")

    for viewer in terminals:
        pulled = await viewer.pulls(group_id)
        assert set(pulled) == {one.user_id for one in (*terminals, last)}
        for owner in members:
            if owner.terminal is viewer:
                continue
            hidden = owner.hidden.get(viewer.user_id, set())
            shown = number_of(pulled[owner.terminal.user_id].card)
            assert not [number for number in hidden if viewer.ever_saw(number)]
            if viewer.user_id in owner.blocked:
                assert shown != owner.current
            else:
                assert shown == owner.current
                assert pulled[owner.terminal.user_id].rev >= (owner.rev or 0)
