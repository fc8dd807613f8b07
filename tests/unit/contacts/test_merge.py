"""Three-way merge: each edit is kept, removal is explicit, and the loser is named."""

from __future__ import annotations

from typing import Any, Literal, cast

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.unit.contacts.strategies import CARDS

from contactmesh.contacts import Card, Side, changed_fields, digest, merge, with_unsupported

quick = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def card(**properties: object) -> Card:
    return Card.model_validate({"uid": "jane", **properties})


BASE = card(
    name={"full": "Jane"},
    phones={
        "tel-1": {"number": "13800138000", "contexts": {"private": True}},
        "tel-2": {"number": "13900139000", "label": "desk"},
    },
)


def test_different_fields_are_both_kept() -> None:
    mine = card(**{**BASE.to_json(), "name": {"full": "Jane Doe"}})
    theirs = card(**{**BASE.to_json(), "emails": {"e": {"address": "jane@example.com"}}})
    result = merge(BASE, mine, theirs)
    assert result.card is not None
    assert result.card.name == mine.name
    assert result.card.emails == theirs.emails
    assert [(each.path, each.source) for each in result.taken] == [
        ("emails", "theirs"),
        ("name", "mine"),
    ]
    assert result.conflicts == ()


def test_the_same_field_has_one_winner_and_the_loser_is_shown() -> None:
    mine, theirs = card(name={"full": "Jane D."}), card(name={"full": "Jane Doe"})
    for prefer, winner, lost in (("mine", mine, theirs), ("theirs", theirs, mine)):
        result = merge(card(name={"full": "Jane"}), mine, theirs, prefer=prefer)  # type: ignore[arg-type]
        assert result.card == winner
        (conflict,) = result.conflicts
        assert conflict.path == "name"
        assert lost.name is not None
        assert conflict.lost == lost.name.to_json()


def test_who_wins_may_depend_on_the_path() -> None:
    base = card(name={"full": "Jane"}, phones={"tel-1": {"number": "1", "label": "desk"}})
    mine = card(name={"full": "Jane D."}, phones={"tel-1": {"number": "2", "label": "home"}})
    theirs = card(name={"full": "Jane Doe"}, phones={"tel-1": {"number": "3", "label": "lab"}})
    asked: list[str] = []

    def prefer(path: str) -> Side:
        asked.append(path)
        return "mine" if path == "phones/tel-1/number" else "theirs"

    result = merge(base, mine, theirs, prefer=prefer)
    assert result.card == card(
        name={"full": "Jane Doe"}, phones={"tel-1": {"number": "2", "label": "lab"}}
    )
    assert [(each.path, each.winner) for each in result.conflicts] == [
        ("name", "theirs"),
        ("phones/tel-1/label", "theirs"),
        ("phones/tel-1/number", "mine"),
    ]
    assert {each.path for each in result.conflicts} <= set(asked)


def test_one_entry_edited_on_both_sides_keeps_both_edits() -> None:
    mine = card(phones={"tel-1": {"number": "13800138000", "pref": 1}})
    theirs = card(phones={"tel-1": {"number": "13800138000", "label": "old"}})
    base = card(phones={"tel-1": {"number": "13800138000"}})
    result = merge(base, mine, theirs)
    assert result.card == card(
        phones={"tel-1": {"number": "13800138000", "pref": 1, "label": "old"}}
    )


def test_entries_under_other_keys_are_matched_by_value() -> None:
    mine = card(
        name={"full": "Jane"}, phones={"tel-1": {"number": "+86 139-0013-9000", "label": "desk"}}
    )
    theirs = card(
        name={"full": "Jane"},
        phones={
            "a": {"number": "13800138000", "contexts": {"private": True}},
            "b": {"number": "13900139000", "label": "reception"},
        },
    )
    result = merge(BASE, mine, theirs, default_region="CN")
    assert result.card is not None
    assert result.card.phones is not None
    assert {key: (each.number, each.label) for key, each in result.card.phones.items()} == {
        "tel-2": ("+86 139-0013-9000", "reception")
    }


def test_what_both_added_is_one_entry_if_it_is_one_value_and_two_otherwise() -> None:
    empty = card()
    mine = card(phones={"tel-1": {"number": "+8613800138000"}})
    same = card(phones={"x": {"number": "138 0013 8000", "label": "m"}})
    other = card(phones={"tel-1": {"number": "13900139000"}})
    merged = merge(empty, mine, same, default_region="CN").card
    assert merged is not None
    assert merged.phones is not None
    assert list(merged.phones) == ["tel-1"]
    merged = merge(empty, mine, other, default_region="CN").card
    assert merged is not None
    assert merged.phones is not None
    assert sorted(each.number for each in merged.phones.values()) == [
        "+8613800138000",
        "13900139000",
    ]


