"""Naming groups and invitations as people do."""

from datetime import UTC, datetime

import pytest

from contactmesh.cli.terminal.naming import NoSuchThing, find_group, find_invitation
from contactmesh.contracts.group.views import GroupSummary, Role
from contactmesh.contracts.identifiers import UserId

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FAMILY = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
WORK = "11111112-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
WORK_TOO = "22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def group(group_id: str, name: str, owner: UserId = "li-wei") -> GroupSummary:
    return GroupSummary(
        group_id=group_id, name=name, owner_id=owner, role=Role.CREATOR, joined_at=NOW, members=2
    )


GROUPS = (group(FAMILY, "家人 ＡＢＣ"), group(WORK, "Work"), group(WORK_TOO, "work"))


@pytest.mark.parametrize("name", [FAMILY, FAMILY.upper(), "家人 ABC", "家人  abc", "11111111"])
def test_a_group_is_found_by_id_its_beginning_or_name(name: str) -> None:
    assert find_group(GROUPS, name).group_id == FAMILY


@pytest.mark.parametrize("name", ["1111111", "Work"])
def test_what_several_are_called_names_them(name: str) -> None:
    with pytest.raises(NoSuchThing, match=r"11111112 \(Work\)"):
        find_group(GROUPS, name)


@pytest.mark.parametrize("name", ["朋友", "", "2"])
def test_what_none_is_called_says_where_to_look(name: str) -> None:
    with pytest.raises(NoSuchThing, match="group list"):
        find_group(GROUPS, name)


def test_no_invitation_says_where_to_look() -> None:
    with pytest.raises(NoSuchThing, match="group invitations"):
        find_invitation((), "家人")
