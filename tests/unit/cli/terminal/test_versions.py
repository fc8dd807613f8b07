"""What the versions of a contact are called, and what stands where terminals met."""

from datetime import UTC, datetime

import pytest
from tests.unit.terminal.cards import card

from contactmesh.cli.terminal.conflicts import _row as conflict_row
from contactmesh.cli.terminal.versions import Numbered
from contactmesh.contracts.sync.records import ConflictKind, ConflictView, Reason, Version
from contactmesh.terminal import Contact

AT = datetime(2026, 1, 1, tzinfo=UTC)
CONFLICT = "00000000-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
EDIT = ("phone: 1 → 2",)


@pytest.mark.parametrize(
    ("reason", "made", "deleted", "lines", "what"),
    [
        (Reason.REPLACED, True, False, (), "made"),
        (Reason.REPLACED, False, False, (), "changed"),
        (Reason.REPLACED, False, False, EDIT, "changed"),
        (Reason.REPLACED, False, True, (), "deleted"),
        (Reason.LOST, False, False, EDIT, "lost to a later change"),
        (Reason.CURRENT, True, False, (), "made (stands)"),
        (Reason.CURRENT, False, False, (), "changed (stands)"),
        (Reason.CURRENT, False, True, (), "deleted (stands)"),
    ],
)
def test_what_a_version_did(
    reason: Reason, made: bool, deleted: bool, lines: tuple[str, ...], what: str
) -> None:
    version = Version(rev=1, reason=reason, at=AT, updated_at=AT, made=made, deleted=deleted)
    assert Numbered(1, version, lines).what == what


@pytest.mark.parametrize("kind", [ConflictKind.WHOLE, ConflictKind.DELETION])
@pytest.mark.parametrize("stands", [True, False], ids=["a contact stands", "a deletion stands"])
def test_what_stands_where_a_whole_contact_was_in_conflict(
    kind: ConflictKind, stands: bool
) -> None:
    lost = None if kind is ConflictKind.DELETION else card("li", "Li", note="lost").to_json()
    conflict = ConflictView(
        conflict_id=CONFLICT,
        kind=kind,
        uid="li",
        name="Li",
        at=AT,
        lost=lost,
        lost_by="li_aaaaaaaa",
    )
    own = card("li", "Li")
    contact = Contact("c1", "Li", own, None, (), own=True) if stands else None
    _, field, now, before, *_ = conflict_row(conflict, contact, "here")
    assert field == "the whole contact"
    assert now == ("the contact" if stands else "that it is deleted")
    assert ("that it is deleted" if lost is None else "lost") in before
