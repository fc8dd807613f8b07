"""Notes and labels of one's own."""

import pytest

from contactmesh.cli.errors import CommandError
from contactmesh.cli.terminal.own_edits import with_label, with_note
from contactmesh.contacts import Card


def card(**parts: object) -> Card:
    return Card.model_validate({"@type": "Card", "version": "1.0", "uid": "u", **parts})


SHOWN = card(phones={"mobile": {"number": "+8613800138000", "label": "theirs"}})


def test_a_first_note_makes_an_own_part_of_nothing_else() -> None:
    assert with_note(None, SHOWN, "tea", replace=False) == card(notes={"note": {"note": "tea"}})


def test_a_further_note_leaves_the_first() -> None:
    own = with_note(None, SHOWN, "tea", replace=False)
    own = with_note(own, SHOWN, "chess", replace=False)
    assert own.notes is not None
    assert [note.note for note in own.notes.values()] == ["tea", "chess"]
    assert with_note(own, SHOWN, "", replace=True) == card()


def test_a_label_on_the_members_number_is_an_entry_of_ones_own() -> None:
    own = with_label(None, SHOWN, "138 0013 8000", "boss", region="CN")
    assert own.to_json()["phones"] == {"mobile": {"number": "+8613800138000", "label": "boss"}}
    bare = with_label(own, SHOWN, "+8613800138000", "", region=None)
    assert bare.to_json()["phones"] == {"mobile": {"number": "+8613800138000"}}


def test_a_label_goes_on_the_own_entry_of_the_same_number() -> None:
    own = card(phones={"mobile": {"number": "10086"}, "x": {"number": "13800138000"}})
    labelled = with_label(own, SHOWN, "+86 138 0013 8000", "boss", region="CN")
    assert labelled.to_json()["phones"] == {
        "mobile": {"number": "10086"},
        "x": {"number": "13800138000", "label": "boss"},
    }


def test_a_key_that_is_taken_is_not_overwritten() -> None:
    own = card(phones={"mobile": {"number": "10086"}})
    labelled = with_label(own, SHOWN, "+8613800138000", "boss", region=None)
    assert labelled.phones is not None
    assert labelled.phones["mobile"].number == "10086"
    assert labelled.phones["mobile2"].label == "boss"


def test_a_number_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(CommandError, match=r"\+8613800138000 \(theirs\)"):
        with_label(None, SHOWN, "10086", "x", region="CN")
