"""The demo's model: what follows for phonebooks from what people do."""

import pytest

from contactmesh.demo.people import Person
from contactmesh.demo.phonebooks import Entry, Export, StartingBook
from contactmesh.demo.world import Expected, Reach, World

ANN, BOB, LIN = Person("ann", "Ann", "GB"), Person("bob", "Bob", "GB"), Person("lin", "林", "CN")
OLD, NEW, NEWEST = "+44 7700 900001", "+44 7700 900002", "+44 7700 900003"

BOBS_ENTRY = Entry("urn:example:ann-at-bob", ANN, "07700 900001", "mobile", "owes me", "captain")


@pytest.fixture
def world() -> World:
    """Ann, Bob and Lin, of whom Bob has an entry about Ann."""
    nothing = Export("nothing", b"")
    books = {
        "ann": StartingBook(nothing, ()),
        "bob": StartingBook(nothing, (BOBS_ENTRY,)),
        "lin": StartingBook(nothing, ()),
    }
    return World((ANN, BOB, LIN), books)


def entry_with(number: str) -> dict[str, Expected]:
    return {BOBS_ENTRY.uid: Expected("Ann", number, "mobile", "owes me", "captain")}


def test_before_anything_is_published_only_typed_entries_are_there(world: World) -> None:
    world.create("g", ["ann", "bob", "lin"])

    assert world.phonebook("bob") == entry_with("07700 900001")
    assert world.phonebook("lin") == {}


def test_a_published_card_is_in_every_members_phonebook(world: World) -> None:
    world.create("g", ["ann", "bob", "lin"])

    assert world.publish("ann", NEW) == Reach(frozenset({"bob", "lin"}), 0)
    assert world.phonebook("bob") == entry_with(NEW)
    assert world.phonebook("lin") == {ANN.card_uid: Expected("Ann", NEW)}
    assert world.phonebook("ann") == {}


def test_publishing_the_same_again_reaches_nobody(world: World) -> None:
    world.create("g", ["ann", "bob"])
    world.publish("ann", NEW)

    assert world.publish("ann", NEW) == Reach(frozenset(), 0)


def test_who_joins_later_sees_the_cards_that_are_there(world: World) -> None:
    world.create("g", ["ann", "bob"])
    world.publish("ann", NEW)
    assert world.secrets("lin") == {NEW}

    world.join("g", "lin")

    assert world.shown("lin", "ann") == NEW
    assert world.secrets("lin") == set()


def test_a_blocked_member_keeps_what_was_known_and_may_not_know_more(world: World) -> None:
    world.create("g", ["ann", "bob", "lin"])
    world.publish("ann", OLD)
    world.block("ann", "bob", "g")

    assert world.publish("ann", NEW) == Reach(frozenset({"lin"}), 1)
    assert world.phonebook("bob") == entry_with(OLD)
    assert world.secrets("bob") == {NEW}
    assert world.silent("bob") == {("g", "ann")}
    assert world.withheld == 1


def test_a_lifted_block_shows_the_current_card_and_never_the_missed_one(world: World) -> None:
    world.create("g", ["ann", "bob", "lin"])
    world.publish("ann", OLD)
    world.block("ann", "bob", "g")
    world.publish("ann", NEW)
    world.publish("ann", NEWEST)

    world.lift("ann", "bob", "g")

    assert world.shown("bob", "ann") == NEWEST
    assert world.secrets("bob") == {NEW}
    assert world.silent("bob") == set()
    assert world.withheld == 2


def test_a_block_in_one_group_leaves_the_other_open(world: World) -> None:
    world.create("g", ["ann", "bob"])
    world.create("h", ["ann", "bob"])
    world.block("ann", "bob", "g")

    assert world.publish("ann", NEW) == Reach(frozenset({"bob"}), 1)
    assert world.secrets("bob") == set()


def test_a_block_in_all_groups_holds_in_each_and_counts_in_each(world: World) -> None:
    world.create("g", ["ann", "bob"])
    world.create("h", ["ann", "bob"])
    world.block("ann", "bob")

    assert world.publish("ann", NEW) == Reach(frozenset(), 2)
    assert world.secrets("bob") == {NEW}


def test_a_block_in_all_groups_holds_in_groups_joined_later(world: World) -> None:
    world.create("g", ["ann"])
    world.block("ann", "bob")
    world.publish("ann", NEW)

    world.join("g", "bob")

    assert world.shown("bob", "ann") is None
    assert world.secrets("bob") == {NEW}


def test_leaving_takes_the_card_along_but_not_what_others_had_typed(world: World) -> None:
    world.create("g", ["ann", "bob", "lin"])
    world.publish("ann", NEW)

    world.leave("g", "ann")

    assert world.phonebook("bob") == entry_with(NEW)
    assert world.phonebook("lin") == {}
    assert world.members == {"bob", "lin"}


def test_the_card_of_a_group_in_common_stays_when_another_is_left(world: World) -> None:
    world.create("g", ["ann", "lin"])
    world.create("h", ["ann", "lin"])
    world.publish("ann", OLD)
    world.leave("g", "ann")

    world.publish("ann", NEW)

    assert world.shown("lin", "ann") == NEW
