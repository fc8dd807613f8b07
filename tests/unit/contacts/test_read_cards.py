"""A card that was read makes its typed parts later, and nobody can tell by anything it says."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter
from tests.unit.contacts.strategies import CARDS
from tests.unit.contacts.test_any_card import FILES, VERSIONS, Version, quick
from tests.unit.contacts.vcards import read_all, read_one, vcard

from contactmesh.contacts import Card, Phone, display_name, read_vcards, write_vcards

DATA = vcard(
    "FN:Jane Doe",
    "N:Doe;Jane;;;",
    "item1.TEL;TYPE=cell,x:1",
    "item1.X-ABLabel:desk",
    "EMAIL:jane@example.com",
    "BDAY:1980-02-29",
    "X-KEPT;TYPE=a,b:1",
    'JSPROP;JSPTR="example.com:extra":{"a": [1\\, null]}',
)


class Holder(BaseModel):
    """Any other model with cards in it."""

    cards: list[Card]


LOOKS: dict[str, Callable[[Card], Any]] = {
    "to_json": lambda card: json.dumps(card.to_json()),
    "model_dump_json": lambda card: card.model_dump_json(by_alias=True),
    "model_dump": lambda card: card.model_dump(exclude_unset=True),
    "in another model": lambda card: Holder(cards=[card]).model_dump_json(),
    "by an adapter": lambda card: TypeAdapter(list[Card]).dump_json([card]),
    "repr": repr,
    "vars": vars,
    "dir": dir,
    "iteration": list,
    "fields set": lambda card: card.model_fields_set,
    "extra": lambda card: card.model_extra,
    "an attribute": lambda card: card.phones,
    "the identity": lambda card: card.uid,
    "pickle": lambda card: pickle.loads(pickle.dumps(card)),  # noqa: S301 - our own
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "model_copy": lambda card: card.model_copy(update={"kind": "org"}),
    "validation": Card.model_validate,
    "name shown": display_name,
    "as vCard": lambda card: list(write_vcards([card])),
}


def made(card: Card) -> Card:
    """The same card as pydantic makes it, with all its parts."""
    return Card.model_validate(card.to_json())


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("data", [DATA, DATA.replace(b"JSPROP", b"X-OTHER")])
def test_a_card_that_was_read_looks_like_any_other(
    look: Callable[[Card], Any], data: bytes
) -> None:
    whole = made(read_one(data))
    assert look(read_one(data)) == look(whole)
    assert read_one(data) == whole
    assert whole == read_one(data)


def test_a_card_that_was_read_is_as_frozen_and_as_unhashable_as_any_other() -> None:
    card = read_one(DATA)
    with pytest.raises(ValueError, match="frozen"):
        card.uid = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(card)
    with pytest.raises(AttributeError, match="no_such_member"):
        card.no_such_member  # type: ignore[attr-defined]  # noqa: B018 - asking is what is tested


def test_what_is_changed_in_the_parts_of_a_card_is_written() -> None:
    card = read_one(DATA.replace(b"JSPROP", b"X-OTHER"))
    assert card.phones is not None
    card.phones["new"] = Phone(number="+4930123456")
    assert card.to_json()["phones"]["new"] == {"number": "+4930123456"}  # type: ignore[index,call-overload]
    assert b"TEL;PROP-ID=new:+4930123456\r\n" in b"".join(write_vcards([card]))


def test_json_that_was_asked_for_belongs_to_who_asked() -> None:
    card = read_one(DATA.replace(b"JSPROP", b"X-OTHER"))
    card.to_json()["phones"] = None
    card.to_json()["name"]["full"] = "Other"  # type: ignore[index,call-overload]
    assert card == read_one(DATA.replace(b"JSPROP", b"X-OTHER"))


@quick
@given(FILES)
def test_whatever_is_read_is_a_valid_card(data: bytes) -> None:
    for card, again in zip(read_all(data), read_all(data), strict=True):
        if isinstance(card, Card):
            document = json.loads(json.dumps(again.document()))  # type: ignore[union-attr]
            assert Card.model_validate(document) == card


@quick
@given(CARDS, st.sampled_from(VERSIONS))
def test_a_card_is_written_the_same_with_its_parts_and_without(
    card: Card, version: Version
) -> None:
    data = b"".join(write_vcards([card], version=version))
    one, other = read_one(data), read_one(data)
    parts = vars(other)
    assert parts["uid"] == card.uid
    assert list(write_vcards([one], version=version)) == list(
        write_vcards([other], version=version)
    )


@pytest.mark.parametrize(
    "line",
    [
        'JSPROP;JSPTR="example.com:extra":"\\\\ud800"',
        "NOTE;CHARSET=utf-7:+2AA-",
        "FN;CHARSET=raw_unicode_escape:\\ud800",
    ],
)
def test_half_a_surrogate_pair_keeps_no_card_from_its_uid(line: str) -> None:
    first, second = read_all(vcard(line) + vcard("FN:Last"))
    assert isinstance(first, Card)
    assert first.uid.startswith("urn:uuid:")
    assert isinstance(second, Card)


def test_half_a_surrogate_pair_is_no_uid() -> None:
    data = vcard("UID;CHARSET=utf-7:+2AA-") + vcard("FN:Last")
    damage, card = list(read_vcards(data))
    assert not isinstance(damage, Card)
    assert isinstance(card, Card)
