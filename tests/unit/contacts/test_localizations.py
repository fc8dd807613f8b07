"""A property in several languages: ALTID with LANGUAGE (RFC 9555, section 2.3.1)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contacts.vcards import comes_back, read_one, survives, vcard, written

from contactmesh.contacts import Card

NAME = "N;ALTID=1;LANGUAGE=zh-Hant:孫;中山;文,逸仙;;"
ENGLISH = "N;ALTID=1;LANGUAGE=en:Sun;Zhongshan;Wen,Yat-sen;;"


def test_a_name_in_another_language_is_a_localization() -> None:
    card = read_one(vcard("FN:A", NAME, ENGLISH, version="4.0"))
    assert card.localizations == {
        "en": {
            "name/components": [
                {"kind": "surname", "value": "Sun"},
                {"kind": "given", "value": "Zhongshan"},
                {"kind": "given2", "value": "Wen"},
                {"kind": "given2", "value": "Yat-sen"},
            ]
        }
    }
    assert card.v_card_props is None
    comes_back(card, NAME, ENGLISH)


@pytest.mark.parametrize(
    ("lines", "pointer"),
    [
        (
            ["ORG;ALTID=1;LANGUAGE=zh:大学;系", "ORG;ALTID=1;LANGUAGE=en:University;Department"],
            "org",
        ),
        (["TITLE;ALTID=1;LANGUAGE=zh:老板", "TITLE;ALTID=1;LANGUAGE=en:Boss"], "title"),
        (["ROLE;ALTID=1;LANGUAGE=zh:老板", "ROLE;ALTID=1;LANGUAGE=en:Boss"], "role"),
        (["NICKNAME;ALTID=1;LANGUAGE=zh:小", "NICKNAME;ALTID=1;LANGUAGE=en:Jo"], "nickname"),
        (["NOTE;ALTID=1;LANGUAGE=zh:好", "NOTE;ALTID=1;LANGUAGE=en:good"], "note"),
    ],
)
def test_what_else_is_told_apart_by_language_is_a_localization(
    lines: list[str], pointer: str
) -> None:
    card = read_one(vcard("FN:A", *lines, version="4.0"))
    assert card.localizations is not None
    ((path, _),) = card.localizations["en"].items()
    assert path.endswith(f"/{pointer}-1")
    comes_back(card, *lines)


@pytest.mark.parametrize(
    "line",
    [
        "N;ALTID=2;LANGUAGE=en:Sun;Zhongshan;;;",
        "N;ALTID=1;LANGUAGE=zh-Hant:Sun;Zhongshan;;;",
        "N;ALTID=1;LANGUAGE=en;X-A=b:Sun;Zhongshan;;;",
    ],
)
def test_another_name_that_is_no_translation_is_kept_word_for_word(line: str) -> None:
    card = read_one(vcard("FN:A", NAME, line, version="4.0"))
    assert card.localizations is None
    assert card.v_card_props is not None
    assert f"{line}\r\n" in written(card, "4.0")
    survives(card)


@pytest.mark.parametrize(
    "lines",
    [
        ["FN:A", NAME, ENGLISH, ENGLISH.replace("Sun", "Suen")],
        ["FN;ALTID=1:A", "FN;ALTID=1;LANGUAGE=en:B", "FN;ALTID=1;LANGUAGE=en:C"],
    ],
)
def test_of_two_names_in_one_language_neither_is_lost(lines: list[str]) -> None:
    card = read_one(vcard(*lines, version="4.0"))
    assert card.v_card_props is not None
    assert len(card.v_card_props) == 1
    for line in lines:
        assert f"{line}\r\n" in written(card, "4.0")
    survives(card)


@pytest.mark.parametrize(
    "patch",
    [
        {"name/components": JSON}
        for JSON in (None, 5, [], [None], [{"kind": 5, "value": "a"}], [{"kind": "x", "value": ""}])
    ]
    + [
        {"name/components/0/phonetic": 5, "name/phoneticSystem": "ipa"},
        {"name/components/7/phonetic": "a", "name/phoneticScript": 5},
        {"name/phoneticScript": "Latn"},
    ],
)
def test_any_localization_of_a_name_survives(patch: dict[str, Any]) -> None:
    name = {
        "components": [{"kind": "given", "value": "Jane"}, {"kind": "x", "value": "y"}],
        "vCardParams": {"altid": "1"},
    }
    survives(Card.model_validate({"uid": "1", "name": name, "localizations": {"de": patch}}))
