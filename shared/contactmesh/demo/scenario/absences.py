"""Terminals that are off, that want no pushes, and members who leave."""

import asyncio
from typing import Final

from contactmesh.demo import texts
from contactmesh.demo.checks import Difference, Fault
from contactmesh.demo.scenario.stage import Stage

_MEANWHILE: Final = ("alice", "erin", "wang-xiaoming")


async def be_offline(stage: Stage) -> None:
    """Dave's phone is off while three people change their numbers, one of them on two terminals."""
    stage.narrator.step(texts.STEP_OFFLINE)
    away = "dave"
    phone = stage.phone(away)
    before = await asyncio.gather(*(stage.shown(away, owner) for owner in _MEANWHILE))
    await phone.switch_off()
    for owner in _MEANWHILE:
        await stage.change(owner)
    stage.narrator.say(texts.WENT_OFFLINE.format(name=stage.name(away), count=len(_MEANWHILE)))
    await _tell_of_second_terminal(stage, "erin")
    clock = asyncio.get_running_loop().time
    start = clock()
    await phone.switch_on()
    await stage.arrived(stage.current([away], _MEANWHILE))
    stage.narrator.say(texts.CAME_BACK.format(value=(clock() - start) * 1000))
    after = await asyncio.gather(*(stage.shown(away, owner) for owner in _MEANWHILE))
    stage.narrator.table(
        texts.COLUMNS_BOOKS,
        [
            (stage.name(away), stage.name(owner), old, new)
            for owner, old, new in zip(_MEANWHILE, before, after, strict=True)
        ],
    )


async def _tell_of_second_terminal(stage: Stage, user: str) -> None:
    changed_on, other = stage.handsets_of(user)

    async def has_learnt() -> bool:
        cards = await other.terminal.phonebook.own_cards()
        numbers = {one.number for own in cards for one in (own.card.phones or {}).values()}
        return numbers == {stage.numbers[user]}

    await stage.until(
        has_learnt, texts.LEARNS_OWN.format(name=stage.name(user), terminal=other.name)
    )
    stage.narrator.say(
        texts.SECOND_TERMINAL.format(
            name=stage.name(user), terminal=other.name, other=changed_on.name
        )
    )


async def be_unsubscribed(stage: Stage) -> None:
    """Frank's phone wants no pushes and learns of a change when it pulls."""
    stage.narrator.step(texts.STEP_UNSUBSCRIBED)
    puller, owner, group = "frank", "ben", texts.BADMINTON
    phone = stage.phone(puller)
    await phone.terminal.unsubscribe(stage.group_ids[group])
    stage.unsubscribed.add(phone.terminal_name)
    before = await stage.shown(puller, owner)
    await stage.change(owner)
    during = await stage.shown(puller, owner)
    if during != before:
        stage.doubt(
            Difference(
                Fault.UNEXPECTED,
                phone.terminal_name,
                texts.PUSHED_ALTHOUGH_UNSUBSCRIBED,
                before,
                during,
            )
        )
    await phone.terminal.pull(stage.group_ids[group])
    await stage.arrived(stage.current([puller], [owner]))
    after = await stage.shown(puller, owner)
    stage.narrator.say(
        texts.NOT_SUBSCRIBED.format(name=stage.name(puller), group=group, other=stage.name(owner))
    )
    stage.narrator.table(
        texts.COLUMNS_PULL,
        [(stage.name(puller), stage.name(owner), before, during, after)],
    )


async def leave(stage: Stage) -> None:
    """Zhao Min leaves one of her two groups and changes her number in the other."""
    stage.narrator.step(texts.STEP_LEAVING)
    leaver, group = "zhao-min", texts.REUNION
    only_here = [
        user
        for user in sorted(stage.world.members)
        if user != leaver and stage.world.groups_of(user) == [group]
    ]
    with_entry = [user for user in only_here if _typed(stage, user, leaver)]
    without_entry = [user for user in only_here if user not in with_entry]
    viewers = ["li-na", *with_entry[:1], *without_entry[:1]]
    before = await asyncio.gather(*(stage.shown(viewer, leaver) for viewer in viewers))
    await stage.inspect()
    stage.world.leave(group, leaver)
    await stage.phone(leaver).terminal.leave(stage.group_ids[group])
    await stage.change(leaver)
    for user in only_here:
        await _until_gone(stage, user, leaver, group)
    after = await asyncio.gather(*(stage.shown(viewer, leaver) for viewer in viewers))
    stage.narrator.say(texts.LEFT.format(name=stage.name(leaver), group=group))
    stage.narrator.table(
        texts.COLUMNS_LEFT,
        [
            (
                stage.name(viewer),
                texts.YES if _typed(stage, viewer, leaver) else texts.NO,
                old,
                new,
            )
            for viewer, old, new in zip(viewers, before, after, strict=True)
        ],
    )


def _typed(stage: Stage, owner: str, about: str) -> bool:
    return any(entry.about.user_id == about for entry in stage.cast.books[owner].entries)


async def _until_gone(stage: Stage, viewer: str, member: str, group: str) -> None:
    async def is_gone() -> bool:
        members = await stage.phone(viewer).terminal.phonebook.members(stage.group_ids[group])
        return all(one.user_id != member for one in members)

    await stage.until(
        is_gone,
        texts.LEARNS_LEAVING.format(name=stage.name(viewer), member=stage.name(member)),
    )
