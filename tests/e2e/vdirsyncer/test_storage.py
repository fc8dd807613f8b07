"""A book is a storage as vdirsyncer wants it, with every service behind it.

The checklist is that of the tests which vdirsyncer's own storages pass.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from tests.e2e.town import Town
from tests.e2e.vdirsyncer.items import item, many
from tests.e2e.vdirsyncer.storage import BookStorage
from tests.e2e.vdirsyncer.terminals import of_a_person
from vdirsyncer import exceptions

from contactmesh.contracts.sync.commands import MOST_CHANGES
from contactmesh.terminal import LargeRemoval, Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def storage(town: Town) -> BookStorage:
    """The book of a new person."""
    return BookStorage(str(await town.stay_at_home("reader")))


async def listed(storage: BookStorage) -> dict[str, str]:
    return {href: etag async for href, etag in storage.list()}


async def raw(storage: BookStorage, href: str) -> str:
    found, _ = await storage.get(href)
    return str(found.raw)


async def test_an_empty_book_holds_nothing(storage: BookStorage) -> None:
    assert await listed(storage) == {}
    assert [one async for one in storage.get_multi([])] == []
    assert not await storage.has("nobody")
    with pytest.raises(exceptions.PreconditionFailed):
        await storage.get("nobody")


async def test_what_is_uploaded_is_there_under_its_etag(storage: BookStorage) -> None:
    href, etag = await storage.upload(item("jane", "Jane", "TEL:+8613912345678"))
    assert await listed(storage) == {href: etag}
    found, found_etag = await storage.get(href)
    assert (found.uid, found_etag) == ("jane", etag)
    assert "+8613912345678" in found.raw
    assert await storage.has(href)


async def test_the_server_has_it_for_every_other_terminal(town: Town) -> None:
    folders = await of_a_person(town, "phone", "laptop")
    first, second = [BookStorage(str(folder)) for folder in folders]
    href, etag = await first.upload(item("jane"))
    assert await listed(second) == {href: etag}


async def test_nothing_is_uploaded_twice(storage: BookStorage) -> None:
    await storage.upload(item("jane", "Jane"))
    before = await listed(storage)
    with pytest.raises(exceptions.AlreadyExistingError):
        await storage.upload(item("jane", "Somebody else"))
    async with storage.at_once():
        await storage.upload(item("joe"))
        with pytest.raises(exceptions.AlreadyExistingError):
            await storage.upload(item("joe", "Somebody else"))
    assert (await listed(storage)).items() > before.items()
    assert "Somebody else" not in await raw(storage, "jane") + await raw(storage, "joe")


async def test_an_update_changes_one_item_and_its_etag(storage: BookStorage) -> None:
    jane, etag = await storage.upload(item("jane"))
    joe, joes = await storage.upload(item("joe"))
    new = await storage.update(jane, item("jane", "Jane", "NOTE:on Tuesdays"), etag)
    assert new != etag
    assert await listed(storage) == {jane: new, joe: joes}
    assert "on Tuesdays" in await raw(storage, jane)


async def test_an_update_of_what_has_changed_since_is_refused(storage: BookStorage) -> None:
    href, etag = await storage.upload(item("jane"))
    await storage.update(href, item("jane", "Jane", "NOTE:on Tuesdays"), etag)
    with pytest.raises(exceptions.WrongEtagError):
        await storage.update(href, item("jane", "Jane", "NOTE:on Fridays"), etag)
    assert "on Tuesdays" in await raw(storage, href)


async def test_what_is_not_there_is_neither_updated_nor_deleted(storage: BookStorage) -> None:
    with pytest.raises(exceptions.PreconditionFailed):
        await storage.update("nobody", item("nobody"), "an etag")
    with pytest.raises(exceptions.PreconditionFailed):
        await storage.delete("nobody", "an etag")


async def test_a_deletion_takes_one_item_away(storage: BookStorage) -> None:
    jane, etag = await storage.upload(item("jane"))
    joe, joes = await storage.upload(item("joe"))
    await storage.delete(jane, etag)
    assert await listed(storage) == {joe: joes}
    assert not await storage.has(jane)


async def test_a_deletion_of_what_has_changed_since_is_refused(storage: BookStorage) -> None:
    href, etag = await storage.upload(item("jane"))
    new = await storage.update(href, item("jane", "Jane", "NOTE:on Tuesdays"), etag)
    with pytest.raises(exceptions.WrongEtagError):
        await storage.delete(href, etag)
    assert await listed(storage) == {href: new}


async def test_several_are_got_once_each_and_none_is_left_out(storage: BookStorage) -> None:
    jane, etag = await storage.upload(item("jane"))
    joe, joes = await storage.upload(item("joe"))
    found = [one async for one in storage.get_multi([jane, joe, jane])]
    assert [(href, item.uid, etag) for href, item, etag in found] == [
        (jane, "jane", etag),
        (joe, "joe", joes),
    ]
    with pytest.raises(exceptions.PreconditionFailed):
        [one async for one in storage.get_multi([jane, "nobody"])]


@pytest.mark.parametrize(
    "name", ["王小明", "ŠÄÖß çñ", "１２３ ＡＢＣ", "👩‍👩‍👧 family", "שלום עולם"]
)
async def test_every_script_comes_back_as_it_was(storage: BookStorage, name: str) -> None:
    href, _ = await storage.upload(item("jane", name, f"NOTE:{name}"))
    back = await raw(storage, href)
    assert f"FN:{name}" in back
    assert f"NOTE:{name}" in back


async def test_uids_that_differ_in_case_are_two(storage: BookStorage) -> None:
    uppercase, _ = await storage.upload(item("A1B2", "Jane"))
    lowercase, _ = await storage.upload(item("a1b2", "Joe"))
    assert len(await listed(storage)) == 2
    assert "FN:Jane" in await raw(storage, uppercase)
    assert "FN:Joe" in await raw(storage, lowercase)


@pytest.mark.parametrize("uid", ["a/b %20?#", "ä@中文", "urn:uuid:1-2", "..", "x" * 200])
async def test_a_uid_may_say_anything(storage: BookStorage, uid: str) -> None:
    href, etag = await storage.upload(item(uid))
    assert await listed(storage) == {href: etag}
    found, _ = await storage.get(href)
    assert found.uid == uid


async def test_an_item_without_a_uid_gets_one_that_stays(storage: BookStorage) -> None:
    lines = item("jane").raw.replace("UID:jane\r\n", "")
    href, etag = await storage.upload(type(item("jane"))(lines))
    assert await listed(storage) == {href: etag}
    found, _ = await storage.get(href)
    assert found.uid == href


async def test_what_no_rule_knows_comes_back(storage: BookStorage) -> None:
    odd = ("X-ODD;X-HOW=very:as it was", "item1.TEL:+8613912345678", "item1.X-ABLabel:boat")
    href, _ = await storage.upload(item("jane", "Jane", *odd))
    back = await raw(storage, href)
    assert "X-ODD;X-HOW=very:as it was" in back
    assert "boat" in back


async def test_more_than_one_exchange_carries_goes_at_once(storage: BookStorage) -> None:
    items = many(MOST_CHANGES + 50)
    async with storage.at_once():
        uploaded = dict([await storage.upload(one) for one in items])
    assert await listed(storage) == uploaded
    found = {uid: item.uid async for uid, item, _ in storage.get_multi(uploaded)}
    assert found == {one.uid: one.uid for one in items}


async def test_a_client_that_lost_its_files_does_not_empty_the_book(storage: BookStorage) -> None:
    async with storage.at_once():
        uploaded = [await storage.upload(one) for one in many(20)]
    with pytest.raises(LargeRemoval):
        await _delete(storage, uploaded)
    assert await _on_the_server(Path(storage.folder)) == 20
    meant = BookStorage(storage.folder, removals=True)
    assert await listed(meant) == {}


async def _delete(storage: BookStorage, items: Sequence[tuple[str, str]]) -> None:
    async with storage.at_once():
        for href, etag in items:
            await storage.delete(href, etag)


async def _on_the_server(folder: Path) -> int:
    async with Terminal(folder, pull=False) as terminal:
        (book,) = (await terminal.books()).books
        return book.entries
