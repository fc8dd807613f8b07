"""The owner's own card over all books, and the policy of each (row Y4)."""

import pytest
from tests.unit.sync_service.books import PHONE, TABLET, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import Exchange, Restore, SetOwnCard, SetPolicy
from contactmesh.contracts.sync.records import Change, Policy


def test_setting_the_own_card_tells_of_it_once_and_its_changes_say_so() -> None:
    server, phone, tablet = shared("an", "bo")
    server.told.clear()
    server.does(SetOwnCard(uid="an"))
    (event,) = server.told
    assert (event.uid, event.own_card, event.card) == ("an", True, server.holds()["an"])
    assert event.rev == server.entry("an").rev
    server.told.clear()
    first = server.entry("an")
    phone.edits("an", kind="individual")
    phone.edits("bo", kind="individual")
    all_sync([phone, tablet])
    server.passes()
    server.does(Restore(uid="an", rev=first.rev))
    phone.syncs()
    phone.deletes("an")
    phone.syncs()
    found = [(one.uid, one.op is Operation.DELETED, one.own_card) for one in server.told]
    assert sorted(found[:2]) == [("an", False, True), ("bo", False, False)]
    assert found[2:] == [("an", False, True), ("an", True, True)]


def test_at_most_one_entry_over_all_books_is_the_own_card() -> None:
    server, _, _ = shared("an")
    change = Change(uid="work-me", updated_at=server.now, card=card("work-me"))
    server.exchanges(Exchange(book="work", changes=(change,), sent_at=server.now))
    server.does(SetOwnCard(uid="an"))
    before = (server.book().etag, server.book("work").etag)
    server.does(SetOwnCard(book="work", uid="work-me"))
    assert server.book().own_card_uid is None
    assert server.book("work").own_card_uid == "work-me"
    assert before == (server.book().etag, server.book("work").etag)
    server.told.clear()
    server.does(SetOwnCard(book="work"))
    assert server.book("work").own_card_uid is None
    assert server.told == []


@pytest.mark.parametrize("asked", ["main", "work", "new"])
def test_without_an_entry_no_book_has_the_own_card_whichever_is_named(asked: str) -> None:
    server, _, _ = shared("an")
    change = Change(uid="work-me", updated_at=server.now, card=card("work-me"))
    server.exchanges(Exchange(book="work", changes=(change,), sent_at=server.now))
    server.does(SetOwnCard(book="work", uid="work-me"))
    server.does(SetOwnCard(book=asked))
    assert [server.book(book).own_card_uid for book in ("main", "work", asked)] == [None] * 3


def test_an_entry_that_is_not_there_or_is_deleted_is_no_own_card() -> None:
    server, phone, _ = shared("an")
    phone.deletes("an")
    phone.syncs()
    for uid in ("an", "never"):
        assert server.refuses(SetOwnCard(uid=uid)).code is ErrorCode.NOT_FOUND


@pytest.mark.claim("Y4")
def test_a_policy_holds_for_its_book_from_then_on() -> None:
    server = Server()
    assert server.book().policy is Policy.MERGE
    server.does(SetPolicy(book="work", policy=Policy.LATEST_WINS))
    assert (server.book().policy, server.book("work").policy) == (Policy.MERGE, Policy.LATEST_WINS)
    server.does(SetPolicy(policy=Policy.LATEST_WINS))
    phone = Terminal(server, PHONE)
    phone.makes("an", language="en")
    phone.syncs()
    server.passes()
    tablet = Terminal(server, TABLET).begins()
    all_sync([tablet, phone])
    for policy, joined in ((Policy.LATEST_WINS, False), (Policy.MERGE, True)):
        server.does(SetPolicy(policy=policy))
        phone.edits("an", language=policy.value)
        server.passes()
        tablet.edits("an", kind=policy.value)
        server.passes()
        all_sync([phone, tablet])
        assert server.holds()["an"]["kind"] == policy.value
        assert (server.holds()["an"]["language"] == policy.value) is joined


def test_an_exchange_tells_which_entry_is_the_own_card() -> None:
    server, phone, tablet = shared("an", "bo")
    for uid in ("an", "bo", None):
        server.does(SetOwnCard(uid=uid))
        for terminal in (phone, tablet):
            reply = terminal.exchanges()
            assert reply is not None
            assert reply.own_card_uid == uid
