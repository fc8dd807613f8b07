"""An account that follows the owner's address book (row M4)."""

from datetime import timedelta
from itertools import permutations
from random import Random

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    MOBILE,
    TELECOM,
    UNICOM,
    Spaces,
    book_event,
    card,
)

from contactmesh.contacts import digest
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.multi_sim.commands import FollowBook
from contactmesh.contracts.multi_sim.events import SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.sync.events import BookPage, BookWanted
from multi_sim_replication_service.domain.documents import Stamp

pytestmark = pytest.mark.claim("M4")


def _following(*carrier_ids: str) -> tuple[Spaces, str, str]:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2)
    spaces.registers(TELECOM, 3)
    spaces.agrees(UNICOM)
    for carrier_id in carrier_ids:
        spaces.does(FollowBook(carrier_id=carrier_id, follow=True))
    spaces.settle()
    return spaces, here, there


def _deliver(spaces: Spaces, *events: ContactChanged) -> None:
    for event in events:
        spaces.deliver(event)
    spaces.settle()


def _stamp(spaces: Spaces, uid: str) -> Stamp:
    entry = spaces.state.entries.get((spaces.account(MOBILE).space_id(SpaceKind.SHARED), uid))
    assert entry is not None
    return entry.stamp


def test_an_entry_comes_to_the_account_that_follows_and_to_those_that_agree() -> None:
    spaces, here, there = _following(MOBILE)
    _deliver(spaces, book_event("an", 1, "1"))
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == spaces.waits(here) == spaces.waits(there)
    assert set(spaces.holds(MOBILE)) == {"an"}
    assert spaces.holds(TELECOM) == {}
    spaces.does(FollowBook(carrier_id=MOBILE, follow=False))
    before = spaces.holds(MOBILE)
    _deliver(spaces, book_event("an", 2, "2"), book_event("bo", 1, "1"))
    assert spaces.holds(MOBILE) == before, "it follows no longer"


@pytest.mark.parametrize("order", tuple(permutations(range(3))))
@pytest.mark.parametrize("last", ["3", None], ids=["changed last", "removed last"])
def test_the_books_order_counts_and_not_that_of_arrival(
    order: tuple[int, ...], last: str | None
) -> None:
    spaces, _, _ = _following(MOBILE, UNICOM)
    events = [book_event("an", 1, "1"), book_event("an", 2, "2"), book_event("an", 3, last)]
    _deliver(spaces, *(events[at] for at in order))
    expected, _, _ = _following(MOBILE)
    _deliver(expected, events[-1])
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == expected.holds(MOBILE)
    told = len(spaces.published)
    _deliver(spaces, *events)
    assert len(spaces.published) == told, "once more is nothing new"


def test_the_book_and_a_terminal_change_a_contact_in_turn() -> None:
    spaces, here, _ = _following(MOBILE)
    stored: list[dict[str, str]] = []
    for rev, number in enumerate(("1", "2", "3"), start=1):
        spaces.stores(here, {"an": f"of the terminal {number}"})
        _deliver(spaces, book_event("an", rev, number))
        stored.append(spaces.holds(MOBILE))
        assert spaces.holds(UNICOM) == stored[-1]
    assert len({one["an"] for one in stored}) == 3, "each change of the book came"
    spaces.stores(here, {"an": None})
    _deliver(spaces, book_event("an", 3, "3"))
    assert spaces.holds(MOBILE) == {}, "what was heard already does not come back"


def test_what_the_account_holds_already_is_told_to_nobody() -> None:
    spaces, here, _ = _following(MOBILE)
    spaces.stores(here, {"an": "1"})
    spaces.settle()
    published = len(spaces.published)
    before = _stamp(spaces, "an")
    _deliver(spaces, book_event("an", 1, "1"), book_event("bo", 1, None))
    assert len(spaces.published) == published
    assert _stamp(spaces, "an") == before, "or another account's change could fall behind it"
    assert _stamp(spaces, "bo").at == 0


