"""Erased is erased: nothing restores it, and no other terminal brings it back (row Y5)."""

import json

import pytest
from tests.unit.sync_service.books import PHONE, TABLET, Server
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.contact import Operation
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import Erase, Erased, Restore, RestoreBook, SetOwnCard
from contactmesh.contracts.sync.records import Outcome


def _written(server: Server, mark: str) -> list[str]:
    """What the database holds that has a mark in it."""
    stored = server.stored
    documents = [*stored.entries.values(), *stored.versions.values(), *stored.conflicts.values()]
    return [str(one) for one in documents if mark in str(one)]


def _with_history() -> tuple[Server, Terminal, Terminal]:
    server, phone, tablet = shared("an", "bo")
    phone.edits("an", name={"full": "secret one"})
    server.passes()
    tablet.edits("an", name={"full": "secret two"})
    server.passes()
    all_sync([phone, tablet])
    return server, phone, tablet


@pytest.mark.claim("Y5")
def test_nothing_of_an_erased_entry_is_left() -> None:
    server, phone, tablet = _with_history()
    revs = [one.rev for one in server.history("an")]
    assert _written(server, "secret")
    server.passes()
    assert server.does(Erase(uids=("an", "never there"))) == Erased(uids=("an",))
    assert _written(server, "secret") == []
    assert server.conflicts() == []
    assert server.history("an") == []
    event = server.told[-1]
    assert (event.uid, event.op, event.card) == ("an", Operation.DELETED, None)
    assert "secret" not in json.dumps(event.payload())
    for rev in (*revs, server.history("")[-1].rev):
        assert server.refuses(Restore(uid="an", rev=rev)).code is ErrorCode.NOT_FOUND
        assert server.refuses(Restore(uid="bo", rev=rev)).code is ErrorCode.NOT_FOUND
    all_sync([phone, tablet])
    assert set(phone.holds()) == set(tablet.holds()) == set(server.holds()) == {"bo"}
    assert server.book().entries == 1


@pytest.mark.claim("Y5")
def test_an_edit_of_what_was_erased_is_rejected_and_named() -> None:
    server, phone, tablet = _with_history()
    server.does(Erase(uids=("an",)))
    tablet.edits("an", kind="individual")
    tablet.syncs()
    (result,) = tablet.results
    assert (result.outcome, result.code) == (Outcome.REJECTED, ErrorCode.NOT_FOUND)
    assert (result.name, result.erased) == ("secret two", True)
    phone.syncs()
    assert set(server.holds()) == set(phone.holds()) == set(tablet.holds()) == {"bo"}
    assert _written(server, "secret") == []


@pytest.mark.claim("Y5")
def test_erasing_what_is_deleted_takes_its_history_and_is_told_once() -> None:
    server, phone, tablet = _with_history()
    phone.deletes("an")
    all_sync([phone, tablet])
    told = len(server.told)
    for _ in range(2):
        assert server.does(Erase(uids=("an",))) == Erased(uids=("an",))
    assert server.does(Erase(uids=("never there",))) == Erased(uids=())
    (event,) = server.told[told:]
    assert (event.uid, event.op, event.erased) == ("an", Operation.DELETED, True)
    reply = tablet.exchanges()
    assert reply is not None
    assert [(one.uid, one.card, one.erased) for one in reply.changes] == [("an", None, True)]
    assert server.book().entries == 1
    assert server.entry("an").was_rev is None
    assert server.history("an") == []
    assert _written(server, "secret") == []


@pytest.mark.claim("Y5")
def test_what_is_made_anew_under_its_uid_is_an_entry_like_any_other() -> None:
    server, phone, _ = _with_history()
    server.does(Erase(uids=("an",)))
    phone.syncs()
    phone.makes("an", "anew")
    phone.syncs()
    assert phone.outcomes() == {"an": Outcome.APPLIED}
    assert (server.entry("an").erased, server.entry("an").made) == (False, True)
    phone.deletes("an")
    phone.syncs()
    assert not server.entry("an").erased


@pytest.mark.claim("Y5")
def test_an_edit_of_what_was_erased_is_not_joined_with_what_was_made_anew() -> None:
    server, phone, tablet = _with_history()
    server.does(Erase(uids=("an",)))
    phone.syncs()
    phone.makes("an", "anew")
    phone.syncs()
    phone.edits("an", kind="individual")
    phone.syncs()
    tablet.edits("an", language="en")
    tablet.syncs()
    (result,) = tablet.results
    assert (result.outcome, result.erased) == (Outcome.REJECTED, True)
    all_sync([phone, tablet])
    assert server.holds()["an"]["name"] == {"full": "anew"}
    assert _written(server, "secret") == []


@pytest.mark.claim("Y5")
def test_a_restored_book_does_not_bring_it_back() -> None:
    server, phone, _ = _with_history()
    at = server.now
    server.passes()
    server.does(Erase(uids=("an",)))
    phone.edits("bo", kind="individual")
    phone.syncs()
    server.does(RestoreBook(at=at))
    assert set(server.holds()) == {"bo"}
    assert "kind" not in server.holds()["bo"]


@pytest.mark.claim("Y6")
def test_tokens_that_know_the_erased_revisions_go_on() -> None:
    server, phone, tablet = _with_history()
    assert server.entry("an").rev == server.book().rev
    server.does(Erase(uids=("an",)))
    for terminal in (phone, tablet):
        assert terminal.exchanges() is not None
        assert set(terminal.holds()) == {"bo"}


def test_the_own_card_that_is_erased_is_nobodys_any_more() -> None:
    server, _, _ = _with_history()
    server.does(SetOwnCard(uid="an"), PHONE)
    server.does(Erase(uids=("bo",)), TABLET)
    assert server.book().own_card_uid == "an"
    server.does(Erase(uids=("an",)), TABLET)
    assert server.book().own_card_uid is None
