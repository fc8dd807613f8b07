"""Replies are lost and changes sent again: each takes effect once (Y3)."""

import pytest
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Server, card
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.sync.commands import SetPolicy
from contactmesh.contracts.sync.records import Outcome, Policy, Reason


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


@pytest.mark.claim("Y3")
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("lost_too", [False, True])
@pytest.mark.parametrize("phone_is_later", [False, True])
@pytest.mark.parametrize("next_by", [TABLET, LAPTOP])
@pytest.mark.parametrize("again", [PHONE, TABLET])
def test_what_two_made_alike_is_known_as_either_ones_though_a_reply_was_lost(
    policy: Policy, lost_too: bool, phone_is_later: bool, next_by: str, again: str
) -> None:
    """Each of them has sent it; what came after it is overwritten by neither, and no conflict."""
    server, phone, tablet = shared("an")
    server.does(SetPolicy(policy=policy))
    laptop = Terminal(server, LAPTOP).begins()
    terminals = {PHONE: phone, TABLET: tablet, LAPTOP: laptop}
    for terminal in (tablet, phone) if phone_is_later else (phone, tablet):
        server.passes()
        terminal.edits("an", name={"full": "An Li"})
    server.passes()
    phone.exchanges(lost=True)
    server.passes()
    first = tablet.exchanges(lost=lost_too)
    assert lost_too or first is not None
    assert lost_too or tablet.outcomes() == {"an": Outcome.SAME}
    server.passes()
    laptop.syncs()
    server.passes()
    terminals[next_by].edits("an", name={"full": "An Li-Wang"})
    terminals[next_by].syncs()
    server.passes()
    if terminals[again].waiting():
        terminals[again].syncs()
        assert terminals[again].outcomes() == {"an": Outcome.MERGED}
    all_sync([phone, tablet, laptop])
    assert server.conflicts() == []
    assert server.history("an", Reason.LOST) == []
    assert server.holds()["an"]["name"] == {"full": "An Li-Wang"}
    assert phone.holds() == tablet.holds() == laptop.holds() == server.holds()


@pytest.mark.claim("Y4")
def test_what_another_terminal_sent_is_no_change_that_was_sent_before() -> None:
    """The tablet makes what became of the phone's change, then what the phone had sent."""
    server, phone, tablet = shared("an")
    laptop = Terminal(server, LAPTOP).begins()
    laptop.edits("an", kind="individual")
    laptop.syncs()
    server.passes()
    phone.edits("an", name={"full": "An Li"})
    phone.syncs()
    assert phone.outcomes() == {"an": Outcome.MERGED}
    server.passes()
    tablet.edits("an", name={"full": "An Li"}, kind="individual")
    tablet.exchanges(lost=True)
    server.passes()
    tablet.edits("an", kind=None)
    tablet.syncs()
    assert tablet.outcomes() == {"an": Outcome.APPLIED}
    all_sync([phone, tablet, laptop])
    assert "kind" not in server.holds()["an"]
    assert phone.holds() == tablet.holds() == laptop.holds() == server.holds()
