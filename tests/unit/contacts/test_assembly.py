"""Cards are put together without validating: they are what validating would have made."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.unit.contacts.strategies import CARDS
from tests.unit.contacts.test_any_card import FILES, VERSIONS, quick
from tests.unit.contacts.vcards import cards_and_damage, read_one, vcard

from contactmesh.contacts import Card, write_vcards

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "vcf").glob("*.vcf"))


def parts(value: object) -> object:
    """All that a model is made of, with the types."""
    if isinstance(value, BaseModel):
        fields = {name: parts(item) for name, item in value.__dict__.items()}
        return (
            type(value),
            list(fields.items()),
            value.model_fields_set,
            value.__pydantic_extra__,
            value.__pydantic_private__,
        )
    if isinstance(value, dict):
        return type(value), [(key, parts(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [parts(item) for item in value]
    return type(value), value


def is_as_validated(data: bytes) -> None:
    for card in cards_and_damage(data)[0]:
        validated = Card.model_validate(card.to_json())
        assert parts(card) == parts(validated)
        assert card == validated
        assert card.model_copy(deep=True) == validated


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_as_validated(path: Path) -> None:
    is_as_validated(path.read_bytes())


@quick
@given(CARDS, st.sampled_from(VERSIONS))
def test_any_card_is_as_validated(card: Card, version: Literal["3.0", "4.0"]) -> None:
    is_as_validated(b"".join(write_vcards([card], version=version)))


@quick
@given(FILES)
def test_any_file_is_as_validated(data: bytes) -> None:
    is_as_validated(data)


def test_a_note_of_an_author_is_as_validated() -> None:
    is_as_validated(
        vcard(
            "NOTE;AUTHOR=mailto:a@example.com;AUTHOR-NAME=A;CREATED=20260101T000000Z:x",
            'item1.ADR;TYPE=home;GEO="geo:1,2";X-A=1,2:;;street;;;;',
            "BDAY:2026-01-01T00:00:00Z",
            "HOBBY;INDEX=1;LEVEL=high:reading",
            version="4.0",
        )
    )


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
