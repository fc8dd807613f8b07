"""One's own card in the address book is what the groups show (Y and G1c)."""

import pytest
from tests.integration.sync_service.books import Book, books_of, contact, uid_of
from tests.wire import System, Terminal, number_of

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import Block
from contactmesh.contracts.sync.commands import SetOwnCard

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def says(terminal: Terminal, name: str | None, book: str = "main") -> None:
    """Say which contact is the own card."""
    uid = None if name is None else uid_of(name)
    await terminal.does(SetOwnCard(book=book, uid=uid))


async def shown(viewer: Terminal, group_id: str, owner: Terminal) -> str | None:
    """The number that a pull of a group shows."""
    members = await viewer.pulls(group_id)
    return number_of(members[owner.user_id].card) if owner.user_id in members else None


@pytest.mark.claim("G1c")
async def test_a_change_of_the_own_card_reaches_the_members_of_every_group(system: System) -> None:
    owner, viewer = await system.terminals("owner", "viewer")
    family, work = await owner.creates(viewer), await owner.creates(viewer, name="work")
    await owner.publishes(work, "1", name="me")
    book = Book(owner)
    await book.saves({"me": contact("me", "1", notes={"n": {"note": "pin 1234"}})})
    await says(owner, "me")
    await viewer.until_pushed(owner, family, "1")
    await book.saves({"me": contact("me", "2", notes={"n": {"note": "pin 4321"}})})
    for group_id in (family, work):
        await viewer.until_pushed(owner, group_id, "2")
        assert await shown(viewer, group_id, owner) == "2"
    await book.saves({"me": contact("me", "2", notes={"n": {"note": "nothing"}})})
    await book.saves({"me": contact("me", "3")})
    for group_id in (family, work):
        await viewer.until_pushed(owner, group_id, "3")
        assert viewer.pushed_numbers(owner, group_id) == ["1", "2", "3"], "each once"
    assert not viewer.ever_saw("pin")
    card = (await owner.pulls(work))[owner.user_id].card
    assert card is not None
    assert card["uid"] == uid_of(owner.user_id), "the uid that the group knew"


@pytest.mark.claim("G1b")
async def test_who_is_kept_from_knowing_learns_nothing(system: System) -> None:
    owner, viewer, blocked = await system.terminals("owner", "viewer", "blocked")
    group_id = await owner.creates(viewer, blocked)
    book = Book(owner)
    await book.saves({"me": contact("me", "+8613900000001")})
    await says(owner, "me")
    await blocked.until_pushed(owner, group_id, "+8613900000001")
    await owner.does(Block(user_id=blocked.user_id, group_id=group_id))
    await book.saves({"me": contact("me", "+8613900000002")})
    await viewer.until_pushed(owner, group_id, "+8613900000002")
    assert await shown(blocked, group_id, owner) == "+8613900000001"
    assert not blocked.ever_saw("+8613900000002")


async def test_one_entry_of_all_books_is_the_own_card(system: System) -> None:
    owner, viewer = await system.terminals("owner", "viewer")
    group_id = await owner.creates(viewer)
    main, work = Book(owner), Book(owner, "work")
    await main.saves({"me": contact("me", "1"), "an": contact("an", "9")})
    await work.saves({"me": contact("me", "2")})
    await says(owner, "me", "work")
    await viewer.until_pushed(owner, group_id, "2")
    await says(owner, "me")
    await viewer.until_pushed(owner, group_id, "1")
    own = {name: one.get("own_card_uid") for name, one in (await books_of(owner)).items()}
    assert own == {"main": uid_of("me"), "work": None}
    # The entry of the other book is no own card any more, and another contact never was one.
    await work.saves({"me": contact("me", "3")})
    await main.saves({"an": contact("an", "8")})
    await main.saves({"me": contact("me", "4")})
    await viewer.until_pushed(owner, group_id, "4")
    await says(owner, None)
    await main.saves({"me": contact("me", "5")})
    await says(owner, "an")
    await viewer.until_pushed(owner, group_id, "8")
    assert viewer.pushed_numbers(owner, group_id) == ["2", "1", "4", "8"]
    error = await owner.refused(SetOwnCard(uid=uid_of("nobody")))
    assert error.code is ErrorCode.NOT_FOUND


async def test_a_deleted_own_card_is_taken_from_nobody(system: System) -> None:
    owner, viewer = await system.terminals("owner", "viewer")
    group_id = await owner.creates(viewer)
    book, tablet = Book(owner), Book(await system.another_terminal(owner.user_id))
    await book.saves({"me": contact("me", "1")})
    await says(owner, "me")
    await viewer.until_pushed(owner, group_id, "1")
    await book.saves({"me": None})
    await tablet.terminal.until(lambda: any(one["op"] == "deleted" for one in tablet.pushed()))
    await book.saves({"me": contact("me", "2")})
    await viewer.until_pushed(owner, group_id, "2")
    assert viewer.pushed_numbers(owner, group_id) == ["1", "2"]
