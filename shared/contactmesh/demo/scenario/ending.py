"""Everything is counted, and every phonebook checked against the model."""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import aiohttp

from contactmesh.contacts import Card
from contactmesh.demo import texts
from contactmesh.demo.checks import (
    LOST,
    Difference,
    Fault,
    count_differences,
    phonebook_differences,
)
from contactmesh.demo.handsets import Handset
from contactmesh.demo.measuring import metric_total, percentile
from contactmesh.demo.result import Counted, Result
from contactmesh.demo.scenario.opening import OWNERS
from contactmesh.demo.scenario.stage import Stage
from contactmesh.local.stack import ServiceProcess
from contactmesh.local.waiting import until

_METRIC: Final = "contactmesh_fanout_withheld_total"
_SETTLE_SECONDS: Final = 10.0


async def check(stage: Stage, services: list[ServiceProcess]) -> Result:
    """Let every terminal pull once more, then check and count."""
    with stage.narrator.progress(texts.CHECKING, total=len(stage.handsets)) as advance:

        async def check_one(handset: Handset) -> int:
            await handset.terminal.pull()
            contacts = await _check_phonebook(stage, handset)
            advance(handset.owner.name)
            return contacts

        contacts = sum(await asyncio.gather(*map(check_one, stage.handsets)))
    await stage.inspect()
    members = await _members(stage)
    stage.tally.differences += count_differences(
        texts.COUNT_MEMBERS, expected=len(stage.world.members), actual=members
    )
    withheld = await _withheld(services, stage.world.withheld)
    stage.tally.differences += count_differences(
        texts.COUNT_WITHHELD, expected=stage.world.withheld, actual=withheld
    )
    differences = tuple(stage.tally.differences)
    counted = Counted(
        members=members,
        changes=len(stage.tally.changes),
        delivered=stage.delivered(),
        withheld_by_block=withheld,
        leaked=sum(one.fault is Fault.LEAKED for one in differences),
        lost=sum(one.fault in LOST for one in differences),
        p50_ms=_milliseconds(stage.tally.seconds, 0.5),
        p99_ms=_milliseconds(stage.tally.seconds, 0.99),
    )
    return Result(counted, differences, contacts, stage.tally.messages)


async def _check_phonebook(stage: Stage, handset: Handset) -> int:
    user = handset.owner.user_id
    shown: list[Card] = [contact.card for contact in await handset.contacts()]
    found: list[Difference] = phonebook_differences(
        handset.terminal_name,
        stage.world.phonebook(user),
        stage.cast.books[user].export.cards(),
        shown,
    )
    stage.tally.differences += found
    return len(shown)


async def _members(stage: Stage) -> int:
    found: set[str] = set()
    for group, owner in OWNERS.items():
        listed = await stage.phone(owner).terminal.show(stage.group_ids[group])
        found |= {member.user_id for member in listed.members}
    return len(found)


async def _withheld(services: list[ServiceProcess], expected: int) -> int:
    """What fanout_service counted, after the last of it had time to be counted."""
    total = 0
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:

        async def complete() -> bool:
            nonlocal total
            total = 0
            for service in services:
                if service.name == "fanout_service":
                    url = f"http://127.0.0.1:{service.http_port}/metrics"
                    async with session.get(url) as answer:
                        if answer.status != HTTPStatus.OK:
                            return False
                        total += metric_total(await answer.text(), _METRIC, reason="block")
            return total >= expected

        with suppress(TimeoutError):
            await until(complete, seconds=_SETTLE_SECONDS)
    return total


def _milliseconds(seconds: list[float], share: float) -> float:
    return round(percentile(seconds, share) * 1000, 1) if seconds else 0.0
