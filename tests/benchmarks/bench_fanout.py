"""How fast changes reach the queues of a group's members, beside a bare publish to the same queues.

Run as `python -m tests.benchmarks.bench_fanout [--json]`. Rounds take turns, so that a busy machine
slows all alike; figures are medians. Every round checks that each queue got every change once.

- bare: a loop that publishes transient BCC messages to the members' queues, and does nothing else;
- fan-out: events that lie committed in fanout_service's queue, from its first delivery to the last;
- whole: commands of members who change their cards, from the first publish to the last delivery.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import aio_pika
from aio_pika.abc import AbstractChannel
from pamqp.common import FieldTable
from rich.console import Console
from rich.table import Table
from tests.benchmarks.asking import Asking

from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.commands import CreateGroup, PublishCard
from contactmesh.contracts.reply import Reply
from contactmesh.local.stack import Stack, StackSettings
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import TERMINALS, user_key

TALLY = "bench.tally"


@dataclass(frozen=True)
class Figures:
    """Changes a second, each delivered to `recipients` queues."""

    recipients: int
    groups: int
    bare: float
    fan_out: float
    whole: float

    @property
    def fan_out_ratio(self) -> float:
        return self.fan_out / self.bare

    @property
    def whole_ratio(self) -> float:
        return self.whole / self.bare


def card(user_id: str, number: int) -> Card:
    return Card.model_validate(
        {
            "uid": f"urn:example:{user_id}",
            "name": {"full": f"{user_id} 王"},
            "phones": {
                "mobile": {"number": f"+86138{number:08d}", "features": {"mobile": True}},
                "home": {"number": "+862112345678"},
            },
            "emails": {"work": {"address": f"{user_id}@example.com"}},
            "organizations": {"org": {"name": "示例公司"}},
        }
    )


class Members:
    """Everybody in the groups: who they are, what they published last, and the replies."""

    def __init__(
        self, channel: AbstractChannel, publisher: Publisher, sizes: Sequence[int]
    ) -> None:
        self.channel = channel
        self.groups = [[f"g{g}u{u}" for u in range(size)] for g, size in enumerate(sizes)]
        self.group_ids: list[str] = []
        self.revs: dict[str, int] = {}
        self.number = 0
        self.asking = Asking(channel, publisher)

    async def prepare(self) -> None:
        """Declare everybody's queue, one that tallies, and one for replies; create the groups."""
        for users in self.groups:
            for user_id in users:
                queue = await self.channel.declare_queue(f"terminal.{user_id}", durable=True)
                await queue.bind(TERMINALS, user_key(user_id))
        tally = await self.channel.declare_queue(TALLY, durable=True)
        for users in self.groups:
            await tally.bind(TERMINALS, user_key(users[0]))
        await self.asking.prepare()
        creating = [
            (users[0], CreateGroup(name="bench", members=tuple(users[1:]))) for users in self.groups
        ]
        created = await self.ask(creating)
        self.group_ids = [str(reply.result["group_id"]) for reply in created]

    async def ask(self, commands: Sequence[tuple[str, Command]]) -> list[Reply]:
        """Send commands of users, all at once, and wait for every reply."""
        return await self.asking.ask(
            [(f"{user_id}_aaaaaaaa", command) for user_id, command in commands]
        )

    async def change(self, changes: int) -> None:
        """Let so many members change their cards, in all groups by turns."""
        everybody = [
            (g, users[u])
            for u in range(max(map(len, self.groups)))
            for g, users in enumerate(self.groups)
            if u < len(users)
        ]
        done = 0
        while done < changes:
            some = everybody[: changes - done]
            self.number += 1
            replies = await self.ask(
                [
                    (
                        user_id,
                        PublishCard(
                            group_id=self.group_ids[g],
                            card=card(user_id, self.number),
                            base_rev=self.revs.get(user_id),
                        ),
                    )
                    for g, user_id in some
                ]
            )
            for (_, user_id), reply in zip(some, replies, strict=True):
                self.revs[user_id] = int(reply.result["rev"])
            done += len(some)

    async def tally(self) -> int:
        queue = await self.channel.declare_queue(TALLY, passive=True)
        return queue.declaration_result.message_count or 0

    async def until(self, count: int) -> float:
        """When the tally has reached a count."""
        async with asyncio.timeout(300):
            # The broker does not tell when a queue has reached a length; asking takes a turn.
            while await self.tally() < count:
                pass
        return time.perf_counter()

    async def purge(self) -> None:
        for name in (TALLY, *(f"terminal.{user}" for users in self.groups for user in users)):
            queue = await self.channel.get_queue(name, ensure=False)
            await queue.purge()

    async def check(self, changes: int) -> None:
        """Every queue holds the changes of its group, each once."""
        in_group = [changes // len(self.groups)] * len(self.groups)
        for g in range(changes % len(self.groups)):
            in_group[g] += 1
        for users, expected in zip(self.groups, in_group, strict=True):
            for user_id in users:
                queue = await self.channel.declare_queue(f"terminal.{user_id}", passive=True)
                count = queue.declaration_result.message_count
                if count != expected:
                    raise SystemExit(f"terminal.{user_id} holds {count}, expected {expected}")


async def bare(connection_url: str, members: Members, changes: int) -> float:
    """Seconds for a bare loop to publish as many messages to the same queues."""
    body = Envelope.of(
        PublishCard(group_id=members.group_ids[0], card=card("g0u0", 1)),
        id="0" * 36,
        source="/services/fanout_service",
        time=datetime.now(UTC),
    ).encode()
    connection = await aio_pika.connect(connection_url)
    async with connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange(TERMINALS, ensure=False)
        keys = [[user_key(user_id) for user_id in users] for users in members.groups]

        async def publish(number: int) -> None:
            headers: FieldTable = {"BCC": [*keys[number % len(keys)]]}
            message = aio_pika.Message(body, headers=headers)
            await exchange.publish(message, "fan-out", mandatory=False)

        start = time.perf_counter()
        for first in range(0, changes, 200):
            await asyncio.gather(*map(publish, range(first, min(first + 200, changes))))
        return await members.until(changes) - start


async def fan_out(stack: Stack, members: Members, changes: int) -> float:
    """Seconds from the first delivery of waiting events to the last."""
    await stack.stop("fanout_service", 1)
    await members.change(changes)
    await stack.start("fanout_service", 1)
    warm = max(1, changes // 20)
    start = await members.until(warm)
    already = await members.tally()
    return (await members.until(changes) - start) * changes / (changes - already)


async def whole(members: Members, changes: int) -> float:
    """Seconds from the first command to the last delivery."""
    start = time.perf_counter()
    await members.change(changes)
    return await members.until(changes) - start


async def measure(stack: Stack, size: int, groups: int, changes: int, rounds: int) -> Figures:
    """Rounds in turn, each with every queue checked and emptied after it."""
    connection = await aio_pika.connect(stack.amqp_url)
    async with connection, Publisher(stack.amqp_url, "bench") as publisher:
        members = Members(await connection.channel(), publisher, [size] * groups)
        await members.prepare()
        await members.change(groups * 2)
        await members.until(groups * 2)
        await asyncio.sleep(1)
        await members.purge()
        speeds: dict[str, list[float]] = {"bare": [], "fan_out": [], "whole": []}
        for _ in range(rounds):
            for name, measured in speeds.items():
                match name:
                    case "bare":
                        seconds = await bare(stack.amqp_url, members, changes)
                    case "fan_out":
                        seconds = await fan_out(stack, members, changes)
                    case _:
                        seconds = await whole(members, changes)
                measured.append(changes / seconds)
                await members.check(changes)
                await members.purge()
        for users in members.groups:
            for user_id in users:
                await members.channel.queue_delete(f"terminal.{user_id}")
        await members.channel.queue_delete(TALLY)
        await members.asking.close()
        return Figures(size, groups, *(statistics.median(speeds[name]) for name in speeds))


async def run(sizes: Sequence[tuple[int, int, int]], rounds: int) -> list[Figures]:
    """One stack of its own for all sizes."""
    figures = []
    with tempfile.TemporaryDirectory() as data:
        for size, groups, changes in sizes:
            settings = StackSettings(data=Path(data) / str(size), amqp_url=None, mongodb_url=None)
            async with Stack(settings) as stack:
                figures.append(await measure(stack, size, groups, changes, rounds))
    return figures


SIZES = ((10, 50, 1000), (50, 20, 1000), (1000, 1, 100))
SMOKE = ((10, 5, 50),)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="a small run that only shows it works")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    sizes, rounds = (SMOKE, 1) if options.smoke else (SIZES, options.rounds)
    figures = asyncio.run(run(sizes, rounds))
    if options.json:
        json.dump([asdict(one) for one in figures], sys.stdout)
        sys.stdout.write("\n")
        return
    table = Table("recipients", "bare /s", "fan-out /s", "ratio", "whole /s", "ratio")
    for one in figures:
        table.add_row(
            str(one.recipients),
            f"{one.bare:.0f}",
            f"{one.fan_out:.0f}",
            f"{one.fan_out_ratio:.2f}",
            f"{one.whole:.0f}",
            f"{one.whole_ratio:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
