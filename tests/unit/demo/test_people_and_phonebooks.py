"""The cast: numbers that match however they are kept, and phonebooks of real exports."""

import random
from pathlib import Path

import pytest

from contactmesh.contacts import Card, display_name, match_key, read_vcards
from contactmesh.demo import phonebooks
from contactmesh.demo.people import (
    LEAST_PEOPLE,
    MOST_PEOPLE,
    NumberPlan,
    as_kept_by,
    card_of,
    everyone,
)
from contactmesh.demo.phonebooks import sample_exports, starting_books
from contactmesh.demo.scenario.opening import initial_members
from contactmesh.demo.scenario.stage import Cast
from contactmesh.demo.texts import BADMINTON, REUNION


def test_at_least_twenty_people_take_part_in_two_scripts() -> None:
    people = everyone(LEAST_PEOPLE)

    assert len(people) >= 20
    assert {person.region for person in people} == {"GB", "CN"}
    assert len({person.user_id for person in everyone(MOST_PEOPLE)}) == MOST_PEOPLE


@pytest.mark.parametrize("count", [LEAST_PEOPLE - 1, MOST_PEOPLE + 1])
def test_too_few_and_too_many_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match="people"):
        everyone(count)


@pytest.mark.parametrize("full_width", [False, True])
def test_numbers_match_however_they_are_kept_and_are_given_once(full_width: bool) -> None:
    people = everyone(LEAST_PEOPLE)
    plan = NumberPlan(random.Random(3))
    numbers = {person: plan.new(person, full_width=full_width) for person in people}
    keys = [match_key(number) for number in numbers.values()]

    assert None not in keys
    assert len(set(keys)) == len(people)
    for owner in people:
        for number in numbers.values():
            assert match_key(as_kept_by(owner, number), owner.region) == match_key(number)


def test_a_card_says_the_name_as_it_is_written() -> None:
    for person in everyone(MOST_PEOPLE):
        assert display_name(card_of(person, "+44 7700 900001")) == person.name


def test_the_same_seed_gives_the_same_phonebooks() -> None:
    one, same, other = (Cast(everyone(24), seed) for seed in (1, 1, 2))

    assert one.books == same.books
    assert one.numbers == same.numbers
    assert one.books != other.books


def test_everyone_has_an_export_and_entries_about_others() -> None:
    people = everyone(24)
    numbers = {person.user_id: "+44 7700 900001" for person in people}
    books = starting_books(people, numbers, {"carol": ("grace",)}, random.Random(1))

    for person in people:
        book = books[person.user_id]
        about = [entry.about.user_id for entry in book.entries]
        assert len(set(about)) == phonebooks.ENTRIES_EACH
        assert person.user_id not in about
        assert book.export.cards()
    assert "grace" in [entry.about.user_id for entry in books["carol"].entries]


def test_an_entry_comes_through_its_vcard_unchanged() -> None:
    book = Cast(everyone(24), 1).books["alice"]
    _, typed = book.files

    cards = list(read_vcards(typed.content))

    assert all(isinstance(card, Card) for card in cards)
    assert [card.uid for card in cards if isinstance(card, Card)] == [
        entry.uid for entry in book.entries
    ]


def test_the_samples_come_with_their_licences() -> None:
    folder = Path(phonebooks.__file__).with_name("samples")

    assert len(sample_exports()) >= 8
    assert {"LICENSE.ez-vcard", "LICENSE.samples", "README.md"} <= {
        file.name for file in folder.iterdir()
    }


def test_the_groups_overlap_and_grow_with_the_people() -> None:
    badminton = initial_members(BADMINTON, everyone(MOST_PEOPLE))
    reunion = initial_members(REUNION, everyone(MOST_PEOPLE))

    assert set(badminton) & set(reunion)
    assert len(badminton) + len(reunion) > MOST_PEOPLE - LEAST_PEOPLE
    assert len(badminton) == len(set(badminton))
