"""What each vCard property is in JSContact, and back (RFC 9555, RFC 9554)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contacts.vcards import again, read_one, vcard, written

from contactmesh.contacts import CARRIER_PROPERTY, Card, display_name

GIVEN_FIRST = [{"kind": "given", "value": "Jane"}, {"kind": "surname", "value": "Doe"}]


def part_of(line: str | list[str], *path: str, version: str = "4.0") -> Any:  # noqa: ANN401 - any JSON
    lines = [line] if isinstance(line, str) else line
    value: Any = read_one(vcard("FN:A", *lines, version=version)).to_json()
    for name in path:
        value = value[name]
    return value


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        (
            'TEL;VALUE=uri;TYPE="voice,home";PREF=1:tel:+1-555',
            ("phones", "tel-1"),
            {
                "number": "tel:+1-555",
                "features": {"voice": True},
                "contexts": {"private": True},
                "pref": 1,
            },
        ),
        (
            "TEL;PROP-ID=mobile;TYPE=cell:1",
            ("phones", "mobile"),
            {"number": "1", "features": {"mobile": True}},
        ),
        (
            "EMAIL;TYPE=WORK:a@b.c",
            ("emails", "email-1"),
            {"address": "a@b.c", "contexts": {"work": True}},
        ),
        (
            "IMPP;SERVICE-TYPE=Jabber:xmpp:a@b",
            ("onlineServices", "impp-1"),
            {"uri": "xmpp:a@b", "service": "Jabber", "vCardName": "impp"},
        ),
        (
            "SOCIALPROFILE;SERVICE-TYPE=Mastodon;USERNAME=@a:https://m.example/@a",
            ("onlineServices", "social-1"),
            {"uri": "https://m.example/@a", "service": "Mastodon", "user": "@a"},
        ),
        (
            "SOCIALPROFILE;SERVICE-TYPE=X;VALUE=text:peter",
            ("onlineServices", "social-1"),
            {"user": "peter", "service": "X"},
        ),
        (
            "X-QQ:12345",
            ("onlineServices", "service-1"),
            {"service": "QQ", "user": "12345", "vCardName": "x-qq"},
        ),
        (
            "ORG;SORT-AS=ABC:The ABC;R&D;Lab",
            ("organizations", "org-1"),
            {"name": "The ABC", "units": [{"name": "R&D"}, {"name": "Lab"}], "sortAs": "ABC"},
        ),
        ("TITLE:Boss", ("titles", "title-1"), {"name": "Boss"}),
        ("ROLE:Lead", ("titles", "role-1"), {"name": "Lead", "kind": "role"}),
        ("URL:https://a.example", ("links", "link-1"), {"uri": "https://a.example"}),
        (
            "CONTACT-URI:mailto:a@b.c",
            ("links", "contact-1"),
            {"uri": "mailto:a@b.c", "kind": "contact"},
        ),
        (
            "FBURL:https://a.example/fb",
            ("calendars", "freebusy-1"),
            {"uri": "https://a.example/fb", "kind": "freeBusy"},
        ),
        (
            "CALADRURI:mailto:a@b.c",
            ("schedulingAddresses", "scheduling-1"),
            {"uri": "mailto:a@b.c"},
        ),
        (
            "ORG-DIRECTORY;INDEX=2:ldap://a",
            ("directories", "directory-1"),
            {"uri": "ldap://a", "kind": "directory", "listAs": 2},
        ),
        ("LANG;PREF=1:zh", ("preferredLanguages", "lang-1"), {"language": "zh", "pref": 1}),
        (
            "NOTE;AUTHOR-NAME=Bob;CREATED=20261130T081500Z:hi",
            ("notes", "note-1"),
            {"note": "hi", "author": {"name": "Bob"}, "created": "2026-11-30T08:15:00Z"},
        ),
        (
            "EXPERTISE;LEVEL=expert:Chemistry",
            ("personalInfo", "expertise-1"),
            {"kind": "expertise", "value": "Chemistry", "level": "high"},
        ),
        ("CATEGORIES:a\\,b,c", ("keywords",), {"a,b": True, "c": True}),
        (
            "RELATED;TYPE=friend:urn:uuid:2",
            ("relatedTo",),
            {"urn:uuid:2": {"relation": {"friend": True}}},
        ),
        ("MEMBER:urn:uuid:2", ("members",), {"urn:uuid:2": True}),
        ("GRAMGENDER:FEMININE", ("speakToAs", "grammaticalGender"), "feminine"),
        (
            "PRONOUNS;PREF=2:xe/xir",
            ("speakToAs", "pronouns", "pronouns-1"),
            {"pronouns": "xe/xir", "pref": 2},
        ),
        ("REV:20261130T081500Z", ("updated",), "2026-11-30T08:15:00Z"),
        ("KIND:ORG", ("kind",), "org"),
        ("LANGUAGE:de", ("language",), "de"),
        (
            "PHOTO;MEDIATYPE=image/gif:https://a.example/p",
            ("media", "photo-1"),
            {"kind": "photo", "uri": "https://a.example/p", "mediaType": "image/gif"},
        ),
        ("GENDER:F;it", ("vCardProps",), [["gender", {}, "unknown", "F;it"]]),
        ("RELATED;VALUE=text:Bob", ("vCardProps",), [["related", {}, "text", "Bob"]]),
    ],
)
def test_a_property_has_its_place_and_comes_back(
    line: str, path: tuple[str, ...], expected: object
) -> None:
    assert part_of(line, *path) == expected
    card = read_one(vcard("FN:A", line, version="4.0"))
    assert again(card, "4.0") == card
    assert again(card, "3.0") == card
    assert "JSPROP" not in written(card, "4.0")


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("19850412", {"year": 1985, "month": 4, "day": 12}),
        ("1985-04-12", {"year": 1985, "month": 4, "day": 12}),
        ("1985-04", {"year": 1985, "month": 4}),
        ("1985", {"year": 1985}),
        ("--0412", {"month": 4, "day": 12}),
        ("--04", {"month": 4}),
        ("---12", {"day": 12}),
        ("1985-04-12T00:00:00", {"year": 1985, "month": 4, "day": 12}),
        ("19850412T232610Z", {"@type": "Timestamp", "utc": "1985-04-12T23:26:10Z"}),
    ],
)
def test_dates_may_be_partial(text: str, date: dict[str, Any]) -> None:
    card = read_one(vcard("FN:A", f"BDAY:{text}", version="4.0"))
    assert card.to_json()["anniversaries"] == {"birth-1": {"kind": "birth", "date": date}}
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


@pytest.mark.parametrize(
    "text", ["circa 1800", "19850412T101500", "19851399", "1985-04-12T10:00:00+08:00"]
)
def test_a_date_that_jscontact_cannot_say_is_kept_word_for_word(text: str) -> None:
    card = read_one(vcard("FN:A", f"BDAY;VALUE=text:{text}", version="4.0"))
    assert card.anniversaries is None
    assert f"BDAY;VALUE=text:{text}\r\n" in written(card)


def test_apples_birthday_without_a_year_has_no_year() -> None:
    line = "BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-12"
    assert part_of(line, "anniversaries", "birth-1", "date", version="3.0") == {
        "month": 3,
        "day": 12,
    }
    card = read_one(vcard("FN:A", line))
    assert "BDAY:--0312\r\n" in written(card, "4.0")
    assert f"{line}\r\n" in written(card, "3.0")


def test_the_order_of_a_name_is_jscomps() -> None:
    name = {
        "components": GIVEN_FIRST,
        "isOrdered": True,
        "sortAs": {"surname": "Doe", "given": "Jane"},
    }
    card = Card.model_validate({"uid": "1", "name": name})
    assert 'N;JSCOMPS=";1;0";SORT-AS=Doe,Jane:Doe;Jane;;;\r\n' in written(card)
    assert again(card) == card
    assert display_name(card) == "Jane Doe"


def test_a_jscomps_that_does_not_fit_is_kept() -> None:
    card = read_one(vcard("FN:A", 'N;JSCOMPS=";9;0":Doe;Jane;;;', version="4.0"))
    assert card.name is not None
    assert card.name.v_card_params == {"jscomps": ";9;0"}
    assert again(card) == card


def test_the_secondary_surname_is_repeated_for_older_readers() -> None:
    parts = [{"kind": "surname", "value": "García"}, {"kind": "surname2", "value": "Lorca"}]
    card = Card.model_validate({"uid": "1", "name": {"components": parts}})
    assert "N:García,Lorca;;;;;Lorca;\r\n" in written(card)
    assert again(card) == card


def test_the_finer_fields_of_an_address_win_over_those_that_repeat_them() -> None:
    line = "ADR:;Apt 3;5 Main St;Springfield;;12345;US;;3;;5;Main St;;;;;;"
    assert part_of(line, "addresses", "adr-1", "components") == [
        {"kind": "locality", "value": "Springfield"},
        {"kind": "postcode", "value": "12345"},
        {"kind": "country", "value": "US"},
        {"kind": "apartment", "value": "3"},
        {"kind": "number", "value": "5"},
        {"kind": "name", "value": "Main St"},
    ]


def test_the_address_in_full_is_label_in_3_and_a_parameter_in_4() -> None:
    card = read_one(
        vcard("FN:A", "ADR;TYPE=HOME:;;Main St 5;;;;", "LABEL;TYPE=HOME:Main St 5\\nUS")
    )
    assert (
        part_of('ADR;LABEL="Main St 5^nUS":;;Main St 5;;;;', "addresses", "adr-1", "full")
        == "Main St 5\nUS"
    )
    assert "LABEL;TYPE=home:Main St 5\\nUS\r\n" in written(card, "3.0")
    assert "ADR;TYPE=home;LABEL=Main St 5^nUS:" in written(card, "4.0")


def test_a_made_up_full_name_is_not_taken_for_one() -> None:
    card = Card.model_validate({"uid": "1", "name": {"components": GIVEN_FIRST}})
    assert "FN;DERIVED=TRUE:Jane Doe\r\n" in written(card)
    assert again(card) == card


def test_what_vcard_has_no_place_for_travels_as_jsprop() -> None:
    phone = {"number": "1", CARRIER_PROPERTY: {"carrierId": "cn-mobile"}}
    card = Card.model_validate({"uid": "1", "name": {"full": "A"}, "phones": {"m": phone}})
    assert 'JSPROP;JSPTR=phones/m/contactmesh.org:carrier:{"carrierId": "cn-mobile"}' in written(
        card
    ).replace('"phones/m/contactmesh.org:carrier"', "phones/m/contactmesh.org:carrier")
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


def test_corrections_come_in_one_order() -> None:
    """Each process writes a card in the same bytes, whatever its hash seed."""
    members = {f"example.com:{name}": {"value": [None]} for name in ("c", "a", "d", "b", "e")}
    text = written(Card.model_validate({"uid": "1", "name": {"full": "Li"}, **members}), "4.0")
    pointers = [line.partition(":")[0] for line in text.splitlines() if line.startswith("JSPROP")]
    assert len(pointers) == len(members)
    assert pointers == sorted(pointers)


@pytest.mark.parametrize(
    "line", ["JSPROP;JSPTR=phones/x/y:1", "JSPROP;JSPTR=a:{", "JSPROP:" + "[" * 100]
)
def test_a_jsprop_that_does_not_fit_is_kept_and_does_no_harm(line: str) -> None:
    card = read_one(vcard("FN:A", line, version="4.0"))
    assert line in written(card)
    assert again(card) == card


def test_an_agents_card_is_kept_inside_its_line() -> None:
    inner = "BEGIN:VCARD\r\nVERSION:2.1\r\nFN:Agent\r\nEND:VCARD"
    card = read_one(vcard("FN:A", "AGENT:", inner, "TEL:1", version="2.1"))
    assert display_name(card) == "A"
    assert "FN:Agent" in str(card.v_card_props)
    assert again(card) == card


@pytest.mark.parametrize("group", ["\tb", " ", "a b", "a.b", "", "组"])
@pytest.mark.parametrize("place", ["name", "phones", "contactmesh.org:params", "vCardProps"])
def test_a_group_that_no_line_can_have_is_not_written_into_one(place: str, group: str) -> None:
    params = {"group": group, "x-a": "b"}
    places: dict[str, Any] = {
        "name": {"full": "A", "components": GIVEN_FIRST, "vCardParams": params},
        "phones": {"m": {"number": "1", "vCardParams": params}},
        "contactmesh.org:params": {"fn": params, "uid": {"x": 5}},
        "vCardProps": [["x-foo", params, "unknown", "v"]],
    }
    card = Card.model_validate({"uid": "1", "name": {"full": "A"}, place: places[place]})
    assert again(card) == card


def test_a_property_in_other_languages_is_a_localization() -> None:
    lines = [
        "FN;ALTID=1;LANGUAGE=zh:王小明",
        "FN;ALTID=1;LANGUAGE=en:Wang Xiaoming",
        "TITLE;ALTID=2;LANGUAGE=zh:老板",
        "TITLE;ALTID=2;LANGUAGE=en;X-A=b:Boss",
        "TITLE:Founder",
    ]
    card = read_one(vcard(*lines, version="4.0"))
    assert card.localizations == {
        "en": {
            "name/full": "Wang Xiaoming",
            "titles/title-1": {"name": "Boss", "vCardParams": {"x-a": "b"}},
        }
    }
    assert card.titles is not None
    assert [title.name for title in card.titles.values()] == ["老板", "Founder"]
    text = written(card)
    for line in lines[:3]:
        assert f"{line}\r\n" in text
    assert "JSPROP" not in text
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


@pytest.mark.parametrize(
    "lines",
    [
        ["TITLE;ALTID=1:a", "TITLE;ALTID=1:b"],
        ["TITLE;ALTID=1;LANGUAGE=en:a", "TITLE;ALTID=1;LANGUAGE=en:b"],
        ["TITLE;ALTID=1;LANGUAGE=en:a", "TITLE;ALTID=2;LANGUAGE=de:b"],
        ["FN;ALTID=9;LANGUAGE=en:B"],
    ],
)
def test_alternatives_without_a_language_each_stay_properties(lines: list[str]) -> None:
    card = read_one(vcard("FN:A", *lines, version="4.0"))
    assert card.localizations is None
    for line in lines:
        assert f"{line}\r\n" in written(card)
    assert again(card) == card


def test_localizations_that_no_altid_can_say_travel_as_jsprop() -> None:
    card = Card.model_validate(
        {
            "uid": "1",
            "name": {"full": "A"},
            "localizations": {"de": {"name/full": "B", "x/y": None}},
        }
    )
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


def test_parameters_of_a_name_without_parts_are_kept() -> None:
    name = {"full": "A", "vCardParams": {"x-a": "b"}}
    card = Card.model_validate({"uid": "1", "name": name})
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


@pytest.mark.parametrize("version", ["3.0", "4.0"])
@pytest.mark.parametrize("mark", ["", ":", ";", ",", '"', "^", "\n", " "])
def test_a_backslash_in_a_parameter_escapes_no_quote_that_ends_it(version: str, mark: str) -> None:
    values = [f"{mark}\\", f"\\{mark}", f"{mark}\\\\", f"a{mark}\\b", f"\\{mark};"]
    kept = [["x-foo", {"x-one": value, "x-two": "b"}, "unknown", "c:d"] for value in values]
    card = Card.model_validate({"uid": "one", "vCardProps": kept})
    assert again(card, version).to_json()["vCardProps"] == kept


def test_an_escaped_quote_within_a_quoted_parameter_is_still_read_as_one() -> None:
    card = read_one(vcard('X-A;P="say \\"yes\\" to;it":c'))
    assert card.to_json()["vCardProps"] == [["x-a", {"p": 'say "yes" to;it'}, "unknown", "c"]]


@pytest.mark.parametrize("version", ["3.0", "4.0"])
@pytest.mark.parametrize("group", [None, "item1", "extra"])
def test_a_label_of_nothing_is_kept_in_its_place(version: str, group: str | None) -> None:
    params = {} if group is None else {"group": group}
    kept = [
        ["x-ablabel", params, "unknown", "one"],
        ["x-foo", {}, "unknown", ""],
        ["x-ablabel", params, "unknown", "two"],
        ["x-bar", {}, "unknown", ""],
    ]
    card = Card.model_validate({"uid": "one", "vCardProps": kept})
    assert again(card, version).to_json()["vCardProps"] == kept
