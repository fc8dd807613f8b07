"""Groups: read in all three styles, written in the one asked for."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.unit.contacts.vcards import cards_and_damage, read_one, vcard

from contactmesh.contacts import (
    Card,
    display_name,
    groups_from_keywords,
    is_group,
    keywords_from_groups,
    write_vcards,
)

PEOPLE = vcard("UID:urn:uuid:1", "FN:Jane") + vcard("UID:urn:uuid:2", "FN:王小明")


def book(*members: str, name: str = "Climbing, 登山") -> list[Card]:
    cards, _ = cards_and_damage(PEOPLE)
    group = {
        "uid": "urn:uuid:g",
        "kind": "group",
        "name": {"full": name},
        "members": dict.fromkeys(members, True),
    }
    return [*cards, Card.model_validate(group)]


@pytest.mark.parametrize(
    "lines",
    [
        ["KIND:group", "MEMBER:urn:uuid:1", "MEMBER:urn:uuid:9"],
        [
            "X-ADDRESSBOOKSERVER-KIND:group",
            "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:1",
            "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:9",
        ],
    ],
    ids=["RFC 6350", "Apple"],
)
def test_a_group_card_is_read_and_unknown_members_are_kept(lines: list[str]) -> None:
    group = read_one(vcard("UID:urn:uuid:g", "FN:Club", *lines))
    assert is_group(group)
    assert list(group.members or {}) == ["urn:uuid:1", "urn:uuid:9"]


def test_categories_are_keywords_and_can_be_made_groups() -> None:
    cards, _ = cards_and_damage(
        vcard("UID:1", "FN:A", "CATEGORIES:Club\\, old,Work")
        + vcard("UID:2", "FN:B", "CATEGORIES:Work")
    )
    groups = groups_from_keywords(cards)
    assert {display_name(group): list(group.members or {}) for group in groups} == {
        "Club, old": ["1"],
        "Work": ["1", "2"],
    }
    assert [group.uid for group in groups] == [group.uid for group in groups_from_keywords(cards)]


@pytest.mark.parametrize("version", ["3.0", "4.0"])
@pytest.mark.parametrize("style", ["kind", "apple"])
def test_a_group_written_as_a_card_comes_back(
    style: Literal["kind", "apple"], version: Literal["3.0", "4.0"]
) -> None:
    cards = book("urn:uuid:1", "urn:uuid:9")
    data = b"".join(write_vcards(cards, version=version, group_style=style))
    assert (b"X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:9" in data) == (style == "apple")
    assert cards_and_damage(data) == (cards, [])


def test_a_group_written_as_categories_is_a_word_of_its_members() -> None:
    data = b"".join(write_vcards(book("urn:uuid:1", "urn:uuid:2"), group_style="categories"))
    cards, _ = cards_and_damage(data)
    assert [list(card.keywords or {}) for card in cards] == [["Climbing, 登山"]] * 2
    (group,) = groups_from_keywords(cards)
    assert list(group.members or {}) == ["urn:uuid:1", "urn:uuid:2"]


@pytest.mark.parametrize("members", [(), ("urn:uuid:9",), ("urn:uuid:1", "urn:uuid:9")])
def test_what_categories_cannot_hold_stays_a_group_card(members: tuple[str, ...]) -> None:
    *_, group = keywords_from_groups(book(*members))
    assert is_group(group)
    assert list(group.members or {}) == [uid for uid in members if uid == "urn:uuid:9"]