@pytest.mark.claim("M3")
@pytest.mark.parametrize("carrier_id", [MOBILE, UNICOM], ids=["of this account", "of another one"])
def test_a_contact_that_is_private_is_not_taken_over(carrier_id: str) -> None:
    spaces, here, there = _following(MOBILE)
    spaces.stores(here if carrier_id == MOBILE else there, {"an": "1"}, SpaceKind.PRIVATE)
    _deliver(spaces, book_event("an", 1, "1"))
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == {}
    assert not any(isinstance(one, SpaceChanged) for one in spaces.published)
    spaces.stores(here if carrier_id == MOBILE else there, {"an": None}, SpaceKind.PRIVATE)
    _deliver(spaces, book_event("an", 2, "2"))
    assert spaces.holds(MOBILE) == {}, "what was private is not shared by the book alone"
    spaces.stores(here, {"an": "2"})
    _deliver(spaces, book_event("an", 3, "3"))
    assert spaces.holds(MOBILE) != {}
    shared = spaces.holds(MOBILE)
    spaces.stores(here, {"an": "3"})
    assert spaces.holds(MOBILE) == shared, "shared again, it follows the book"


def _book(spaces: Spaces, *uids: str, number: str = "1") -> None:
    """Let the book have contacts since now, that nobody was told of."""
    for uid in uids:
        spaces.book_changes(uid, number)
    spaces.under_way.clear()


@pytest.mark.parametrize("seed", range(5))
def test_an_account_that_begins_to_follow_gets_what_the_book_holds(seed: int) -> None:
    spaces, here, there = _following()
    _book(spaces, "an", "bo", "chen", "dai", "eve")
    spaces.book_changes("bo", None)
    spaces.under_way.clear()
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    spaces.settle(Random(seed))
    assert set(spaces.holds(MOBILE)) == {"an", "chen", "dai", "eve"}
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == spaces.waits(here) == spaces.waits(there)
    assert spaces.holds(TELECOM) == {}
    assert spaces.account(MOBILE).book_after is None
    published = len(spaces.published)
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    assert len(spaces.published) == published, "it has it all"


def test_what_is_later_than_the_book_stays_and_what_is_earlier_gives_way() -> None:
    spaces, here, _ = _following()
    spaces.stores(here, {"an": "1", "bo": "1"})
    spaces.now += timedelta(seconds=1)
    _book(spaces, "an", "bo", "chen", "dai", number="2")
    spaces.stores(here, {"bo": "3", "chen": "3"})
    spaces.stores(here, {"chen": None})
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    spaces.settle()
    numbers = {"an": "2", "bo": "3", "dai": "2"}
    assert spaces.holds(MOBILE) == {uid: digest(card(uid, now)) for uid, now in numbers.items()}
    assert spaces.holds(UNICOM) == spaces.holds(MOBILE)


@pytest.mark.parametrize("pages", [0, 1, 2])
def test_an_account_that_follows_no_longer_gets_no_more_of_it(pages: int) -> None:
    spaces, _, _ = _following()
    _book(spaces, "an", "bo", "chen", "dai", "eve")
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    for _ in range(pages):
        for kind in (BookWanted, BookPage):
            (message,) = (one for one in spaces.under_way if isinstance(one, kind))
            spaces.under_way.remove(message)
            spaces.deliver(message)
    spaces.does(FollowBook(carrier_id=MOBILE, follow=False))
    spaces.settle()
    assert len(spaces.holds(MOBILE)) == 2 * pages


@pytest.mark.claim("M3")
def test_what_is_private_is_not_shared_by_beginning_to_follow() -> None:
    spaces, here, there = _following()
    spaces.stores(there, {"an": "1"}, SpaceKind.PRIVATE)
    _book(spaces, "an", "bo")
    spaces.does(FollowBook(carrier_id=MOBILE, follow=True))
    spaces.settle()
    assert set(spaces.holds(MOBILE)) == set(spaces.waits(here)) == {"bo"}


@pytest.mark.claim("M3")
def test_the_book_removes_a_contact_that_became_private_meanwhile() -> None:
    spaces, here, _ = _following(MOBILE)
    _deliver(spaces, book_event("an", 1, "1"))
    spaces.stores(here, {"an": "1"}, SpaceKind.PRIVATE)
    _deliver(spaces, book_event("an", 2, None))
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == {}
    assert set(spaces.holds(MOBILE, SpaceKind.PRIVATE)) == {"an"}
