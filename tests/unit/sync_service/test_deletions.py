"""A deletion meets an edit: no edit is lost, nothing deleted comes back (Y5)."""

from itertools import permutations

import pytest
from tests.unit.sync_service.books import LAPTOP, PHONE, card
from tests.unit.sync_service.terminals import BIRTHDAY, DESK, MOBILE, Terminal, all_sync, shared

from contactmesh.contracts.sync.commands import SetPolicy
from contactmesh.contracts.sync.records import ConflictKind, Outcome, Policy, Reason


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("deleter_first", [True, False])
def test_the_edit_that_the_deleter_had_not_seen_survives(deleter_first: bool) -> None:
    server, phone, tablet = shared("an")
    phone.deletes("an")
    tablet.edits("an", name={"full": "An Li"})
    first, second = (phone, tablet) if deleter_first else (tablet, phone)
    first.syncs()
    server.passes()
    second.syncs()
    assert second.outcomes() == {"an": Outcome.CONFLICT}
    expected = card("an", "An Li", phones={"m": MOBILE, "d": DESK}, anniversaries=BIRTHDAY)
    assert second.holds() == server.holds() == {"an": expected}
    first.syncs()
    assert first.holds() == server.holds()
    (conflict,) = server.conflicts()
    assert (conflict.kind, conflict.lost, conflict.lost_by) == (ConflictKind.DELETION, None, PHONE)
    (lost,) = [one for one in server.history("an") if one.rev == conflict.lost_rev]
    assert lost.card is None


@pytest.mark.claim("Y5")
def test_a_deletion_of_what_its_author_has_seen_deletes() -> None:
    server, phone, tablet = shared("an", "bo")
    tablet.edits("an", name={"full": "An Li"})
    all_sync([tablet, phone])
    phone.deletes("an")
    all_sync([phone, tablet])
    assert set(server.holds()) == set(phone.holds()) == set(tablet.holds()) == {"bo"}
    assert server.conflicts() == []
    assert server.history("an")[-1].card is not None


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("policy", Policy)
def test_what_says_nothing_new_brings_nothing_back_and_overwrites_nothing(policy: Policy) -> None:
    server, phone, tablet = shared("an", "bo")
    server.does(SetPolicy(policy=policy))
    all_sync([tablet, phone])
    phone.deletes("an")
    phone.edits("bo", name={"full": "Bo"})
    phone.syncs()
    server.passes()
    for uid in ("an", "bo"):
        tablet.edits(uid, kind="individual")
        tablet.edits(uid, kind=None)
    tablet.syncs()
    assert tablet.outcomes() == {"an": Outcome.SUPERSEDED, "bo": Outcome.MERGED}
    assert tablet.holds() == server.holds() == phone.holds()
    assert set(server.holds()) == {"bo"}
    assert server.holds()["bo"]["name"] == {"full": "Bo"}
    assert server.conflicts() == []


@pytest.mark.claim("Y5")
def test_an_edit_that_a_later_one_has_overwritten_brings_nothing_back() -> None:
    server, phone, tablet = shared("an")
    laptop = Terminal(server, LAPTOP).begins()
    tablet.edits("an", name={"full": "earlier"})
    server.passes()
    phone.edits("an", name={"full": "later"})
    phone.syncs()
    laptop.syncs()
    laptop.deletes("an")
    laptop.syncs()
    tablet.syncs()
    assert tablet.outcomes() == {"an": Outcome.CONFLICT}
    assert tablet.holds() == server.holds() == {}
    (conflict,) = server.conflicts()
    assert (conflict.kind, conflict.path, conflict.lost) == (
        ConflictKind.FIELD,
        "name",
        {"full": "earlier"},
    )


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_two_edits_and_a_deletion_come_to_the_same_in_any_order(order: tuple[int, ...]) -> None:
    server, phone, tablet = shared("an")
    laptop = Terminal(server, LAPTOP).begins()
    terminals = [phone, tablet, laptop]
    phone.deletes("an")
    server.passes()
    tablet.edits("an", name={"full": "An Li"})
    server.passes()
    laptop.edits("an", phones={"m": MOBILE})
    for at in order:
        server.passes()
        terminals[at].syncs()
    all_sync(terminals)
    expected = {"an": card("an", "An Li", phones={"m": MOBILE}, anniversaries=BIRTHDAY)}
    assert server.holds() == phone.holds() == tablet.holds() == laptop.holds() == expected
    assert [one.kind for one in server.conflicts()] == [ConflictKind.DELETION]


@pytest.mark.claim("Y5")
def test_both_delete_and_it_is_no_conflict() -> None:
    server, phone, tablet = shared("an", "bo")
    phone.deletes("an")
    tablet.deletes("an")
    all_sync([phone, tablet])
    assert set(server.holds()) == {"bo"}
    assert server.conflicts() == []
    assert server.history("an", Reason.LOST) == []


@pytest.mark.claim("Y5")
def test_a_deleted_contact_is_made_again_by_one_who_knows_that_it_was_deleted() -> None:
    server, phone, tablet = shared("an")
    phone.deletes("an")
    all_sync([phone, tablet])
    tablet.makes("an")
    all_sync([tablet, phone])
    assert phone.holds() == server.holds() == {"an": card("an")}
    assert server.conflicts() == []
