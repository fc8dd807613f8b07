"""Carriers speak: a number changed, one ported, one given to somebody else, and a blocked look."""

import asyncio
from typing import Final

from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.errors import ErrorBody
from contactmesh.demo import texts
from contactmesh.demo.carriers import EE, MOBILE, UNICOM, CarrierDesks, as_carriers_write
from contactmesh.demo.checks import Difference, Fault
from contactmesh.demo.errors import DemoFailed
from contactmesh.demo.scenario.stage import Stage
from contactmesh.terminal import CommandRefused

_NOBODY: Final = "nobody-of-this-name"


async def carriers_speak(stage: Stage, desks: CarrierDesks) -> None:
    """Play the carriers' part."""
    stage.narrator.step(texts.STEP_CARRIERS)
    await _change_and_recycle(stage, desks, "liu-yang", heir="zhou-tao", viewer="huang-lei")
    await _port(stage, desks, "wang-xiaoming", viewer="chen-jing")
    await _blocked_look(stage, desks, "henry", blocked="ivy")


async def _change_and_recycle(
    stage: Stage, desks: CarrierDesks, user: str, *, heir: str, viewer: str
) -> None:
    """A carrier changes somebody's number, and gives the old one to somebody else."""
    old = await desks.register(MOBILE, user, stage.numbers[user])
    viewers = [viewer, "li-na"]
    before = await asyncio.gather(*(stage.shown(each, user) for each in viewers))
    number = as_carriers_write(stage.cast.plan.new(stage.person(user)))

    async def tell() -> None:
        await desks.replace(old, MOBILE, number)

    await stage.change_to(user, number, tell)
    after = await asyncio.gather(*(stage.shown(each, user) for each in viewers))
    stage.narrator.say(
        texts.CARRIER_CHANGED.format(carrier=texts.CARRIERS[MOBILE], name=stage.name(user))
    )
    stage.narrator.table(
        texts.COLUMNS_BOOKS,
        [
            (stage.name(each), stage.name(user), one, other)
            for each, one, other in zip(viewers, before, after, strict=True)
        ],
    )
    await desks.recycle(old, heir)
    outcomes = await _look(stage, viewer, user)
    _expect(stage, viewer, user, [ChangeCode.UNCHANGED], outcomes)
    stage.narrator.gap()
    stage.narrator.say(
        texts.RECYCLED.format(
            heir=stage.name(heir), name=stage.name(user), viewer=stage.name(viewer)
        )
    )


async def _port(stage: Stage, desks: CarrierDesks, user: str, *, viewer: str) -> None:
    """Somebody takes a number along to another carrier: a look tells it once."""
    old = await desks.register(MOBILE, user, stage.numbers[user])
    _expect(stage, viewer, user, [ChangeCode.UNCHANGED], await _look(stage, viewer, user))
    await desks.replace(old, UNICOM, old.number)
    _expect(stage, viewer, user, [ChangeCode.CARRIER_CHANGED], await _look(stage, viewer, user))
    _expect(stage, viewer, user, [ChangeCode.UNCHANGED], await _look(stage, viewer, user))
    stage.narrator.say(
        texts.TAKEN_ALONG.format(
            name=stage.name(user), carrier=texts.CARRIERS[UNICOM], viewer=stage.name(viewer)
        )
    )


async def _blocked_look(stage: Stage, desks: CarrierDesks, user: str, *, blocked: str) -> None:
    """Whoever is blocked is told by the registry what a stranger is told."""
    await desks.register(EE, user, stage.numbers[user])
    of_blocked = await _refused(stage, blocked, user)
    of_stranger = await _refused(stage, blocked, user, identity=_NOBODY)
    if of_blocked != of_stranger:
        where = stage.phone(blocked).terminal_name
        what = texts.LOOK_OF_BLOCKED
        stage.doubt(Difference(Fault.LEAKED, where, what, _said(of_stranger), _said(of_blocked)))
    stage.narrator.say(
        texts.BLOCKED_LOOK.format(name=stage.name(user), blocked=stage.name(blocked))
    )


async def _look(stage: Stage, viewer: str, owner: str) -> list[ChangeCode]:
    contact_id = await _contact_of(stage, viewer, owner)
    checked = await stage.phone(viewer).terminal.check(contact_id)
    return [change.code for change in checked.changes]


async def _refused(
    stage: Stage, viewer: str, owner: str, identity: str | None = None
) -> ErrorBody | None:
    """What the registry says to a look that it refuses, none if it does not."""
    terminal = stage.phone(viewer).terminal
    try:
        if identity is None:
            await terminal.check(await _contact_of(stage, viewer, owner))
        else:
            stranger = next(each for each in await terminal.contacts() if each.user_id is None)
            await terminal.check(stranger.contact_id, identity)
    except CommandRefused as refused:
        return refused.error
    return None


async def _contact_of(stage: Stage, viewer: str, owner: str) -> str:
    contact = await stage.phone(viewer).terminal.phonebook.contact_of(owner)
    if contact is None:
        raise DemoFailed(
            texts.NOT_IN_PHONEBOOK.format(viewer=stage.name(viewer), name=stage.name(owner))
        )
    return contact.contact_id


def _expect(
    stage: Stage,
    viewer: str,
    owner: str,
    expected: list[ChangeCode],
    actual: list[ChangeCode],
) -> None:
    if expected != actual:
        where = stage.phone(viewer).terminal_name
        what = texts.LOOK_AT.format(name=stage.name(owner))
        stage.doubt(Difference(Fault.WRONG, where, what, ", ".join(expected), ", ".join(actual)))


def _said(error: ErrorBody | None) -> str:
    return "" if error is None else error.message
