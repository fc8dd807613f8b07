"""Replies are lost and changes sent again: each takes effect once (Y3)."""

import pytest
from tests.unit.sync_service.books import PHONE, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.sync.records import Outcome, Reason


@pytest.mark.claim("Y3")
def test_the_same_changes_five_times_are_each_contact_once() -> None:
    server, phone, tablet = shared("an", "bo", "chen")
    phone.edits("an", name={"full": "An Li"})
    phone.deletes("bo")
    phone.makes("dai")
    command = phone.command()
    for _ in range(5):
        reply = server.exchanges(command)
        server.passes()
        assert {result.rev for result in reply.results} == {
            server.entry(uid).rev for uid in ("an", "bo", "dai")
        }
    assert len(server.history("an")) == len(server.history("bo")) == 1
    assert server.history("dai") == []
    phone.takes(reply)
    phone.syncs()
    tablet.syncs()
    assert phone.holds() == tablet.holds() == server.holds()
    assert server.conflicts() == []


@pytest.mark.claim("Y3")
@pytest.mark.parametrize("times", [1, 5])
def test_a_lost_reply_and_others_meanwhile_are_no_conflict(times: int) -> None:
    server, phone, tablet = shared("an", "bo", "chen")
    phone.edits("an", name={"full": "An Li"})
    phone.edits("bo", kind="individual")
    phone.deletes("chen")
    for _ in range(times):
        phone.exchanges(lost=True)
        server.passes()
    all_sync([tablet])
    tablet.edits("an", name={"full": "An Li-Wang"})
    tablet.deletes("bo")
    tablet.makes("chen", "Chen again")
    tablet.syncs()
    server.passes()
    all_sync([phone, tablet])
    assert server.conflicts() == []
    assert {uid: one["name"]["full"] for uid, one in server.holds().items()} == {
        "an": "An Li-Wang",
        "chen": "Chen again",
    }
    assert phone.holds() == tablet.holds() == server.holds()
    assert all(one.reason is Reason.REPLACED for one in server.stored.versions.values())


@pytest.mark.claim("Y3")
def test_a_terminal_that_edits_on_after_a_lost_reply_is_not_in_conflict_with_itself() -> None:
    server, phone, _ = shared("an", "bo")
    phone.edits("an", name={"full": "first"}, kind="individual")
    phone.makes("dai", "first")
    phone.makes("eve")
    phone.exchanges(lost=True)
    server.passes()
    phone.edits("an", name={"full": "second"}, kind=None)
    phone.edits("dai", name={"full": "second"})
    phone.deletes("eve")
    phone.syncs()
    assert server.conflicts() == []
    assert server.holds()["an"] == phone.holds()["an"]
    assert "kind" not in server.holds()["an"]
    assert server.holds()["dai"] == card("dai", "second")
    assert "eve" not in server.holds()


@pytest.mark.claim("Y3")
def test_a_conflict_that_was_told_to_nobody_is_told_again_and_recorded_once() -> None:
    server, phone, tablet = shared("an")
    tablet.edits("an", name={"full": "earlier"})
    server.passes()
    phone.edits("an", name={"full": "later"})
    phone.syncs()
    for _ in range(3):
        server.passes()
        tablet.exchanges(lost=True)
    tablet.syncs()
    assert tablet.outcomes() == {"an": Outcome.CONFLICT}
    assert tablet.holds() == server.holds()
    assert len(server.conflicts()) == len(server.history("an", Reason.LOST)) == 1


@pytest.mark.claim("Y3")
def test_a_terminal_killed_half_way_through_500_creates_starts_again() -> None:
    server = Server()
    phone = Terminal(server, PHONE)
    for number in range(500):
        phone.makes(f"c{number:03d}")
    phone.exchanges(lost=True)
    assert len(server.holds()) == 200
    assert phone.exchanges() is None
    phone.syncs()
    assert phone.holds() == server.holds()
    assert len(server.holds()) == server.book().entries == 500
    assert server.conflicts() == []
    assert server.stored.versions == {}
    assert len(server.told) == 500


@pytest.mark.claim("Y5")
def test_a_change_that_arrived_and_was_deleted_since_is_not_made_again() -> None:
    server, phone, tablet = shared("an", "bo")
    tablet.edits("an", kind="individual")
    tablet.syncs()
    phone.edits("an", name={"full": "An Li"})
    phone.exchanges(lost=True)
    all_sync([tablet])
    tablet.deletes("an")
    tablet.syncs()
    phone.syncs()
    assert phone.outcomes() == {"an": Outcome.SUPERSEDED}
    assert set(phone.holds()) == set(server.holds()) == {"bo"}
    assert server.conflicts() == []
