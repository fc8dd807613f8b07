"""A user's terminals and SIMs with every real service behind them: stored, looked at, accepted."""

import asyncio
import itertools
from collections.abc import Iterable

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card
from tests.wire import System

from contactmesh.contacts import Card, Note, Phone, write_vcards
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal import (
    AcceptOutcome,
    LargeRemoval,
    Overwritten,
    PendingBook,
    PendingChange,
    RevisionConflict,
    SimContactsWaiting,
    SimElsewhere,
    StoreOutcome,
    Terminal,
    UnknownSim,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOBILE, UNICOM = "cn-mobile", "cn-unicom"
_numbers = itertools.count(1)


async def sim_of(terminal: Terminal, carrier_id: str = MOBILE) -> str:
    """A new SIM in a terminal."""
    iccid = f"8986{next(_numbers):016d}"
    return (await terminal.register_sim(carrier_id, iccid, "SIM")).sim_id


async def keep(terminal: Terminal, *cards: Card) -> None:
    await terminal.import_cards(b"".join(write_vcards(cards)))


def people_named(*names: str) -> list[Card]:
    return [
        card(name, name.title(), phones={"m": f"+86139{at:08d}"}) for at, name in enumerate(names)
    ]


async def entry(terminal: Terminal, name: str) -> str:
    """The id of the contact with a name."""
    return next(one.contact_id for one in await terminal.contacts() if one.display_name == name)


async def edit(terminal: Terminal, name: str, **changes: object) -> None:
    contact_id = await entry(terminal, name)
    own = await terminal.phonebook.own_part(contact_id)
    assert own is not None
    await terminal.write_own(contact_id, own.model_copy(update=changes))


async def names(terminal: Terminal) -> set[str]:
    return {one.display_name for one in await terminal.contacts()}


def changes(book: PendingBook) -> dict[str, PendingChange]:
    return {one.display_name: one.change for one in book.contacts}


async def waiting(terminal: Terminal, sim_id: str, names: Iterable[str]) -> PendingBook:
    """What waits for a SIM, once these wait."""
    wanted = set(names)
    updates = terminal.updates()
    while True:
        book = await terminal.pending(sim_id)
        if set(changes(book)) == wanted:
            return book
        await the_next(updates, SimContactsWaiting)


async def in_space(terminal: Terminal, carrier_id: str, space: SpaceKind) -> int:
    accounts = (await terminal.accounts()).accounts
    account = next(one for one in accounts if one.carrier_id == carrier_id)
    return (account.shared if space is SpaceKind.SHARED else account.private).contacts


@pytest.mark.claim("M4")
async def test_a_book_is_stored_once_and_differences_after(people: People, system: System) -> None:
    phone = await people.terminal("lin")
    sim_id = await sim_of(phone)
    await keep(phone, *people_named("an", "bo", "chen"))
    assert await phone.store(sim_id) == StoreOutcome(written=3)
    async with system.channel() as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind("contactmesh.commands", "#")
        assert await phone.store(sim_id) == StoreOutcome(same=3)
        await edit(phone, "An", notes={"n": Note(note="茶")})
        await phone.delete(await entry(phone, "Bo"))
        assert await phone.store(sim_id) == StoreOutcome(written=1, removed=1, same=1)
        bodies = []
        while message := await tap.get(no_ack=True, fail=False):
            bodies.append(message.body)
    stores = [body for body in bodies if b'"space.store"' in body]
    assert len(stores) == 2
    assert not any(b"chen" in body for body in bodies)
