"""How a name is spoken: PHONETIC and SCRIPT, and what phones write (RFC 9554, 4.5 and 4.6)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contacts.vcards import comes_back, read_one, survives, vcard, written

from contactmesh.contacts import Card

NAME = "N;ALTID=1;LANGUAGE=zh-Hant:孫;中山;文,逸仙;;"
SPOKEN = "N;ALTID=1;LANGUAGE=yue;PHONETIC=jyut;SCRIPT=Latn:syun1;zung1saan1;man4,jat6sin1;;"
ENGLISH = "N;ALTID=1;LANGUAGE=en:Sun;Zhongshan;Wen,Yat-sen;;"


def test_a_name_spoken_in_another_language_is_its_localization() -> None:
    card = read_one(vcard("FN:A", NAME, SPOKEN, version="4.0"))
    assert card.localizations == {
        "yue": {
            "name/phoneticSystem": "jyut",
            "name/phoneticScript": "Latn",
            "name/components/0/phonetic": "syun1",
            "name/components/1/phonetic": "zung1saan1",
            "name/components/2/phonetic": "man4",
            "name/components/3/phonetic": "jat6sin1",
        }
    }
    comes_back(card, NAME, SPOKEN)


@pytest.mark.parametrize(
    ("params", "members"),
    [
        ("PHONETIC=piny;SCRIPT=Latn", {"phoneticSystem": "piny", "phoneticScript": "Latn"}),
        ("PHONETIC=ipa", {"phoneticSystem": "ipa"}),
        ("PHONETIC=script;SCRIPT=Kana", {"phoneticScript": "Kana"}),
    ],
)
@pytest.mark.parametrize("language", ["", ";LANGUAGE=zh"])
def test_a_name_spoken_in_its_own_language_has_it_in_its_parts(
    params: str, members: dict[str, str], language: str
) -> None:
    lines = [f"N;ALTID=1{language}:王;小明;;;", f"N;ALTID=1{language};{params}:wáng;xiǎo míng;;;"]
    card = read_one(vcard("FN:A", *lines, version="4.0"))
    name = card.to_json()["name"]
    assert isinstance(name, dict)
    assert name["components"] == [
        {"kind": "surname", "value": "王", "phonetic": "wáng"},
        {"kind": "given", "value": "小明", "phonetic": "xiǎo míng"},
    ]
    assert {member: text for member, text in name.items() if "phonetic" in member} == members
    assert card.localizations is None
    comes_back(card, *lines)


@pytest.mark.parametrize(
    "line",
    [
        "N;ALTID=1;LANGUAGE=yue;PHONETIC=jyut:syun1;zung1saan1;man4;;",
        "N;ALTID=1;LANGUAGE=yue;PHONETIC=script:syun1;zung1saan1;;;",
        "N;ALTID=2;PHONETIC=jyut:syun1;;;;",
        "N;ALTID=1;PHONETIC=jyut;X-A=b:syun1;;;;",
        "N;ALTID=1;PHONETIC=jyut:syun1;;;Dr.;",
    ],
)
def test_how_a_name_is_spoken_that_does_not_fit_is_kept_word_for_word(line: str) -> None:
    card = read_one(vcard("FN:A", NAME, line, version="4.0"))
    assert card.localizations is None
    assert card.v_card_props is not None
    assert f"{line}\r\n" in written(card, "4.0")
    survives(card)


@pytest.mark.parametrize(
    "lines",
    [
        [NAME, SPOKEN, SPOKEN.replace("syun1", "syun2")],
        [NAME, SPOKEN, SPOKEN.replace("syun1", "syun2").replace("jyut", "ipa")],
        [NAME, ENGLISH.replace("=en", "=yue"), SPOKEN],
        [NAME, SPOKEN, ENGLISH.replace("=en", "=yue")],
    ],
)
def test_of_what_one_language_says_twice_of_a_name_nothing_is_lost(lines: list[str]) -> None:
    card = read_one(vcard(*lines, version="4.0"))
    assert card.v_card_props is not None
    assert len(card.v_card_props) == 1
    for line in lines:
        assert f"{line}\r\n" in written(card, "4.0")
    survives(card)


@pytest.mark.parametrize(
    ("first", "last", "script"),
    [
        ("Jon", "Dow", "Latn"),
        ("タロウ", "ヤマダ", "Kana"),
        ("ﾀﾛｳ", "ﾔﾏﾀﾞー", "Kana"),
        ("たろう", "やまだ", "Hira"),
        ("길동", "홍", "Hang"),
        ("Мария", "Иванова", "Cyrl"),
    ],
)
@pytest.mark.parametrize("is_before", [False, True])
def test_what_phones_write_is_how_the_parts_are_spoken(
    first: str, last: str, script: str, *, is_before: bool
) -> None:
    lines = [f"X-PHONETIC-FIRST-NAME:{first}", f"X-PHONETIC-LAST-NAME:{last}"]
    name = "N:山田;太郎;;;"
    card = read_one(vcard("FN:A", *([*lines, name] if is_before else [name, *lines])))
    assert card.to_json()["name"] == {
        "full": "A",
        "components": [
            {"kind": "surname", "value": "山田", "phonetic": last},
            {"kind": "given", "value": "太郎", "phonetic": first},
        ],
        "phoneticScript": script,
    }
    comes_back(card, name, *lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["X-PHONETIC-FIRST-NAME:太郎"],
        ["X-PHONETIC-FIRST-NAME:タroう"],
        ["X-PHONETIC-FIRST-NAME:"],
        ["X-PHONETIC-MIDDLE-NAME:Jon"],
        ["X-PHONETIC-FIRST-NAME;X-A=b:Jon"],
        ["item1.X-PHONETIC-FIRST-NAME:Jon"],
    ],
)
def test_what_phones_write_and_no_script_is_known_for_is_kept(lines: list[str]) -> None:
    around = ["X-ONE:1", *lines, "X-TWO:2"]
    card = read_one(vcard("FN:A", "N:山田;太郎;;;", *around))
    assert card.v_card_props is not None
    assert [prop[0] for prop in card.v_card_props] == [
        "x-one",
        lines[0].partition(":")[0].partition(";")[0].removeprefix("item1.").lower(),
        "x-two",
    ]
    assert "phonetic" not in str(card.to_json()["name"])
    for version in ("3.0", "4.0"):
        for line in around:
            assert f"{line}\r\n" in written(card, version)
    survives(card)


@pytest.mark.parametrize("lines", [["N:a,b;c,d;;;"], [], ["FN:B"]])
def test_what_phones_write_without_the_part_it_is_for_is_kept(lines: list[str]) -> None:
    card = read_one(vcard(*lines, "X-PHONETIC-FIRST-NAME:Jon", "X-PHONETIC-LAST-NAME:Dow"))
    assert card.v_card_props is not None
    assert len(card.v_card_props) == 2
    survives(card)


def test_of_two_scripts_the_second_is_kept() -> None:
    lines = ["N:山田;太郎;;;", "X-PHONETIC-FIRST-NAME:タロウ", "X-PHONETIC-LAST-NAME:Yamada"]
    card = read_one(vcard("FN:A", *lines))
    assert card.v_card_props == [["x-phonetic-last-name", {}, "unknown", "Yamada"]]
    survives(card)


@pytest.mark.parametrize(
    ("part", "script"),
    [
        ({"phonetic": "Jane"}, "Kana"),
        ({"phonetic": "Jane"}, ""),
        ({"phonetic": ""}, "Latn"),
        ({"phonetic": "a\nb;c,d\\e"}, "Latn"),
        ({"phonetic": "Jane", "example.com:x": 1}, "Latn"),
        ({"phonetic": "Jane", "kind": "title"}, "Latn"),
        ({"phonetic": "Jane", "kind": "surname"}, "Latn"),
        ({"value": "", "phonetic": "Jane"}, "Latn"),
        ({}, "Latn"),
    ],
)
@pytest.mark.parametrize("members", [{}, {"full": "A"}, {"phoneticSystem": "ipa"}])
def test_any_name_that_is_spoken_survives(
    part: dict[str, Any], script: str, members: dict[str, str]
) -> None:
    others = [{"kind": "surname", "value": "Doe"}, {"kind": "given2", "value": "Ann"}]
    given = {"kind": "given", "value": "Jane", **part}
    for components in ([*others, given], [given, *others], [others[0], given, given]):
        name = {"components": components, "phoneticScript": script, **members}
        survives(Card.model_validate({"uid": "1", "name": name}))
