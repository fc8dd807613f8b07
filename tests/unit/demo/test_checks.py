"""The checks find what is wrong: each is shown phonebooks and messages with one fault."""

import json

import pytest
from pydantic import JsonValue

from contactmesh.contacts import Card
from contactmesh.demo.checks import (
    Difference,
    Fault,
    count_differences,
    leaks,
    phonebook_differences,
)
from contactmesh.demo.world import Expected

UID = "urn:example:wang"
EXPECTED = {UID: Expected("王小明", "+86 １３８００００００１", "手机", "借了我的雨伞", "班长")}


def card(**changes: object) -> Card:
    """A card that is as expected, but for `changes`."""
    right = {
        "@type": "Card",
        "version": "1.0",
        "uid": UID,
        "name": {"full": "王小明"},
        "phones": {"mobile": {"number": "+86 １３８００００００１", "label": "手机"}},
        "notes": {"mine": {"note": "借了我的雨伞"}},
        "nicknames": {"mine": {"name": "班长"}},
    }
    return Card.model_validate({**right, **changes})


STRANGER = card(uid="urn:example:stranger", name={"full": "Frank"})


def faults(differences: list[Difference]) -> list[Fault]:
    return [difference.fault for difference in differences]


def test_a_right_phonebook_has_no_differences() -> None:
    assert phonebook_differences("ann", EXPECTED, [STRANGER], [STRANGER, card()]) == []


def test_a_missing_contact_is_found() -> None:
    found = phonebook_differences("ann", EXPECTED, [STRANGER], [STRANGER])

    assert [(one.fault, one.where, one.what) for one in found] == [(Fault.MISSING, "ann", "王小明")]


@pytest.mark.parametrize(
    "changes",
    [
        {"phones": {"mobile": {"number": "+86 １３８００００００２", "label": "手机"}}},
        {"phones": {"mobile": {"number": "+86 138 0000 001", "label": "手机"}}},
        {"phones": {"mobile": {"number": "+86 １３８００００００１", "label": "mobile"}}},
        {"phones": {"mobile": {"number": "+86 １３８００００００１"}}},
        {
            "phones": {
                "mobile": {"number": "+86 １３８００００００１", "label": "手机"},
                "old": {"number": "138-0000-0001"},
            }
        },
        {"phones": {}},
        {"notes": {}},
        {"notes": {"theirs": {"note": "changed"}}},
        {"nicknames": {}},
        {"name": {"full": "王小名"}},
    ],
    ids=[
        "another number",
        "written otherwise",
        "another label",
        "label lost",
        "the old number too",
        "no number",
        "note lost",
        "another note",
        "nickname lost",
        "another name",
    ],
)
def test_a_contact_that_shows_something_else_is_found(changes: dict[str, object]) -> None:
    found = phonebook_differences("ann", EXPECTED, [], [card(**changes)])

    assert faults(found) == [Fault.WRONG]


def test_a_contact_that_must_not_be_there_is_found() -> None:
    found = phonebook_differences("ann", {}, [], [card()])

    assert faults(found) == [Fault.UNEXPECTED]


def test_a_contact_that_is_there_twice_is_found() -> None:
    found = phonebook_differences("ann", EXPECTED, [], [card(), card()])

    assert faults(found) == [Fault.UNEXPECTED]


def test_an_altered_stranger_is_found() -> None:
    altered = card(uid=STRANGER.uid, name={"full": "Frank"}, notes={"mine": {"note": "new"}})

    assert faults(phonebook_differences("ann", {}, [STRANGER], [altered])) == [Fault.ALTERED]
    assert faults(phonebook_differences("ann", {}, [STRANGER], [])) == [Fault.MISSING]


def change(number: str, *, group: str = "g", owner: str = "grace") -> JsonValue:
    return {
        "type": "contact.changed",
        "data": {
            "group_id": group,
            "owner_id": owner,
            "card": {"phones": {"mobile": {"number": number}}},
        },
    }


def pulled(number: str) -> JsonValue:
    member: JsonValue = {"user_id": "grace", "card": {"phones": {"mobile": {"number": number}}}}
    return {"type": "reply", "data": {"result": {"members": [member]}}}


SECRET = "+44 7700 900123"


@pytest.mark.parametrize(
    "number", [SECRET, "+447700900123", "+44 ７７００９００１２３", "tel:+44-7700-900-123"]
)
def test_a_number_that_must_not_be_known_is_found_however_it_is_written(number: str) -> None:
    for message in (change(number), pulled(number)):
        assert faults(leaks("carol phone", [message], {SECRET}, ())) == [Fault.LEAKED]


def test_a_hint_at_a_change_that_must_not_be_known_is_found() -> None:
    hint = change("", owner="grace")

    assert faults(leaks("carol phone", [hint], (), {("g", "grace")})) == [Fault.LEAKED]


def test_what_may_be_known_is_no_leak() -> None:
    messages = [
        change("+44 7700 900124"),
        change("+44 7700 900125", group="h"),
        pulled("+44 7700 900124"),
        None,
        json.loads('["7700"]'),
    ]

    assert leaks("carol phone", messages, {SECRET}, {("g", "henry"), ("i", "grace")}) == []


def test_a_wrong_count_is_found() -> None:
    assert count_differences("members", expected=23, actual=23) == []
    assert faults(count_differences("members", expected=23, actual=22)) == [Fault.MISCOUNTED]
