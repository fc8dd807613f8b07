"""Duplicates: found with a score and a reason, never merged by themselves, merging undone."""

from __future__ import annotations

from typing import Any

import pytest

from contactmesh.contacts import Card, find_duplicates, join


def card(uid: str, name: str = "", *numbers: str, email: str = "", org: str = "") -> Card:
    value: dict[str, Any] = {"uid": uid}
    if name:
        value["name"] = {"full": name}
    if numbers:
        value["phones"] = {f"tel-{i}": {"number": number} for i, number in enumerate(numbers, 1)}
    if email:
        value["emails"] = {"e": {"address": email}}
    if org:
        value["organizations"] = {"o": {"name": org}}
    return Card.model_validate(value)


def found(*cards: Card, least: float = 0.5) -> list[tuple[str, str, tuple[str, ...]]]:
    candidates = find_duplicates(cards, default_region="CN", least_score=least)
    assert [each.score for each in candidates] == sorted(
        (each.score for each in candidates), reverse=True
    )
    return [(each.first.uid, each.second.uid, each.reasons) for each in candidates]


WORK = "Example"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (card("1", "A", "13800138000"), card("2", "B", "+86 13800138000"), "mobile number"),
        (card("1", "A", email="a@b.c"), card("2", "B", email="A@b.c "), "e-mail address"),
        (card("1", "J Doe", org=WORK), card("2", "doe j", org=WORK), "name and organisation"),
        (card("1", "Jane"), card("2", "Jane"), "contents"),
        (card("1", "Jane"), card("1", "John"), "UID"),
    ],
)
def test_what_two_cards_share_is_the_reason(first: Card, second: Card, reason: str) -> None:
    ((_, _, reasons),) = found(first, second)
    assert f"the same {reason}" in reasons


def test_two_people_with_one_name_sharing_a_landline_stay_two() -> None:
    senior = card("1", "王伟", "010 12345678", "13800138000")
    junior = card("2", "王伟", "010 12345678", "13900139000")
    assert found(senior, junior) == []
    ((_, _, reasons),) = found(senior, junior, least=0.3)
    assert reasons == ("the same name", "the same landline number")


def test_short_codes_and_local_numbers_say_nothing() -> None:
    assert found(card("1", "A", "10086"), card("2", "B", "10086"), least=0.01) == []
    assert found(card("1", "A", "12345678"), card("2", "B", "12345678"), least=0.01) == []


def test_what_very_many_share_says_nothing() -> None:
    staff = [card(str(index), f"P{index}", email="office@example.com") for index in range(30)]
    assert found(*staff) == []


def test_joining_keeps_everything_and_can_be_undone() -> None:
    first = card("1", "Jane", "13800138000")
    second = card("2", "Jane D.", "+8613800138000", "13900139000", email="j@example.com")
    joined = join(first, second, default_region="CN")
    merged = joined.merge.card
    assert merged is not None
    assert merged.uid == "1"
    assert merged.name == first.name
    assert merged.phones is not None
    assert [phone.number for phone in merged.phones.values()] == ["13800138000", "13900139000"]
    assert merged.emails == second.emails
    assert {each.lost for each in joined.merge.conflicts if isinstance(each.lost, str)} == {
        "+8613800138000"
    }
    assert joined.undo() == (first, second)