def test_removal_is_explicit_and_what_a_side_cannot_hold_is_not_removed() -> None:
    base = card(
        name={"full": "Jane"},
        phones={"tel-1": {"number": "1"}},
        anniversaries={"b": {"kind": "birth", "date": {"year": 1980}}},
    )
    mine = card(name={"full": "Jane"}, anniversaries=base.to_json()["anniversaries"])
    theirs = card(name={"full": "Jane Doe"}, phones={"tel-1": {"number": "1"}})
    result = merge(base, mine, theirs, theirs_supports={"name", "phones"})
    assert result.card == card(
        name={"full": "Jane Doe"}, anniversaries=base.to_json()["anniversaries"]
    )
    assert any(each.path == "phones" and each.removed for each in result.taken)


def test_a_version_is_completed_by_what_its_side_cannot_hold() -> None:
    base = card(phones={"a": {"number": "1"}}, kind="individual", keywords={"one": True})
    held = card(phones={"a": {"number": "2"}})
    assert with_unsupported(base, held, {"phones", "keywords"}) == card(
        phones={"a": {"number": "2"}}, kind="individual"
    )


def test_without_a_base_nothing_is_removed() -> None:
    mine = card(phones={"a": {"number": "1", "label": "x"}}, keywords={"one": True})
    theirs = card(phones={"b": {"number": "1"}}, keywords={"two": True})
    merged = merge(None, mine, theirs).card
    assert merged == card(
        phones={"a": {"number": "1", "label": "x"}}, keywords={"one": True, "two": True}
    )


def test_an_edit_outlives_the_removal_of_the_entry() -> None:
    base = card(phones={"a": {"number": "1"}, "b": {"number": "2"}})
    removed = card(phones={"b": {"number": "2"}})
    edited = card(phones={"a": {"number": "1", "label": "new"}, "b": {"number": "2"}})
    for first, second in ((removed, edited), (edited, removed)):
        result = merge(base, first, second)
        assert result.card == edited
        (conflict,) = result.conflicts
        assert conflict.path == "phones/a"
        assert conflict.lost is None


@pytest.mark.parametrize("mine_deletes", [True, False])
def test_an_edit_outlives_the_deletion_of_the_card(mine_deletes: bool) -> None:
    edited = card(name={"full": "Jane Doe"})
    sides = (None, edited) if mine_deletes else (edited, None)
    result = merge(BASE, *sides)
    assert result.card == edited
    assert len(result.conflicts) == 1
    assert merge(BASE, None, BASE).card is None
    assert merge(BASE, None, None).card is None


def test_the_parts_of_a_name_are_never_mixed_from_two_sides() -> None:
    parts = [{"kind": "given", "value": "Jo"}, {"kind": "surname", "value": "Doe"}]
    base = card(name={"full": "Jane"})
    mine = card(name={"full": "Jo Doe", "components": parts})
    theirs = card(name={"full": "Janet"})
    assert merge(base, mine, theirs).card == mine
    assert merge(base, mine, theirs, prefer="theirs").card == theirs


@quick
@given(CARDS, CARDS)
def test_merging_with_oneself_changes_nothing(base: Card, mine: Card) -> None:
    mine = mine.model_copy(update={"uid": base.uid})
    for before in (base, mine, None):
        result = merge(before, mine, mine)
        assert result.card is not None
        assert digest(result.card) == digest(mine)
        assert result.conflicts == ()


@quick
@given(CARDS, CARDS)
def test_a_side_that_changed_nothing_takes_the_other(base: Card, theirs: Card) -> None:
    theirs = theirs.model_copy(update={"uid": base.uid})
    for result in (merge(base, base, theirs), merge(base, theirs, base)):
        assert result.card is not None
        assert changed_fields(result.card, theirs) == ()
        assert result.conflicts == ()


@quick
@given(CARDS, CARDS, CARDS, st.sampled_from(["mine", "theirs"]))
def test_the_outcome_depends_on_nothing_but_the_versions(
    base: Card, mine: Card, theirs: Card, prefer: Literal["mine", "theirs"]
) -> None:
    other: Literal["mine", "theirs"] = "theirs" if prefer == "mine" else "mine"
    one = merge(base, mine, theirs, prefer=prefer)
    assert one == merge(base, mine, theirs, prefer=prefer)
    mirrored = merge(base, theirs, mine, prefer=other)
    assert one.card is not None
    assert mirrored.card is not None
    assert {each.path for each in one.conflicts}.isdisjoint({""})
    assert (one.card.name, one.card.kind) == (mirrored.card.name, mirrored.card.kind)


@quick
@given(CARDS, st.text("abc", min_size=1), st.integers(1, 100))
def test_disjoint_edits_are_both_kept(base: Card, note: str, pref: int) -> None:
    assume("mine" not in (base.phones or {}) and "theirs" not in (base.notes or {}))
    mine = cast("dict[str, Any]", base.to_json())
    number = {"number": "+8613800138000", "pref": pref}
    mine["phones"] = {**mine.get("phones", {}), "mine": number}
    theirs = cast("dict[str, Any]", base.to_json())
    theirs["notes"] = {**theirs.get("notes", {}), "theirs": {"note": note}}
    result = merge(base, Card.model_validate(mine), Card.model_validate(theirs))
    assert result.card is not None
    assert result.conflicts == ()
    merged = result.card.to_json()
    assert merged["phones"] == mine["phones"]
    assert merged["notes"] == theirs["notes"]
