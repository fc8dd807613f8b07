"""What names are sorted by: SORT-STRING and SORT-AS (RFC 2426, 3.6.5; RFC 6350, 5.9)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contacts.vcards import again, read_one, vcard, written

NAME = "N:van der Harten;Rene;J.;Sir;R.D.O.N."


def comes_back(*lines: str, version: str = "3.0") -> dict[str, Any]:
    card = read_one(vcard("FN:A", *lines, version=version))
    for each in ("3.0", "4.0"):
        assert again(card, each) == card
        assert again(again(card, each), "4.0") == card
    return card.to_json()


@pytest.mark.parametrize("lines", [[NAME, "SORT-STRING:Harten"], ["SORT-STRING:Harten", NAME]])
def test_a_sort_string_sorts_by_the_surname(lines: list[str]) -> None:
    card = read_one(vcard("FN:A", *lines))
    assert card.name is not None
    assert card.name.sort_as == {"surname": "Harten"}
    assert card.v_card_props is None
    assert "SORT-STRING:Harten\r\n" in written(card, "3.0")
    assert "SORT-AS" not in written(card, "3.0")
    assert "N;SORT-AS=Harten:" in written(card, "4.0")
    for version in ("3.0", "4.0"):
        assert "JSPROP" not in written(card, version)
    comes_back(*lines)


def test_a_sort_string_without_parts_of_the_name_is_not_lost() -> None:
    assert comes_back("SORT-STRING:a\\,b\\;c")["name"] == {
        "full": "A",
        "sortAs": {"surname": "a,b;c"},
    }


@pytest.mark.parametrize(
    "line", ["SORT-STRING:", "SORT-STRING;LANGUAGE=nl:Harten", "item1.SORT-STRING:Harten"]
)
def test_a_sort_string_that_is_odd_is_kept_word_for_word(line: str) -> None:
    card = read_one(vcard("FN:A", NAME, line))
    assert f"{line}\r\n" in written(card, "3.0")
    assert comes_back(NAME, line)["name"].keys() == {"full", "components"}


@pytest.mark.parametrize(
    "lines",
    [
        ["N;SORT-AS=Harten:van der Harten;Rene;;;", "SORT-STRING:Other"],
        ["SORT-STRING:Other", "N;SORT-AS=Harten:van der Harten;Rene;;;"],
        [NAME, "SORT-STRING:Harten", "SORT-STRING:Other"],
    ],
)
def test_of_two_things_to_sort_by_neither_is_lost(lines: list[str]) -> None:
    said = str(comes_back(*lines))
    assert "'Harten'" in said
    assert "'Other'" in said


@pytest.mark.parametrize("text", ["Harten,Rene", '"Harten,Rene"', '"Harten","Rene"'])
def test_a_name_is_sorted_by_the_surname_and_then_the_given_name(text: str) -> None:
    name = comes_back(f"N;SORT-AS={text}:van der Harten;Rene;;;", version="4.0")["name"]
    assert name["sortAs"] == {"surname": "Harten", "given": "Rene"}
    assert "vCardParams" not in name


def test_more_than_a_name_can_be_sorted_by_is_kept() -> None:
    name = comes_back("N;SORT-AS=a,b,c:Doe;Jane;;;", version="4.0")["name"]
    assert name["vCardParams"] == {"sort-as": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "ORG;SORT-AS=ABC,Lab:The ABC;The Lab;Room",
            {"name": "The ABC", "sortAs": "ABC", "units": [("The Lab", "Lab"), ("Room", None)]},
        ),
        (
            "ORG;SORT-AS=,Lab:The ABC;The Lab",
            {"name": "The ABC", "units": [("The Lab", "Lab")]},
        ),
        ('ORG;SORT-AS="ABC, The":The ABC', {"name": "The ABC", "sortAs": "ABC, The"}),
        (
            "ORG;SORT-AS=a,b:The ABC",
            {"name": "The ABC", "vCardParams": {"sort-as": ["a", "b"]}},
        ),
    ],
)
def test_an_organisation_and_its_units_are_sorted_by_their_own(
    line: str, expected: dict[str, Any]
) -> None:
    units = [
        {"name": name} if text is None else {"name": name, "sortAs": text}
        for name, text in expected.pop("units", [])
    ]
    if units:
        expected["units"] = units
    assert comes_back(line, version="4.0")["organizations"] == {"org-1": expected}
    card = read_one(vcard("FN:A", line, version="4.0"))
    assert "JSPROP" not in written(card, "4.0") or "sort-as" in str(expected)
