"""An account that begins to follow the address book gets what the book holds: on the wire (M4)."""

import pytest
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    TELECOM,
    UNICOM,
    agrees,
    registers,
)
from tests.integration.sync_service.books import Book, contact, uid_of
from tests.wire import System, Terminal

from contactmesh.contacts import Card, digest
from contactmesh.contracts.multi_sim.commands import EntryList, FollowBook, ListEntries
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.local.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("M4")]

NAMES = [f"c{number}" for number in range(12)]
"""More than a page has."""


async def _held(terminal: Terminal, carrier_id: str) -> dict[str, str]:
    """What a shared space holds: digests by uid."""
    page = await terminal.does(ListEntries(carrier_id=carrier_id, space=SpaceKind.SHARED))
    assert isinstance(page, EntryList)
    return {one.uid: one.digest for one in page.entries}


@pytest.mark.claim("M3")
async def test_all_of_the_book_comes_but_what_is_private_or_deleted(system: System) -> None:
    phone = await system.terminal("lin")
    here, there = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await registers(phone, TELECOM, 3)
    await agrees(phone, UNICOM)
    contacts = {name: contact(name, "+8613900000001") for name in NAMES}
    book = Book(phone)
    await book.saves(contacts)
    await book.sends(book.change(NAMES[7], None))
    await here.stores({NAMES[9]: "+8613900000002"}, SpaceKind.PRIVATE)
    await phone.does(FollowBook(carrier_id=MOBILE, follow=True))
    expected = {
        uid_of(name): digest(Card.model_validate(contacts[name]))
        for name in NAMES
        if name not in (NAMES[7], NAMES[9])
    }
    await there.until_told(waiting=len(expected))
    assert await _held(phone, MOBILE) == await _held(phone, UNICOM) == expected
    assert await _held(phone, TELECOM) == {}, "it follows nothing and agrees to nothing"
    await book.saves({NAMES[0]: contact(NAMES[0], "+8613900000003")})
    changed = digest(Card.model_validate(book.held[uid_of(NAMES[0])]))

    async def has_changed() -> bool:
        return (await _held(phone, UNICOM))[uid_of(NAMES[0])] == changed

    await until(has_changed, seconds=60)
