"""The rows of two-way sync, one by one (Y1-Y6)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.sync_service.books import LAPTOP, PHONE, SECOND, TABLET, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync

from contactmesh.contracts.contact import Operation, Scope
from contactmesh.contracts.sync.commands import Exchange, SetPolicy
from contactmesh.contracts.sync.records import Change, ConflictKind, Outcome, Policy, Reason
from sync_service.domain.times import micros

HOUR = timedelta(hours=1)


def two(policy: Policy = Policy.MERGE) -> tuple[Server, Terminal, Terminal]:
    """A book with one contact that two terminals know."""
    server = Server()
    server.does(SetPolicy(policy=policy))
    phone, tablet = Terminal(server, PHONE), Terminal(server, TABLET)
    phone.makes("an", phones={"m": {"number": "1"}})
    phone.syncs()
    server.passes()
    tablet.begins()
    return server, phone, tablet


@pytest.mark.claim("Y1")
def test_y1_what_was_updated_since_the_last_sync_is_sent_with_its_update_time() -> None:
    server, phone, tablet = two()
    server.passes()
    phone.edits("an", kind="individual")
    edited = server.now
    server.passes(HOUR)
    assert [(one.uid, one.updated_at) for one in phone.command().changes] == [("an", edited)]
    phone.syncs()
    assert server.entry("an").updated_at == micros(edited)
    assert phone.command().changes == ()
    tablet.syncs()
    assert tablet.holds() == phone.holds() == server.holds()


@pytest.mark.claim("Y2")
@pytest.mark.claim("Y5")
def test_y2_y5_a_deletion_marks_a_modification_overwrites_or_creates() -> None:
    server, phone, tablet = two()
    tablet.edits("an", name={"full": "An Li"})
    tablet.makes("bo")
    tablet.syncs()
    assert {uid: one["name"] for uid, one in server.holds().items()} == {
        "an": {"full": "An Li"},
        "bo": {"full": "bo"},
    }
    assert server.book().entries == 2
    server.passes()
    tablet.deletes("bo")
    deleted = server.now
    tablet.syncs()
    entry = server.entry("bo")
    assert (entry.deleted, entry.card, entry.deleted_at) == (True, None, deleted)
    assert server.book().entries == 1
    phone.syncs()
    assert set(phone.holds()) == {"an"}


@pytest.mark.claim("Y3")
def test_y3_what_the_server_changed_since_the_last_sync_is_found() -> None:
    server, phone, tablet = two()
    tablet.makes("bo")
    tablet.syncs()
    phone.received.clear()
    phone.syncs()
    assert phone.received == [("bo", server.entry("bo").rev)]
    phone.received.clear()
    phone.syncs()
    assert phone.received == []


@pytest.mark.claim("Y3")
def test_y3_applied_as_they_are_where_no_other_terminal_has_synced_since() -> None:
    server, phone, tablet = two(Policy.LATEST_WINS)
    server.passes()
    phone.syncs()
    # Sent without a base, and older than what stands: only the equal sync times say it may.
    for terminal, name, stands in ((phone, "phone", "phone"), (tablet, "tablet", "phone")):
        old = Change(uid="an", updated_at=server.now - HOUR, card=card("an", name))
        token = terminal.token
        server.exchanges(
            Exchange(token=token, changes=(old,), sent_at=server.now), terminal.terminal_id
        )
        assert server.holds()["an"]["name"] == {"full": stands}
        server.passes()


@pytest.mark.claim("Y3")
def test_y3_a_terminal_that_has_not_seen_all_is_not_alone() -> None:
    server = Server()
    server.limits = replace(server.limits, page=1)
    server.does(SetPolicy(policy=Policy.LATEST_WINS))
    phone, tablet = Terminal(server, PHONE), Terminal(server, TABLET)
    tablet.token = server.lists()
    phone.makes("an")
    phone.makes("bo")
    phone.syncs()
    server.passes()
    first = tablet.exchanges()
    assert first is not None
    assert first.has_more
    old = Change(uid="bo", updated_at=server.now - HOUR, card=card("bo", "old"))
    server.exchanges(Exchange(token=tablet.token, changes=(old,), sent_at=server.now), TABLET)
    (conflict,) = server.conflicts("bo")
    assert conflict.lost == card("bo")


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("policy", Policy)
def test_y4_the_same_content_is_ignored(policy: Policy) -> None:
    server, phone, tablet = two(policy)
    for terminal in (phone, tablet):
        terminal.edits("an", kind="individual")
        terminal.edits("an", kind="individual", updated="2026-01-01T00:00:00Z")
    phone.syncs()
    rev, told = server.entry("an").rev, len(server.told)
    server.passes()
    tablet.syncs()
    assert tablet.outcomes() == {"an": Outcome.SAME}
    assert (server.entry("an").rev, len(server.told)) == (rev, told)
    assert server.conflicts() == []


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("later", ["phone", "tablet"])
def test_y4_latest_wins_takes_the_later_contact_whole_in_either_direction(later: str) -> None:
    server, phone, tablet = two(Policy.LATEST_WINS)
    all_sync([phone, tablet])
    first, second = (tablet, phone) if later == "phone" else (phone, tablet)
    first.edits("an", name={"full": "first"}, kind="individual")
    server.passes()
    second.edits("an", name={"full": "second"})
    lost, won = first.holds()["an"], second.holds()["an"]
    server.passes()
    phone.syncs()
    tablet.syncs()
    expected = Outcome.APPLIED if later == "tablet" else Outcome.SUPERSEDED
    assert tablet.outcomes() == {"an": expected}
    phone.syncs()
    assert phone.holds()["an"] == tablet.holds()["an"] == server.holds()["an"] == won
    (conflict,) = server.conflicts()
    assert (conflict.kind, conflict.lost) == (ConflictKind.WHOLE, lost)
    assert conflict.lost_by == first.terminal_id
    (version,) = [one for one in server.history("an") if one.rev == conflict.lost_rev]
    assert version.card == lost
    assert version.reason is (Reason.REPLACED if later == "tablet" else Reason.LOST)


@pytest.mark.claim("Y4")
def test_y4_merge_keeps_edits_of_different_fields() -> None:
    server, phone, tablet = two()
    all_sync([phone, tablet])
    phone.edits("an", name={"full": "An Li"})
    tablet.edits("an", phones={"m": {"number": "2"}})
    all_sync([phone, tablet])
    assert phone.holds() == tablet.holds() == server.holds()
    assert server.holds()["an"] == card("an", "An Li", phones={"m": {"number": "2"}})
    assert server.conflicts() == []


@pytest.mark.claim("Y4")
def test_y4_what_the_server_holds_and_the_terminal_lacks_goes_to_the_terminal() -> None:
    server, phone, _ = two()
    phone.makes("bo")
    phone.syncs()
    laptop = Terminal(server, LAPTOP, token=Terminal(Server(), LAPTOP).server.lists())
    laptop.syncs()
    assert laptop.holds() == server.holds()


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("policy", Policy)
def test_y5_a_deletion_never_silently_removes_an_edit_that_its_author_had_not_seen(
    policy: Policy,
) -> None:
    server, phone, tablet = two(policy)
    all_sync([phone, tablet])
    phone.edits("an", name={"full": "An Li"})
    phone.syncs()
    server.passes()
    tablet.deletes("an")
    tablet.syncs()
    (conflict,) = server.conflicts("an")
    assert conflict.name == "An Li"
    if policy is Policy.MERGE:
        assert (conflict.kind, conflict.lost) == (ConflictKind.DELETION, None)
        assert tablet.holds() == server.holds()
        assert tablet.holds()["an"]["name"] == {"full": "An Li"}
    else:
        assert conflict.kind is ConflictKind.WHOLE
        assert conflict.lost["name"] == {"full": "An Li"}
        assert server.holds() == {}


@pytest.mark.claim("Y6")
def test_y6_the_server_keeps_when_the_sync_ended_and_gives_it_to_the_terminal() -> None:
    server, phone, tablet = two()
    server.passes()
    phone.syncs()
    assert (server.book().synced, server.book().synced_by) == (micros(server.now), PHONE)
    first = phone.token
    tablet.syncs()
    assert (server.book().synced, server.book().synced_by) == (micros(server.now) + 1, TABLET)
    assert len({first, phone.token, tablet.token}) == 2
    server.passes(-2 * SECOND)
    before = server.book().synced
    phone.syncs()
    assert server.book().synced > before


@pytest.mark.claim("Y5")
def test_one_event_for_each_entry_that_was_really_changed() -> None:
    server, phone, tablet = two()
    tablet.edits("an", kind="individual")
    tablet.makes("bo")
    tablet.deletes("never there")
    tablet.syncs()
    server.told = server.told[1:]
    tablet.deletes("bo")
    tablet.syncs()
    phone.syncs()
    found = [(one.uid, one.op, one.changed_fields, one.card) for one in server.told]
    assert found == [
        ("an", Operation.MODIFIED, ("kind",), server.holds()["an"]),
        ("bo", Operation.MODIFIED, ("name",), card("bo")),
        ("bo", Operation.DELETED, ("name",), None),
    ]
    for event in server.told:
        assert (event.scope, event.owner_id, event.book) == (Scope.BOOK, "lin", "main")
        assert (event.origin.service, event.origin.terminal_id) == ("sync_service", TABLET)
        assert not event.own_card
    assert [one.rev for one in server.told] == sorted({one.rev for one in server.told})
