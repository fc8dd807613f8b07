"""Two groups come together, and everyone publishes a card."""

import asyncio
from typing import Final, NamedTuple

from contactmesh.demo import texts
from contactmesh.demo.people import LEAST_PEOPLE, Person
from contactmesh.demo.scenario.stage import Stage

OWNERS: Final = {texts.BADMINTON: "alice", texts.REUNION: "chen-jing"}

_IN_BOTH: Final = ("wang-xiaoming", "li-na", "zhang-wei", "zhao-min")
_INITIAL: Final = {
    texts.BADMINTON: (
        *("ben", "carol", "dave", "erin", "frank", "grace", "henry", "ivy"),
        *_IN_BOTH,
    ),
    texts.REUNION: (*_IN_BOTH, "wu-fang", "liu-yang", "huang-lei"),
}


class Invitation(NamedTuple):
    """Who invites whom, and what comes of it."""

    group: str
    inviter: str
    invited: str
    outcome: str


INVITATIONS: Final = (
    Invitation(texts.BADMINTON, "alice", "jack", texts.ACCEPTED),
    Invitation(texts.REUNION, "wu-fang", "sun-li", texts.ACCEPTED),
    Invitation(texts.REUNION, "chen-jing", "zhou-tao", texts.DECLINED),
    Invitation(texts.REUNION, "chen-jing", "jack", texts.WITHDRAWN),
)

BOOKS_SHOWN: Final = (
    ("alice", "wang-xiaoming"),
    ("chen-jing", "wang-xiaoming"),
    ("huang-lei", "liu-yang"),
)
"""Whose phonebook is shown for whom."""


def initial_members(group: str, people: tuple[Person, ...]) -> list[str]:
    """Whom a group's creator names: those with a part there, and the rest by where they live."""
    region = "GB" if group == texts.BADMINTON else "CN"
    further = [one.user_id for one in people[LEAST_PEOPLE:] if one.region == region]
    return [*_INITIAL[group], *further]


async def found_groups(stage: Stage) -> None:
    """Create both groups, and invite people."""
    stage.narrator.step(texts.STEP_GROUPS)
    for group, owner in OWNERS.items():
        members = initial_members(group, stage.cast.people)
        stage.world.create(group, [owner, *members])
        terminal = stage.phone(owner).terminal
        stage.group_ids[group] = await terminal.create_group(group, members)
        stage.narrator.say(
            texts.GROUP_CREATED.format(owner=stage.name(owner), group=group, count=len(members))
        )
    for group in OWNERS:
        for member in initial_members(group, stage.cast.people):
            await _until_in_group(stage, member, group)
    for invitation in INVITATIONS:
        await _invite(stage, invitation)
    stage.narrator.table(
        texts.COLUMNS_INVITATIONS,
        [
            (one.group, stage.name(one.invited), stage.name(one.inviter), one.outcome)
            for one in INVITATIONS
        ],
    )


async def _invite(stage: Stage, invitation: Invitation) -> None:
    inviter, invited = stage.phone(invitation.inviter), stage.phone(invitation.invited)
    invitation_id = await inviter.terminal.invite(
        stage.group_ids[invitation.group], invitation.invited
    )

    async def is_open() -> bool:
        waiting = await invited.terminal.phonebook.invitations()
        return any(one.invitation_id == invitation_id for one in waiting)

    async def is_closed() -> bool:
        return not await is_open()

    names = {"name": stage.name(invitation.invited), "group": invitation.group}
    await stage.until(is_open, texts.INVITATION_ARRIVES.format(**names))
    if invitation.outcome == texts.ACCEPTED:
        stage.world.join(invitation.group, invitation.invited)
        await invited.terminal.accept(invitation_id)
    elif invitation.outcome == texts.DECLINED:
        await invited.terminal.decline(invitation_id)
    else:
        await inviter.terminal.withdraw(invitation_id)
    await stage.until(is_closed, texts.INVITATION_CLOSES.format(**names))


async def _until_in_group(stage: Stage, user: str, group: str) -> None:
    group_id = stage.group_ids[group]

    async def knows_group() -> bool:
        known = [await one.terminal.phonebook.groups() for one in stage.handsets_of(user)]
        return all(any(one.group_id == group_id for one in groups) for groups in known)

    await stage.until(knows_group, texts.KNOWS_GROUP.format(name=stage.name(user), group=group))


async def publish_cards(stage: Stage) -> None:
    """Let everyone publish a card, and show what became of entries that were there already."""
    stage.narrator.step(texts.STEP_CARDS)
    before = await asyncio.gather(*(stage.shown(*pair) for pair in BOOKS_SHOWN))
    members = sorted(stage.world.members)
    await stage.publish_first(members)
    after = await asyncio.gather(*(stage.shown(*pair) for pair in BOOKS_SHOWN))
    stage.narrator.say(texts.CARDS_PUBLISHED.format(cards=len(members)))
    stage.narrator.table(
        texts.COLUMNS_BOOKS,
        [
            (stage.name(viewer), stage.name(owner), old, new)
            for (viewer, owner), old, new in zip(BOOKS_SHOWN, before, after, strict=True)
        ],
    )
