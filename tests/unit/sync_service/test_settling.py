"""Conflicts wait for the owner, who leaves things as they are or takes what lost (row Y4)."""

import pytest
from tests.unit.sync_service.books import DAY, PHONE, TABLET, Json, Server
from tests.unit.sync_service.terminals import DESK, MOBILE, Terminal, all_sync, shared

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import SetPolicy, Settle, Settled
from contactmesh.contracts.sync.records import Policy


def _settles(server: Server, *, take_lost: bool) -> Settled:
    (conflict,) = server.conflicts()
    server.passes()
    settled = server.does(Settle(conflict_id=conflict.conflict_id, take_lost=take_lost))
    assert isinstance(settled, Settled)
    assert server.conflicts() == []
    return settled


def _meeting(earlier: Json, later: Json) -> tuple[Server, Terminal, Terminal]:
    """Two terminals that have edited one contact."""
    server, phone, tablet = shared("an")
    phone.edits("an", **earlier)
    server.passes()
    tablet.edits("an", **later)
    server.passes()
    all_sync([phone, tablet])
    return server, phone, tablet


@pytest.mark.claim("Y4")
def test_leaving_things_as_they_are_writes_nothing() -> None:
    server, _, _ = _meeting({"name": {"full": "earlier"}}, {"name": {"full": "later"}})
    before, told = server.entry("an"), len(server.told)
    assert _settles(server, take_lost=False).rev == before.rev
    assert (server.entry("an"), len(server.told)) == (before, told)


@pytest.mark.claim("Y4")
@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ({"name": {"full": "a"}}, {"name": {"full": "b"}}, {"name": {"full": "a"}}),
        (
            {"name": {"full": "a", "sortAs": {"surname": "x"}}},
            {"name": {"full": "b"}},
            {"name": {"full": "a", "sortAs": {"surname": "x"}}},
        ),
        (
            {"phones": {"m": {"number": "1"}, "d": DESK}},
            {"phones": {"m": {"number": "2"}, "d": DESK}},
            {"phones": {"m": {"number": "1"}, "d": DESK}},
        ),
        (
            {"phones": {"m": MOBILE}},
            {"phones": {"m": MOBILE, "d": {**DESK, "label": "b"}}},
            {"phones": {"m": MOBILE}},
        ),
        ({"kind": "individual"}, {"kind": "org"}, {"kind": "individual"}),
    ],
)
def test_the_value_that_lost_is_taken(earlier: Json, later: Json, expected: Json) -> None:
    server, phone, tablet = _meeting(earlier, later)
    before = server.holds()["an"]
    _settles(server, take_lost=True)
    assert server.holds()["an"] == {**before, **expected}
    all_sync([phone, tablet])
    assert phone.holds() == tablet.holds() == server.holds()


@pytest.mark.claim("Y4")
def test_the_value_brings_back_what_it_was_a_part_of() -> None:
    server, phone, tablet = _meeting(
        {"phones": {"m": {"number": "1"}, "d": DESK}},
        {"phones": {"m": {"number": "2"}, "d": DESK}},
    )
    tablet.edits("an", phones={"d": DESK})
    all_sync([tablet, phone])
    _settles(server, take_lost=True)
    assert server.holds()["an"]["phones"] == {"m": {"number": "1"}, "d": DESK}


@pytest.mark.claim("Y4")
def test_a_value_that_has_no_place_any_more_is_refused_and_waits_on() -> None:
    server, phone, tablet = _meeting({"name": {"full": "earlier"}}, {"name": {"full": "later"}})
    tablet.deletes("an")
    all_sync([tablet, phone])
    (conflict,) = server.conflicts()
    refused = server.refuses(Settle(conflict_id=conflict.conflict_id, take_lost=True))
    assert refused.code is ErrorCode.CONFLICT
    assert server.conflicts() == [conflict]
    _settles(server, take_lost=False)


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("take_lost", [True, False])
def test_a_deletion_that_lost_against_an_edit_may_be_taken(take_lost: bool) -> None:
    server, phone, tablet = shared("an", "bo")
    phone.deletes("an")
    tablet.edits("an", kind="individual")
    all_sync([phone, tablet])
    _settles(server, take_lost=take_lost)
    all_sync([phone, tablet])
    expected = {"bo"} if take_lost else {"an", "bo"}
    assert set(server.holds()) == set(phone.holds()) == set(tablet.holds()) == expected


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("deletes", [True, False])
def test_a_whole_contact_that_lost_may_be_taken(deletes: bool) -> None:
    server, phone, tablet = shared("an", "bo")
    server.does(SetPolicy(policy=Policy.LATEST_WINS))
    all_sync([phone, tablet])
    phone.edits("an", name={"full": "earlier"})
    lost = phone.holds()["an"]
    server.passes()
    if deletes:
        tablet.deletes("an")
    else:
        tablet.edits("an", name={"full": "later"})
    server.passes()
    all_sync([tablet, phone])
    assert ("an" in server.holds()) is not deletes
    _settles(server, take_lost=True)
    all_sync([tablet, phone])
    assert phone.holds()["an"] == tablet.holds()["an"] == server.holds()["an"] == lost


def test_a_conflict_of_others_or_of_long_ago_is_not_found() -> None:
    server, _, _ = _meeting({"name": {"full": "earlier"}}, {"name": {"full": "later"}})
    (conflict,) = server.conflicts()
    command = Settle(conflict_id=conflict.conflict_id, take_lost=True)
    assert server.refuses(command, "bo_aaaaaaaa", "bo").code is ErrorCode.NOT_FOUND
    elsewhere = command.model_copy(update={"book": "work"})
    assert server.refuses(elsewhere).code is ErrorCode.NOT_FOUND
    server.passes(30 * DAY)
    assert server.refuses(command).code is ErrorCode.NOT_FOUND


@pytest.mark.claim("Y4")
def test_conflicts_are_ordered_by_when_they_were_found() -> None:
    server, phone, tablet = shared("an", "bo")
    for terminal, mark in ((phone, "1"), (tablet, "2")):
        terminal.edits("an", name={"full": mark}, kind=mark, phones={"m": {"number": mark}})
        terminal.edits("bo", name={"full": mark})
        server.passes()
    all_sync([phone, tablet])
    found = [(one.uid, one.path) for one in server.conflicts()]
    assert sorted(found) == [
        ("an", "kind"),
        ("an", "name"),
        ("an", "phones/m/number"),
        ("bo", "name"),
    ]
    assert [one.rev for one in server.conflicts()] == sorted(one.rev for one in server.conflicts())
    assert {one.lost_by for one in server.conflicts()} == {PHONE}
    assert all(one.by == TABLET for one in server.stored.entries.values())
