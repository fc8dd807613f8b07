"""Heads of lines are remembered from card to card, which no card may show."""

from __future__ import annotations

from pydantic import BaseModel
from tests.unit.contacts.vcards import read_one, vcard


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
