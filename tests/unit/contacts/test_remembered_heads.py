"""What is remembered from card to card, which no card may show."""

from __future__ import annotations

import pytest
from pydantic import BaseModel
from tests.unit.contacts.vcards import again, read_one, vcard

from contactmesh.contacts import Card, write_vcards


def test_cards_share_nothing_that_can_be_changed() -> None:
    data = vcard("TEL;TYPE=home,cell,x,y:1", "X-KEPT;TYPE=a,b:1", "ADR;TYPE=home,c,d:;;s;;;;")

    def reached(value: object) -> list[object]:
        if isinstance(value, BaseModel):
            value = [value.__dict__, value.__pydantic_extra__, value.model_fields_set]
        if isinstance(value, dict):
            return [value, *(each for item in value.values() for each in reached(item))]
        if isinstance(value, list):
            return [value, *(each for item in value for each in reached(item))]
        return [value] if isinstance(value, set) else []

    one, other = read_one(data), read_one(data)
    mine, others = reached(one), reached(other)
    assert not {id(each) for each in mine} & {id(each) for each in others}


def test_a_head_with_an_open_quote_does_not_change_how_others_are_read() -> None:
    whole = 'ADR;GEO="geo:1,2":;;street;;;;'
    before = read_one(vcard(whole))
    read_one(vcard('ADR;GEO="geo:x'))
    assert read_one(vcard(whole)) == before


@pytest.mark.parametrize(
    "odd", [["x-a", [], "unknown", "1"], ["x-a", None, "unknown", "1"], ["x-a", "", "unknown", "1"]]
)
def test_a_kept_property_that_cannot_be_written_keeps_no_other_from_being_written(
    odd: list[object],
) -> None:
    for prop in (odd, ["x-a", {}, "unknown", "2"]):
        written = b"".join(write_vcards([Card.model_validate({"uid": "u", "vCardProps": [prop]})]))
    assert b"\r\nX-A:2\r\n" in written


def test_in_which_order_a_card_was_read_does_not_show_when_it_is_written() -> None:
    lines = ["TEL:1", "EMAIL:a@example.com", "NOTE:n", "UID:u", "X-A:1", "FN:Jane"]
    one, other, once_more = (
        b"".join(write_vcards([read_one(vcard(*each))])) for each in (lines, reversed(lines), lines)
    )
    assert one == other == once_more


def test_what_no_line_can_say_of_a_card_is_added_each_time() -> None:
    plain = {"uid": "u", "notes": {"note-1": {"note": "n"}}}
    unknown = {**plain, "example.com:extra": {"a": [1]}}
    for document in (plain, unknown, plain, unknown):
        card = Card.model_validate(document)
        assert again(card, "4.0") == card
