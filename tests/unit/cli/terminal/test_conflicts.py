"""Which conflicts a name, an id, or 'all' chooses (row Y4)."""

from datetime import UTC, datetime

import pytest

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.terminal.conflicts import choose
from contactmesh.cli.terminal.naming import NoSuchThing, mark_of
from contactmesh.contracts.sync.records import ConflictKind, ConflictView

pytestmark = pytest.mark.claim("Y4")


def conflict(number: int, uid: str, name: str) -> ConflictView:
    return ConflictView(
        conflict_id=f"00000000-0000-7000-8000-{number:012d}",
        kind=ConflictKind.FIELD,
        uid=uid,
        name=name,
        at=datetime(2026, 11, 30, tzinfo=UTC),
        path="phones/tel-1/label",
        kept="学校",
        lost="单位",
    )


# As the server lists them: the newest first.
ZHANG_NEW, WANG, ZHANG_OLD, ONE_LI, OTHER_LI = WAITING = (
    conflict(5, "zhang", "张伟"),
    conflict(4, "wang", "王芳"),
    conflict(3, "zhang", "张伟"),
    conflict(2, "li-1", "李娜"),
    conflict(1, "li-2", "李娜"),
)


def test_a_contacts_name_is_for_all_of_its_conflicts_and_the_newest_is_settled_last() -> None:
    assert choose(WAITING, ["张伟"], []) == [(ZHANG_OLD, True), (ZHANG_NEW, True)]


def test_an_id_is_for_one() -> None:
    name = mark_of(ZHANG_NEW.conflict_id)
    assert choose(WAITING, [name, name], ["王芳"]) == [(WANG, False), (ZHANG_NEW, True)]


def test_all_is_for_every_one() -> None:
    assert choose(WAITING, ["all"], []) == [(each, True) for each in reversed(WAITING)]
    assert choose(WAITING, [], ["All"]) == [(each, False) for each in reversed(WAITING)]
    assert choose((), ["all"], []) == []


def test_a_contact_that_is_called_so_is_meant_before_all() -> None:
    called_all = conflict(6, "all", "All")
    assert choose((called_all, *WAITING), ["all"], []) == [(called_all, True)]


def test_of_two_contacts_with_one_name_an_id_has_to_say_which() -> None:
    with pytest.raises(NoSuchThing, match="may be any of these"):
        choose(WAITING, ["李娜"], [])


def test_one_that_is_not_there_is_none() -> None:
    with pytest.raises(NoSuchThing, match="No conflict"):
        choose(WAITING, [], ["赵六"])


def test_one_cannot_be_taken_and_kept() -> None:
    with pytest.raises(WrongUsage, match="either --take or --keep"):
        choose(WAITING, ["张伟"], ["all"])
