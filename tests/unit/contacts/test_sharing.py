"""What is shown to others of a contact is all but what its writer wrote for themselves."""

from typing import Any

import pytest

from contactmesh.contacts import Card, digest, without_private_parts

SHOWN = {
    "@type": "Card",
    "version": "1.0",
    "uid": "urn:example:lin",
    "name": {"full": "林晓雨"},
    "phones": {"m": {"number": "+8613800138000"}},
    "example.com:x": [1],
}


@pytest.mark.parametrize(
    "private",
    [
        {"notes": {"n": {"note": "secret"}}},
        {"nicknames": {"n": {"name": "小林"}}},
        {"keywords": {"family": True}},
        {"relatedTo": {"urn:example:bo": {"relation": {"friend": True}}}},
        {"members": {"urn:example:bo": True}, "kind": "group"},
    ],
    ids=lambda private: next(iter(private)),
)
def test_what_is_private_is_left_out_and_nothing_else(private: dict[str, Any]) -> None:
    shown = {**SHOWN, **{name: part for name, part in private.items() if name == "kind"}}
    card = Card.model_validate({**SHOWN, **private})
    assert without_private_parts(card) == Card.model_validate(shown)


def test_what_is_private_is_left_out_in_every_language() -> None:
    patches = {"name/full": "Lin Xiaoyu", "notes/n/note": "secret", "nicknames": {"n": {}}}
    card = Card.model_validate({**SHOWN, "localizations": {"en": patches, "de": {"notes": {}}}})
    shown = without_private_parts(card).to_json()
    assert shown["localizations"] == {"en": {"name/full": "Lin Xiaoyu"}, "de": {}}
    english_alone = {**SHOWN, "localizations": {"en": {"name/full": "Lin Xiaoyu"}, "de": {}}}
    assert digest(without_private_parts(card)) == digest(Card.model_validate(english_alone))
