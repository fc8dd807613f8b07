"""What was overwritten or deleted is restored, alone or with the whole book (rows Y4, Y5)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.unit.sync_service.books import DAY, PHONE, TABLET, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import (
    BookRestored,
    Restore,
    RestoreBook,
    Restored,
    SetPolicy,
    Settle,
)
from contactmesh.contracts.sync.records import Outcome, Policy, Reason
from sync_service.domain.times import moment


def _restores_book(server: Server, at: datetime) -> list[BookRestored]:
    """Send the command until the whole book is restored."""
    steps: list[BookRestored] = []
    command = RestoreBook(at=at)
    while not steps or steps[-1].through is not None:
        result = server.does(command)
        assert isinstance(result, BookRestored)
        steps.append(result)
        command = RestoreBook(at=at, through=result.through, after=result.after)
        server.passes()
    return steps


@pytest.mark.claim("Y4")
def test_a_version_is_restored_and_what_stood_is_in_the_history() -> None:
    server, phone, tablet = shared("an")
    first = server.entry("an")
    phone.edits("an", name={"full": "An Li"})
    phone.syncs()
    second = server.entry("an")
    server.passes()
    restored = server.does(Restore(uid="an", rev=first.rev), TABLET)
    assert isinstance(restored, Restored)
    entry = server.entry("an")
    assert (entry.rev, entry.card, entry.by) == (restored.rev, first.card, TABLET)
    assert [one.rev for one in server.history("an")] == [first.rev, second.rev]
    assert server.told[-1].changed_fields == ("name/full",)
    all_sync([phone, tablet])
    assert phone.holds() == tablet.holds() == {"an": first.card}


@pytest.mark.claim("Y4")
def test_the_history_knows_which_versions_made_the_entry() -> None:
    server, phone, _ = shared("an")
    for name in ("second", "third"):
        phone.edits("an", name={"full": name})
        phone.syncs()
    phone.deletes("an")
    phone.syncs()
    server.passes(DAY)
    phone.makes("an", "anew")
    phone.syncs()
    phone.edits("an", name={"full": "edited"})
    phone.syncs()
    made = [*(one.made for one in server.history("an")), server.entry("an").made]
    assert made == [True, False, False, False, True, False]
    server.passes(29 * DAY + timedelta(hours=1))
    phone.edits("an", name={"full": "the last"})
    phone.syncs()
    oldest, *_ = server.history("an")
    assert not oldest.made, "it is the oldest that is kept, and an edit"


@pytest.mark.claim("Y4")
def test_restoring_what_stands_writes_nothing() -> None:
    server, phone, _ = shared("an")
    first = server.entry("an")
    for name in ("An Li", first.card["name"]["full"] if first.card else ""):
        phone.edits("an", name={"full": name})
        phone.syncs()
        server.passes()
    stands, told = server.entry("an"), len(server.told)
    for rev in (stands.rev, first.rev):
        assert server.does(Restore(uid="an", rev=rev)) == Restored(rev=stands.rev)
    assert (server.entry("an"), len(server.told)) == (stands, told)


@pytest.mark.claim("Y5")
def test_a_deleted_contact_is_restored_and_may_be_deleted_again() -> None:
    server, phone, tablet = shared("an", "bo")
    before = server.entry("an")
    phone.deletes("an")
    all_sync([phone, tablet])
    deleted = server.entry("an")
    assert deleted.was_rev == before.rev
    server.does(Restore(uid="an", rev=before.rev))
    all_sync([phone, tablet])
    assert phone.holds()["an"] == tablet.holds()["an"] == before.card
    assert server.book().entries == 2
    server.does(Restore(uid="an", rev=deleted.rev))
    all_sync([phone, tablet])
    assert set(phone.holds()) == set(tablet.holds()) == {"bo"}


@pytest.mark.claim("Y4")
def test_what_lost_is_restored() -> None:
    server, phone, tablet = shared("an")
    tablet.edits("an", name={"full": "earlier"}, kind="individual")
    lost = tablet.holds()["an"]
    server.passes()
    phone.edits("an", name={"full": "later"})
    all_sync([phone, tablet])
    (version,) = server.history("an", Reason.LOST)
    server.does(Restore(uid="an", rev=version.rev))
    assert server.holds()["an"] == lost


def test_there_is_no_version_of_another_entry_of_later_or_of_long_ago() -> None:
    server, phone, _ = shared("an", "bo")
    old = server.entry("an").rev
    phone.edits("an", name={"full": "An Li"})
    phone.syncs()
    for uid, rev in (("an", 7), ("bo", old), ("never", old)):
        assert server.refuses(Restore(uid=uid, rev=rev)).code is ErrorCode.NOT_FOUND
    server.passes(30 * DAY)
    assert server.refuses(Restore(uid="an", rev=old)).code is ErrorCode.NOT_FOUND


def test_a_restored_contact_has_to_have_a_place_in_the_book() -> None:
    server, phone, _ = shared("an", "bo")
    server.limits = replace(server.limits, entries=2)
    before = server.entry("an")
    phone.deletes("an")
    phone.makes("chen")
    phone.syncs()
    refused = server.refuses(Restore(uid="an", rev=before.rev))
    assert (refused.code, refused.details) == (ErrorCode.QUOTA_EXCEEDED, {"limit": 2})


@pytest.mark.claim("Y4")
def test_an_edit_that_has_not_seen_the_restore_is_joined_with_it() -> None:
    server, phone, tablet = shared("an")
    first = server.entry("an")
    phone.edits("an", name={"full": "An Li"})
    all_sync([phone, tablet])
    tablet.edits("an", kind="individual")
    server.does(Restore(uid="an", rev=first.rev))
    all_sync([tablet, phone])
    assert phone.holds() == tablet.holds() == server.holds()
    assert server.holds()["an"] == {**(first.card or {}), "kind": "individual"}


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("page", [200, 2])
def test_the_book_is_restored_a_page_at_a_time(page: int) -> None:
    server, phone, tablet = shared("an", "bo", "chen", "dai", "eve")
    phone.deletes("eve")
    phone.syncs()
    server.limits = replace(server.limits, page=page)
    before, at = server.holds(), server.now
    server.passes()
    phone.deletes("an")
    phone.edits("bo", name={"full": "Bo"})
    phone.edits("chen", name={"full": "Chen"})
    phone.makes("eve", "another Eve")
    phone.makes("fang")
    phone.syncs()
    tablet.edits("bo", kind="individual")
    tablet.syncs()
    server.passes()
    phone.edits("chen", name={"full": "chen"})
    phone.syncs()
    changed = server.holds()
    steps = _restores_book(server, at)
    assert [one.looked_at for one in steps] == ([5] if page == 200 else [2, 2, 1])
    assert sum(one.restored for one in steps) == 4
    assert server.holds() == before
    assert server.book().entries == len(before)
    all_sync([phone, tablet])
    assert phone.holds() == tablet.holds() == before
    _restores_book(server, at + timedelta(seconds=2))
    assert server.holds() == changed


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("page", [200, 1])
def test_restoring_the_book_is_taken_back_to_what_was_synced_in_the_same_moment(page: int) -> None:
    server, phone, tablet = shared("an", "bo", "chen")
    at = server.now
    server.passes()
    phone.deletes("an")
    phone.edits("bo", name={"full": "first"})
    phone.syncs()
    tablet.syncs()
    server.limits = replace(server.limits, page=page)
    tablet.edits("bo", name={"full": "second"})
    tablet.makes("dai")
    tablet.syncs()
    changed, moment_of_sync = server.holds(), server.now
    first, *others = _restores_book(server, at)
    assert server.holds() != changed
    assert moment_of_sync <= first.before < moment_of_sync + timedelta(milliseconds=1)
    assert {one.before for one in others} <= {first.before}
    _restores_book(server, first.before)
    assert server.holds() == changed


@pytest.mark.claim("Y5")
def test_what_changes_after_the_first_step_is_left_alone() -> None:
    server, phone, _ = shared("an", "bo", "chen")
    server.limits = replace(server.limits, page=1)
    at = server.now
    server.passes()
    for uid in ("an", "bo", "chen"):
        phone.edits(uid, name={"full": "new"})
    phone.syncs()
    server.passes()
    first = server.does(RestoreBook(at=at))
    assert isinstance(first, BookRestored)
    server.passes()
    phone.edits("chen", kind="individual")
    phone.syncs()
    second = server.does(RestoreBook(at=at, through=first.through, after=first.after))
    assert isinstance(second, BookRestored)
    server.does(RestoreBook(at=at, through=second.through, after=second.after))
    names = {uid: one["name"]["full"] for uid, one in server.holds().items()}
    assert names == {"an": "an", "bo": "bo", "chen": "new"}


@pytest.mark.claim("Y5")
def test_a_time_before_the_history_begins_is_refused() -> None:
    server, phone, _ = shared("an")
    at = server.now
    server.passes(30 * DAY + timedelta(seconds=1))
    assert server.refuses(RestoreBook(at=at)).code is ErrorCode.INVALID_ARGUMENT
    fresh = Terminal(server, PHONE).begins()
    assert fresh.holds() == phone.holds()


@pytest.mark.claim("Y5")
def test_an_empty_page_restores_nothing() -> None:
    server, _, _ = shared("an")
    (step,) = _restores_book(server, server.now)
    before = moment(server.book().rev)
    assert step == BookRestored(restored=0, looked_at=0, before=before)
    assert server.holds()["an"]["name"] == card("an")["name"]


def _done(what: str, server: Server, before: datetime) -> Command:
    """A command that writes what no exchange does."""
    match what:
        case "restore":
            return Restore(uid="an", rev=server.history("an")[0].rev)
        case "restore book":
            return RestoreBook(at=before)
    (conflict,) = server.conflicts("an")
    return Settle(conflict_id=conflict.conflict_id, take_lost=True)


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("by", [PHONE, TABLET])
@pytest.mark.parametrize("edited_later", [False, True])
@pytest.mark.parametrize("what", ["restore", "restore book", "settle"])
def test_by_the_latest_an_edit_replaces_what_was_restored_only_if_it_is_later(
    what: str, edited_later: bool, by: str
) -> None:
    """That no other terminal has synced since makes no older edit the later one."""
    server, phone, tablet = shared("an")
    server.does(SetPolicy(policy=Policy.LATEST_WINS))
    before = server.now
    for terminal in (tablet, phone):
        server.passes()
        terminal.edits("an", name={"full": terminal.terminal_id})
    for terminal in (tablet, phone):
        server.passes()
        terminal.syncs()
    server.passes()
    tablet.syncs()
    phone.syncs()
    server.passes()
    if not edited_later:
        phone.edits("an", name={"full": "mine"})
    server.passes()
    server.does(_done(what, server, before), by)
    stands = server.entry("an").card
    server.passes()
    if edited_later:
        phone.edits("an", name={"full": "mine"})
    phone.syncs()
    if edited_later:
        assert server.holds()["an"]["name"] == {"full": "mine"}
    else:
        assert server.entry("an").card == stands
        assert phone.outcomes() == {"an": Outcome.SUPERSEDED}
        assert server.conflicts("an")[-1].lost["name"] == {"full": "mine"}
    tablet.syncs()
    assert phone.holds() == tablet.holds() == server.holds()


@pytest.mark.claim("Y3")
def test_by_the_latest_what_a_terminal_sends_alone_is_applied_whatever_its_clock_said() -> None:
    server, phone, tablet = shared("an")
    server.does(SetPolicy(policy=Policy.LATEST_WINS))
    phone.syncs()
    server.passes()
    for text in ("first", "second"):
        phone.edits("an", name={"full": text})
        phone.wrong -= timedelta(hours=1)
        phone.syncs()
        assert phone.outcomes() == {"an": Outcome.APPLIED}
    tablet.syncs()
    assert tablet.holds() == server.holds()
    assert server.conflicts() == []
