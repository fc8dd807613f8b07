"""The card itself: strict where RFC 9553 is, keeping what it does not know, limited in size."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import ValidationError

from contactmesh.contacts import (
    CARRIER_PROPERTY,
    Card,
    CardLimits,
    CardTooLarge,
    CarrierLine,
    PatchError,
    Phone,
    apply_patch,
    changed_fields,
    check_size,
    digest,
    make_patch,
)

TYPICAL: dict[str, Any] = {
    "@type": "Card",
    "version": "1.0",
    "uid": "urn:uuid:1",
    "name": {
        "full": "王小明",
        "components": [{"kind": "surname", "value": "王"}, {"kind": "given", "value": "小明"}],
    },
    "phones": {
        "mobile": {"number": "+8613800138000", "features": {"mobile": True}, "pref": 1},
        "desk": {"number": "010 12345678", "contexts": {"work": True}, "label": "desk"},
    },
    "emails": {"e": {"@type": "EmailAddress", "address": "w@example.com"}},
    "organizations": {"o": {"name": "Example", "units": [{"name": "R&D"}]}},
    "anniversaries": {"b": {"kind": "birth", "date": {"year": 1980, "month": 3}}},
    "keywords": {"climbing": True},
}


def test_unknown_and_vendor_properties_are_kept() -> None:
    value = {
        **TYPICAL,
        "example.com:mood": {"today": ["fine", 1, None]},
        "phones": {"m": {"number": "1", "example.com:sim": 2, "unknown": {"a": True}}},
    }
    assert Card.model_validate(value).to_json() == value


def test_carrier_data_is_a_vendor_property_of_a_phone() -> None:
    line = CarrierLine(carrier_id="cn-mobile", registration_seq="9007199254740993", plmn="460-00")
    phone = Phone(number="+8613800138000", carrier=line)
    assert phone.to_json()[CARRIER_PROPERTY] == {
        "carrierId": "cn-mobile",
        "registrationSeq": "9007199254740993",
        "plmn": "460-00",
    }
    assert Phone.model_validate(phone.to_json()) == phone


@pytest.mark.parametrize(
    "wrong",
    [
        {"uid": ""},
        {"uid": 5},
        {"@type": "Person"},
        {"updated": "yesterday"},
        {"phones": {"a b": {"number": "1"}}},
        {"phones": {"m": {}}},
        {"phones": {"m": {"number": 1}}},
        {"phones": {"m": {"number": "1", "pref": 0}}},
        {"phones": {"m": {"number": "1", "pref": True}}},
        {"phones": {"m": {"number": "1", "contexts": {"work": False}}}},
        {"phones": {"m": {"number": "1", CARRIER_PROPERTY: {"registrationSeq": 7}}}},
        {"phones": {"m": {"number": "1", "@type": "Email"}}},
        {"anniversaries": {"b": {"kind": "birth", "date": {"month": 13}}}},
        {"keywords": ["climbing"]},
    ],
)
def test_what_rfc_9553_forbids_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Card.model_validate({**TYPICAL, **wrong})


def test_a_card_is_a_value() -> None:
    card = Card.model_validate(TYPICAL)
    with pytest.raises(ValidationError):
        card.uid = "other"  # type: ignore[misc]
    assert card.model_copy(update={"uid": "other"}).uid == "other"


def test_validation_is_fast() -> None:
    rounds = 200
    fastest = min(_seconds(rounds) for _ in range(5)) / rounds
    assert fastest < 150e-6


def _seconds(rounds: int) -> float:
    start = time.process_time()
    for _ in range(rounds):
        Card.model_validate(TYPICAL)
    return time.process_time() - start


def test_the_card_and_its_media_have_limits_of_their_own() -> None:
    photo = "data:image/jpeg;base64," + "A" * 300_000
    card = Card.model_validate({**TYPICAL, "media": {"p": {"kind": "photo", "uri": photo}}})
    check_size(card)
    with pytest.raises(CardTooLarge, match="media is 300,023 bytes and the limit is 1,000"):
        check_size(card, CardLimits(media_bytes=1000))
    with pytest.raises(CardTooLarge, match="without its media") as caught:
        check_size(card, CardLimits(card_bytes=100))
    assert caught.value.part == "card"
    long = Card.model_validate({**TYPICAL, "notes": {"n": {"note": "字" * 90_000}}})
    with pytest.raises(CardTooLarge):
        check_size(long)
    check_size(long, CardLimits(card_bytes=300_000))


def test_the_digest_ignores_order_metadata_and_spelled_out_defaults() -> None:
    card = Card.model_validate(TYPICAL)
    other = {
        **dict(reversed(TYPICAL.items())),
        "updated": "2026-11-30T00:00:00Z",
        "prodId": "x",
        "version": "2.0",
        "uid": "other",
        "emails": {"e": {"address": "w@example.com"}},
        "titles": {},
    }
    assert digest(Card.model_validate(other)) == digest(card)
    assert changed_fields(card, Card.model_validate(other)) == ()
    other["keywords"] = {"running": True}
    assert digest(Card.model_validate(other)) != digest(card)


def test_changed_fields_names_entries_that_came_and_properties_that_changed() -> None:
    old = Card.model_validate(TYPICAL)
    phones = {
        "mobile": {**TYPICAL["phones"]["mobile"], "number": "+8613900139000"},
        "new": {"number": "1"},
    }
    new = Card.model_validate({**TYPICAL, "phones": phones, "kind": "individual"})
    assert changed_fields(old, new) == (
        "kind",
        "phones/desk",
        "phones/mobile/number",
        "phones/new",
    )
    assert changed_fields(None, old) == (
        "anniversaries/b",
        "emails/e",
        "keywords/climbing",
        "name",
        "organizations/o",
        "phones/desk",
        "phones/mobile",
    )
    assert changed_fields(None, None) == ()


def test_a_patch_turns_one_card_into_the_other() -> None:
    old = TYPICAL
    new = {**TYPICAL, "phones": {"mobile": {"number": "1"}}, "a/b~c": 1}
    patch = make_patch(old, new)
    assert patch == {
        "phones/desk": None,
        "phones/mobile/number": "1",
        "phones/mobile/features": None,
        "phones/mobile/pref": None,
        "a~1b~0c": 1,
    }
    assert apply_patch(old, patch) == new
    assert apply_patch(new, make_patch(new, old)) == old


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"phones/none/number": "1"}, "'none' is no object"),
        ({"name/full/x": 1}, "'full' is no object"),
        ({"name": {}, "name/full": "A"}, "already replaces it"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: dict[str, Any], message: str) -> None:
    with pytest.raises(PatchError, match=message):
        apply_patch(TYPICAL, patch)
