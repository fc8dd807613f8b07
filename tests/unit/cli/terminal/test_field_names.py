"""Fields are told in words, never as the pointers that scripts get."""

import pytest
from tests.unit.terminal.cards import card

from contactmesh.cli.terminal.cards import change_line, changes_between
from contactmesh.cli.terminal.field_names import field_name
from contactmesh.contacts import Card, Note, Organization, Phone

NUMBER, OTHER = "+8613800138000", "+8613900139000"


def phone(number: str = NUMBER, **more: object) -> dict[str, object]:
    return {"phones": {"tel-1": Phone(number=number, **more)}}  # type: ignore[arg-type]


def zhang(**more: object) -> Card:
    return card("zhang", "张伟").model_copy(update=more)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (zhang(), zhang(**phone()), f"number + {NUMBER}"),
        (zhang(**phone()), zhang(), f"number - {NUMBER}"),
        (zhang(**phone()), zhang(**phone(OTHER)), f"number {NUMBER} → {OTHER}"),
        (
            zhang(**phone(label="单位")),
            zhang(**phone(label="学校")),
            f"number {NUMBER}, label: 单位 → 学校",
        ),
        (zhang(**phone()), zhang(**phone(label="单位")), f"number {NUMBER}, label: + 单位"),
        (
            zhang(**phone(contexts={"work": True})),
            zhang(**phone(contexts={"private": True})),
            f"number {NUMBER}, kind: work → private",
        ),
        (zhang(), zhang(notes={"n": Note(note="乙")}), "note + 乙"),
        (zhang(), zhang(keywords={"friends": True}), "keyword + friends"),
        (card("zhang", "张伟"), card("zhang", "张卫"), "name 张伟 → 张卫"),
        (zhang(), zhang(organizations={"o": Organization(name="ACME")}), "organisation + ACME"),
    ],
)
def test_a_change(before: Card, after: Card, told: str) -> None:
    (change,) = changes_between(before, after)
    assert change_line(change) == told
    assert "/" in change.field or change.field == "name"


@pytest.mark.parametrize(
    ("pointer", "name"),
    [
        ("phones/tel-1", "number"),
        ("phones/tel-1/number", "number"),
        ("phones/tel-1/label", "number, label"),
        ("emails/a~1b/pref", "e-mail, order"),
        ("personalInfo/p/listAs", "interest, list as"),
        ("example.com:shoeSize", "example.com:shoe size"),
        ("name/full", "name"),
    ],
)
def test_a_field_without_the_card_that_has_it(pointer: str, name: str) -> None:
    assert field_name(pointer) == name


def test_a_long_entry_is_cut_where_a_part_of_it_is_meant() -> None:
    noted = zhang(notes={"n": Note(note="茶" * 100)})
    told = field_name("notes/n/language", (None, noted))
    assert told.startswith("note 茶")
    assert told.endswith("…, language")
    assert len(told) < 40
