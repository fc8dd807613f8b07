"""Blocks: in one group and in all, lifted and left standing."""

import asyncio
from collections.abc import Sequence

from contactmesh.demo import texts
from contactmesh.demo.checks import Difference, Fault
from contactmesh.demo.scenario.stage import Stage


async def block_in_one_group(stage: Stage) -> None:
    """Grace keeps a change from Carol in one group, and lifts the block later."""
    setter, blocked, other, group = "grace", "carol", "ben", texts.BADMINTON
    stage.narrator.step(texts.STEP_BLOCK)
    names = {"setter": stage.name(setter), "blocked": stage.name(blocked)}
    stage.narrator.say(texts.BLOCKED_HERE.format(group=group, **names))
    before = await _shown(stage, (blocked, other), setter)
    await stage.block(setter, blocked, group)
    await stage.phone(blocked).terminal.pull()
    phonebook = stage.phone(blocked).terminal.phonebook
    cursor = await phonebook.cursor(stage.group_ids[group])
    await stage.change(setter)
    await stage.phone(blocked).terminal.pull()
    if await phonebook.cursor(stage.group_ids[group]) != cursor:
        where = stage.phone(blocked).terminal_name
        stage.doubt(Difference(Fault.LEAKED, where, texts.CURSOR_MOVED, "", ""))
    during = await _shown(stage, (blocked, other), setter)
    await stage.lift(setter, blocked, group)
    after = await _shown(stage, (blocked, other), setter)
    stage.narrator.say(texts.LIFTED.format(**names))
    _table(stage, setter, (blocked, other), before, during, after)


async def block_everywhere(stage: Stage) -> None:
    """Li Na keeps two changes from Zhang Wei in all groups; Henry keeps one from Ivy for good."""
    stage.narrator.step(texts.STEP_BLOCK_EVERYWHERE)
    await _block_and_lift(stage, "li-na", "zhang-wei", other="wu-fang")
    await _block_for_good(stage, "henry", "ivy", other="alice")


async def _block_and_lift(stage: Stage, setter: str, blocked: str, *, other: str) -> None:
    names = {"setter": stage.name(setter), "blocked": stage.name(blocked)}
    stage.narrator.say(texts.BLOCKED_EVERYWHERE.format(**names))
    viewers = (blocked, other)
    before = await _shown(stage, viewers, setter)
    await stage.block(setter, blocked)
    await stage.change(setter)
    await stage.change(setter)
    await stage.phone(blocked).terminal.pull()
    during = await _shown(stage, viewers, setter)
    await stage.lift(setter, blocked)
    after = await _shown(stage, viewers, setter)
    stage.narrator.say(texts.LIFTED.format(**names))
    _table(stage, setter, viewers, before, during, after)


async def _block_for_good(stage: Stage, setter: str, blocked: str, *, other: str) -> None:
    names = {"setter": stage.name(setter), "blocked": stage.name(blocked)}
    viewers = (blocked, other)
    before = await _shown(stage, viewers, setter)
    await stage.block(setter, blocked)
    await stage.change(setter)
    await stage.phone(blocked).terminal.pull()
    during = await _shown(stage, viewers, setter)
    stage.narrator.gap()
    stage.narrator.say(texts.BLOCK_STAYS.format(**names))
    _table(stage, setter, viewers, before, during)


async def _shown(stage: Stage, viewers: Sequence[str], owner: str) -> list[str]:
    return await asyncio.gather(*(stage.shown(viewer, owner) for viewer in viewers))


def _table(stage: Stage, owner: str, viewers: Sequence[str], *moments: Sequence[str]) -> None:
    """What the viewers' phonebooks show for somebody at up to three moments."""
    titles = (texts.SEEN_BY.format(owner=stage.name(owner)), *texts.MOMENTS_OF_BLOCK)
    stage.narrator.table(
        titles[: 1 + len(moments)],
        [
            (stage.name(viewer), *numbers)
            for viewer, *numbers in zip(viewers, *moments, strict=True)
        ],
    )
