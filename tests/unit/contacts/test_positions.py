"""GEO and TZ: where an entity is, said apart from its addresses (RFC 9555, section 2.8)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contacts.vcards import again, read_one, vcard, written

from contactmesh.contacts import Card

HOME = "ADR;TYPE=home:;;Main St 5;;;;"
WORK = "ADR;TYPE=work:;;High St 6;;;;"
HOME_READ = {"components": [{"kind": "name", "value": "Main St 5"}], "contexts": {"private": True}}


def comes_back(card: Card) -> None:
    for version in ("3.0", "4.0"):
        assert "JSPROP" not in written(card, version)
        assert again(card, version) == card
        assert again(again(card, version), "4.0") == card


@pytest.mark.parametrize(
    ("line", "address", "in_3", "in_4"),
    [
        (
            "GEO:37.386013;-122.082932",
            {"coordinates": "geo:37.386013,-122.082932"},
            "GEO:37.386013;-122.082932",
            "GEO:geo:37.386013,-122.082932",
        ),
        (
            "GEO;VALUE=uri:geo:39.90,116.40",
            {"coordinates": "geo:39.90,116.40"},
            "GEO:39.90;116.40",
            "GEO:geo:39.90,116.40",
        ),
        (
            "TZ;VALUE=text:Asia/Shanghai",
            {"timeZone": "Asia/Shanghai"},
            "TZ;VALUE=text:Asia/Shanghai",
            "TZ:Asia/Shanghai",
        ),
        ("TZ:-05:00", {"timeZone": "Etc/GMT+5"}, "TZ:-05:00", "TZ:Etc/GMT+5"),
        ("TZ:-0500", {"timeZone": "Etc/GMT+5"}, "TZ:-05:00", "TZ:Etc/GMT+5"),
        ("TZ;VALUE=utc-offset:+14", {"timeZone": "Etc/GMT-14"}, "TZ:+14:00", "TZ:Etc/GMT-14"),
        ("TZ:+00:00", {"timeZone": "Etc/UTC"}, "TZ:+00:00", "TZ:Etc/UTC"),
    ],
)
def test_a_position_without_an_address_is_an_address_of_its_own(
    line: str, address: dict[str, Any], in_3: str, in_4: str
) -> None:
    card = read_one(vcard("FN:A", line))
    assert card.to_json()["addresses"] == {"adr-1": address}
    assert card.v_card_props is None
    assert f"{in_3}\r\n" in written(card, "3.0")
    assert f"{in_4}\r\n" in written(card, "4.0")
    assert "ADR" not in written(card, "3.0") + written(card, "4.0")
    comes_back(card)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
def test_the_only_address_takes_the_position(order: tuple[int, ...]) -> None:
    lines = [HOME, "GEO:39.9;116.4", "TZ;VALUE=text:Asia/Shanghai"]
    card = read_one(vcard("FN:A", *(lines[place] for place in order)))
    position = {"coordinates": "geo:39.9,116.4", "timeZone": "Asia/Shanghai"}
    assert card.to_json()["addresses"] == {"adr-1": {**HOME_READ, **position}}
    params = 'GEO="geo:39.9,116.4";TZ=Asia/Shanghai'
    assert f"ADR;TYPE=home;{params}:;;Main St 5;;;;\r\n" in written(card, "4.0")
    for line in lines:
        assert f"{line}\r\n" in written(card, "3.0")
    comes_back(card)


def test_the_only_address_keeps_the_label_of_version_3() -> None:
    card = read_one(vcard("FN:A", HOME, "LABEL;TYPE=home:Main St 5\\nUS", "GEO:39.9;116.4"))
    full = {"full": "Main St 5\nUS", "coordinates": "geo:39.9,116.4"}
    assert card.to_json()["addresses"] == {"adr-1": {**HOME_READ, **full}}
    comes_back(card)


@pytest.mark.parametrize(
    ("lines", "added"),
    [
        (
            [HOME, WORK, "GEO:1;2", "TZ:+08:00"],
            [{"coordinates": "geo:1,2", "timeZone": "Etc/GMT-8"}],
        ),
        ([HOME, "GEO:1;2", "GEO:3;4"], [{"coordinates": "geo:1,2"}, {"coordinates": "geo:3,4"}]),
        (["GEO:1;2", "GEO:3;4"], [{"coordinates": "geo:1,2"}, {"coordinates": "geo:3,4"}]),
    ],
)
def test_a_position_that_no_address_is_known_for_stands_alone(
    lines: list[str], added: list[dict[str, Any]]
) -> None:
    card = read_one(vcard("FN:A", *lines))
    addresses = list(card.to_json()["addresses"].values())  # type: ignore[union-attr]
    assert addresses[-len(added) :] == added
    assert len(addresses) == len(added) + len([each for each in lines if "ADR" in each])
    comes_back(card)


def test_a_position_that_the_address_has_already_stands_beside_it() -> None:
    card = read_one(vcard("FN:A", 'ADR;GEO="geo:1,2":;;s;;;;', "GEO:geo:3,4", version="4.0"))
    addresses = card.to_json()["addresses"]
    assert isinstance(addresses, dict)
    assert addresses["adr-2"] == {"coordinates": "geo:3,4"}
    comes_back(card)


@pytest.mark.parametrize(
    "line",
    [
        "GEO:home",
        "GEO:91;0",
        "GEO:0;181",
        "GEO:+1;2",
        "GEO:-122.08,37.38",
        "GEO:geo:1,2;u=5",
        "GEO;TYPE=work:geo:1,2",
        "GEO;VALUE=text:1;2",
        "item1.GEO:1;2",
        "TZ:-05:30",
        "TZ:+15:00",
        "TZ:EST",
        "TZ:Raleigh/North America",
        "TZ;VALUE=uri:https://tz.example/1",
        "TZ;PREF=1:Asia/Shanghai",
        "item1.TZ:-05:00",
    ],
)
@pytest.mark.parametrize("address", [[], [HOME]])
def test_a_position_that_is_odd_is_kept_word_for_word(line: str, address: list[str]) -> None:
    card = read_one(vcard("FN:A", *address, line, version="4.0"))
    assert card.v_card_props is not None
    assert len(card.v_card_props) == 1
    assert f"{line}\r\n" in written(card, "4.0")
    assert f"{line}\r\n" in written(card, "3.0")
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


@pytest.mark.parametrize("version", ["3.0", "4.0"])
@pytest.mark.parametrize("key", ["adr-1", "home"])
@pytest.mark.parametrize(
    "address",
    [
        {"coordinates": "geo:1,2"},
        {"coordinates": "geo:1,2", "timeZone": "UTC"},
        {"coordinates": "somewhere", "timeZone": "Etc/GMT+5"},
        {"coordinates": "geo:1,2", "contexts": {"work": True}},
        {"coordinates": "geo:1,2", "vCardParams": {"altid": "1"}},
        {"timeZone": "Asia/Shanghai", "full": "Main St"},
    ],
)
def test_any_address_with_a_position_survives(
    version: str, key: str, address: dict[str, Any]
) -> None:
    for kept in ([], [["geo", {}, "unknown", "3;4"]]):
        members = {"uid": "1", "addresses": {key: address}, "vCardProps": kept}
        card = Card.model_validate(members if kept else {**members, "vCardProps": None})
        assert again(card, version) == card


def test_an_address_in_two_languages_has_one_position() -> None:
    lines = ["ADR;ALTID=1;LANGUAGE=en:;;Main;;;;", "ADR;ALTID=1;LANGUAGE=zh:;;大街;;;;"]
    card = read_one(vcard("FN:A", *lines, "TZ:Asia/Shanghai", version="4.0"))
    assert card.addresses is not None
    assert [each.time_zone for each in card.addresses.values()] == ["Asia/Shanghai"]
    for version in ("3.0", "4.0"):
        assert again(card, version) == card
