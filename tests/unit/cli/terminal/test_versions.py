"""The history of a contact as people read it (row Y4), and what stands where terminals met."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.terminal.cards import card

from contactmesh.cli.terminal.conflicts import _row as conflict_row
from contactmesh.cli.terminal.history import by_whom
from contactmesh.cli.terminal.place import Place
from contactmesh.cli.terminal.times import read_moment, told_to_second
from contactmesh.cli.terminal.versions import numbered
from contactmesh.contacts import Card
from contactmesh.contracts.sync.records import ConflictKind, ConflictView, Reason, Version
from contactmesh.terminal import Contact

CONFLICT = "00000000-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIRST = card("li", "Li Wei", phones={"m": "+8613800138000"})
SECOND = card("li", "Li Wei", phones={"m": "+8613900139000"})
THIRD = card("li", "Li Wei", phones={"m": "+8613700137000"})


def version(one: Card | None, reason: Reason = Reason.REPLACED, *, made: bool = False) -> Version:
    return Version(
        rev=1,
        reason=reason,
        made=made,
        at=NOON,
        updated_at=NOON,
        deleted=one is None,
        card=None if one is None else one.to_json(),
    )


@pytest.mark.claim("Y4")
def test_each_version_says_what_it_did() -> None:
    newest_first = [
        version(FIRST, Reason.CURRENT),
        version(None),
        version(SECOND),
        version(THIRD, Reason.LOST),
        version(SECOND),
        version(FIRST, made=True),
    ]
    # What never stood is nothing to be restored to.
    newest_first.insert(1, version(THIRD, made=True))
    told = {one.number: one.what for one in numbered(newest_first)}
    assert told == {
        1: "made",
        2: "changed",
        3: "lost to a later change",
        4: "restored to version 2",
        5: "deleted",
        6: "made",
        7: "restored to version 1 (stands)",
    }


@pytest.mark.claim("Y4")
def test_a_new_contact_says_in_brief_what_it_says() -> None:
    (one,) = numbered([version(FIRST, Reason.CURRENT, made=True)])
    assert "number + +8613800138000" in one.lines
    assert numbered([version(None)])[0].lines == ()


@pytest.mark.claim("Y4")
def test_the_oldest_version_that_is_kept_need_not_have_made_the_contact() -> None:
    (one,) = numbered([version(FIRST)])
    assert (one.what, one.lines) == ("changed", ())


@pytest.mark.parametrize("kind", [ConflictKind.WHOLE, ConflictKind.DELETION])
@pytest.mark.parametrize("stands", [True, False], ids=["a contact stands", "a deletion stands"])
def test_what_stands_where_a_whole_contact_was_in_conflict(
    kind: ConflictKind, stands: bool, data: Path
) -> None:
    lost = None if kind is ConflictKind.DELETION else card("li", "Li", note="lost").to_json()
    conflict = ConflictView(
        conflict_id=CONFLICT,
        kind=kind,
        uid="li",
        name="Li",
        at=NOON,
        lost=lost,
        lost_by="li_aaaaaaaa",
    )
    own = card("li", "Li")
    contact = Contact("c1", "Li", own, None, (), own=True) if stands else None
    place = Place.chosen("phone", None, data)
    _, field, now, before, *_ = conflict_row(place, conflict, contact, "here")
    assert field == "the whole contact"
    assert now == ("the contact" if stands else "that it is deleted")
    assert ("that it is deleted" if lost is None else "lost") in before


@pytest.mark.parametrize(
    "behind", [timedelta(), timedelta(microseconds=1), timedelta(microseconds=999_999)]
)
def test_the_time_of_a_version_can_be_restored_to(behind: timedelta) -> None:
    at = NOON + behind
    told = told_to_second(at)
    again = read_moment(told, NOON + timedelta(hours=1))
    assert timedelta() <= again - at < timedelta(seconds=1)
    assert told_to_second(again) == told


def test_a_terminal_is_told_by_the_name_that_it_has_here(
    enrolled: Callable[[str], None], data: Path
) -> None:
    enrolled("phone")
    enrolled("tablet")
    (data / "terminals" / "half").mkdir()
    damaged = data / "terminals" / "damaged"
    damaged.mkdir()
    (damaged / "credentials.json").write_text(json.dumps({}))
    place = Place.chosen("phone", None, data)
    here = "phone_aaaaaaaa"
    assert by_whom(here, here, place) == "this terminal"
    assert by_whom("tablet_aaaaaaaa", here, place) == "tablet"
    assert by_whom("desk_bbbbbbbb", here, place) == "desk_bbbbbbbb"
    assert by_whom(None, here, place) == ""
