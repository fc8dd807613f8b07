"""What this version cannot read of the book is here once a later version can (rows Y4, Y6)."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.unit.terminal.book import WHEN, entry, exchanged, marked, synced
from tests.unit.terminal.cards import card

from contactmesh.contacts import Card, write_vcards
from contactmesh.contracts.sync.records import BookEntry, ChangeResult, ListedEntry, Outcome
from contactmesh.terminal import Phonebook
from contactmesh.terminal.book_changes import News

LI = card("li", "Li Wei", phones={"m": "+8613800138000"})
MINE = card("li", "Li Wei", phones={"m": "+8613800138000"}, note="mine")
THEIRS = card("li", "Li Wei", phones={"m": "+8613900139000"})
BOTH = card("li", "Li Wei", phones={"m": "+8613900139000"}, note="mine")
Way = Callable[[Phonebook], Awaitable[None]]
STRANGE: dict[str, Any] = {**LI.to_json(), "phones": 5}


@pytest_asyncio.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", "CN") as opened:
        yield opened


async def have(phonebook: Phonebook, one: Card) -> None:
    """Import a card that the server has too."""
    await phonebook.import_cards(b"".join(write_vcards([one])))
    await synced(phonebook)


async def parts(phonebook: Phonebook) -> list[Card | None]:
    return [await phonebook.own_part(one.contact_id) for one in await phonebook.contacts()]


def told(card: dict[str, Any], rev: int = 200) -> BookEntry:
    return BookEntry(uid=LI.uid, rev=rev, updated_at=WHEN, card=card)


async def by_exchange(phonebook: Phonebook) -> None:
    await phonebook.exchanged((), exchanged((), told(STRANGE)))


async def by_fetching(phonebook: Phonebook) -> None:
    await phonebook.take_entries([told(STRANGE)])


async def by_listing(phonebook: Phonebook) -> None:
    listed: list[News] = [ListedEntry(uid=LI.uid, rev=200, digest="0" * 64, card=STRANGE)]
    await phonebook.take_entries(listed)


@pytest.mark.claim("Y4", "Y6")
@pytest.mark.parametrize("way", [by_exchange, by_fetching, by_listing])
@pytest.mark.parametrize("known", [True, False])
async def test_an_entry_that_cannot_be_read_is_asked_for_until_it_can(
    phonebook: Phonebook, way: Way, known: bool
) -> None:
    if known:
        await have(phonebook, LI)
    before = await parts(phonebook)
    await way(phonebook)
    with sqlite3.connect(phonebook.path) as beside:
        beside.execute("UPDATE book_entries SET updated_at = '2020-01-01T00:00:00.000Z'")
    beside.close()
    await phonebook.sync_ended(WHEN)
    for _ in range(2):
        assert await phonebook.behind() == (LI.uid,)
        await by_fetching(phonebook)
    assert await parts(phonebook) == before
    assert (await phonebook.book_count()).waiting == 0
    await phonebook.take_entries([entry(THEIRS, 200)])
    assert await phonebook.behind() == ()
    assert await parts(phonebook) == [THEIRS]
    assert await marked(phonebook) == ()


async def test_what_was_edited_here_is_sent_again_once_the_result_can_be_read(
    phonebook: Phonebook,
) -> None:
    await have(phonebook, LI)
    (contact,) = await phonebook.contacts()
    await phonebook.write_own(contact.contact_id, MINE)
    sent = await marked(phonebook)
    result = ChangeResult(uid=LI.uid, outcome=Outcome.MERGED, rev=200, card=STRANGE)
    await phonebook.exchanged(sent, exchanged([result]))
    (rejected,) = await phonebook.rejected()
    assert "Update the terminal" in rejected.problem
    assert await marked(phonebook) == ()
    assert await phonebook.behind() == (LI.uid,)
    await by_fetching(phonebook)
    assert await phonebook.rejected() == (rejected,)
    await phonebook.take_entries([entry(BOTH, 200)])
    assert await phonebook.rejected() == ()
    assert await marked(phonebook) == sent
    readable = result.model_copy(update={"card": BOTH.to_json()})
    await phonebook.exchanged(sent, exchanged([readable]))
    assert await parts(phonebook) == [BOTH]
    assert (await marked(phonebook), await phonebook.behind()) == ((), ())
