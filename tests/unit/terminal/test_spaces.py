"""What accepting does to the owner's part: no edit is lost, and what is lost is named."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.contacts.strategies import CARDS
from tests.unit.terminal.cards import card

from contactmesh.contacts import Card, digest
from contactmesh.terminal.rules.spaces import (
    Origin,
    Overwritten,
    PendingChange,
    Settled,
    has_fit_uid,
    settled,
    storable,
    that_fit,
    too_many,
)

ADDED, CHANGED, REMOVED, SAME = PendingChange

BASE = card("an", "An Li", phones={"m": "+8613800138000"})
MINE = card("an", "An Li", phones={"m": "+8613800138000"}, note="owes me 20")
THEIRS = card("an", "An Li", phones={"m": "+8613900139000"})
BOTH = card("an", "An Li", phones={"m": "+8613900139000"}, note="owes me 20")


def of(
    theirs: Card | None,
    mine: Card | None,
    base: Card | None,
    *,
    private: bool = False,
    origin: Origin | None = None,
) -> Settled:
    return settled(
        "urn:example:an",
        theirs,
        mine,
        base,
        origin=origin or Origin(),
        private=private,
        region="CN",
    )


@pytest.mark.claim("M6")
@pytest.mark.parametrize(
    ("theirs", "mine", "base", "change", "own", "here"),
    [
        (THEIRS, None, None, ADDED, THEIRS, False),
        (THEIRS, BASE, BASE, CHANGED, THEIRS, False),
        (None, BASE, BASE, REMOVED, None, False),
        (BASE, BASE, BASE, SAME, BASE, False),
        (None, None, BASE, SAME, None, True),
        (None, None, None, SAME, None, False),
        # Changed here since.
        (THEIRS, MINE, BASE, CHANGED, BOTH, True),
        (THEIRS, THEIRS, BASE, SAME, THEIRS, True),
        (BASE, MINE, BASE, SAME, MINE, True),
        (None, MINE, BASE, REMOVED, MINE, True),
        # Deleted here since.
        (BASE, None, BASE, SAME, None, True),
        (THEIRS, None, BASE, ADDED, THEIRS, True),
        # Never stored nor accepted: nothing says that the entry is not the owner's own doing.
        (None, MINE, None, REMOVED, MINE, True),
        (MINE, MINE, None, SAME, MINE, True),
    ],
)
def test_what_accepting_comes_to(
    theirs: Card | None,
    mine: Card | None,
    base: Card | None,
    change: PendingChange,
    own: Card | None,
    here: bool,
) -> None:
    result = of(theirs, mine, base)
    assert (result.contact.change, result.contact.changed_here) == (change, here)
    assert result.kept is (change is REMOVED and here)
    assert result.contact.card == theirs
    assert result.contact.display_name == ("" if theirs is mine is None else "An Li")
    assert (result.own and digest(result.own)) == (own and digest(own))


def test_without_a_base_nothing_of_either_side_goes() -> None:
    result = of(THEIRS, MINE, None)
    assert (result.contact.change, result.contact.changed_here) == (CHANGED, True)
    assert result.own is not None
    numbers = {phone.number for phone in (result.own.phones or {}).values()}
    assert numbers == {"+8613800138000", "+8613900139000"}
    assert result.own.notes == MINE.notes


def test_only_what_differs_is_shown_as_changed() -> None:
    assert of(THEIRS, BASE, BASE).contact.changed_fields == ("phones/m/number",)
    assert of(THEIRS, MINE, BASE).contact.changed_fields == ("phones/m/number",)
    assert of(MINE, MINE, BASE).contact.changed_fields == ()
    assert of(THEIRS, None, None).contact.changed_fields == ()


def test_where_both_edited_one_field_theirs_stands_and_the_lost_value_is_told() -> None:
    mine = card("an", "An Li", phones={"m": "+8613700137000"}, note="owes me 20")
    result = of(THEIRS, mine, BASE)
    assert result.own is not None
    assert digest(result.own) == digest(BOTH)
    lost = Overwritten("urn:example:an", "An Li", "phones/m/number", "+8613700137000")
    assert result.overwritten == (lost,)


@pytest.mark.claim("M6")
@pytest.mark.parametrize(
    ("origin", "own", "here"),
    [
        # Both edited the base: one stored here, the other elsewhere.
        (Origin(digest(BASE), stored=True, earlier=BASE), BOTH, True),
        # Made of something never seen: the edit that was stored may not be in it.
        (Origin(digest(card("an", "An")), stored=True, earlier=BASE), BOTH, True),
        # Made of what was stored here, or after what was only accepted: nothing of one's own goes.
        (Origin(digest(MINE), stored=True, earlier=BASE), THEIRS, False),
        (Origin(digest(BASE), stored=False, earlier=BASE), THEIRS, False),
        (Origin(None, stored=True, earlier=BASE), THEIRS, False),
        # The contact began with what was stored here, and was edited more than once since.
        (Origin(digest(BASE), stored=True), THEIRS, False),
    ],
)
def test_an_edit_stored_beside_another_is_merged_with_it(
    origin: Origin, own: Card, here: bool
) -> None:
    result = of(THEIRS, MINE, MINE, origin=origin)
    assert result.own is not None
    assert (digest(result.own), result.contact.changed_here) == (digest(own), here)
    assert result.overwritten == ()


def test_two_that_were_made_at_once_with_one_uid_keep_what_both_have() -> None:
    result = of(THEIRS, MINE, MINE, origin=Origin("", stored=True))
    assert result.own is not None
    numbers = {phone.number for phone in (result.own.phones or {}).values()}
    assert numbers == {"+8613800138000", "+8613900139000"}


def test_an_edit_stored_beside_anothers_removal_is_kept() -> None:
    result = of(None, MINE, MINE, origin=Origin(digest(BASE), stored=True, earlier=BASE))
    assert (result.own, result.kept) == (MINE, True)
    gone = of(None, MINE, MINE, origin=Origin(digest(MINE), stored=True, earlier=BASE))
    assert (gone.own, gone.kept) == (None, False)


@pytest.mark.parametrize("base", [None, BASE, THEIRS])
@pytest.mark.parametrize("mine", [None, BASE, MINE])
def test_what_this_terminal_had_before_undoes_nothing(mine: Card | None, base: Card | None) -> None:
    result = of(THEIRS, mine, base, origin=Origin(digest(BASE), ours=True))
    assert (result.own, result.contact.change, result.overwritten) == (mine, SAME, ())


@pytest.mark.claim("M3")
def test_leaving_the_shared_space_is_no_reason_to_delete_what_is_private_here() -> None:
    result = of(None, BASE, BASE, private=True)
    assert (result.own, result.contact.change, result.kept) == (BASE, SAME, False)
    assert of(THEIRS, BASE, BASE, private=True).own == THEIRS


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.none() | CARDS, st.none() | CARDS, st.none() | CARDS)
def test_accepting_again_changes_nothing(
    theirs: Card | None, mine: Card | None, base: Card | None
) -> None:
    """Between the phonebook and the decision anything may break: then it is shown again."""
    first = of(theirs, mine, base)
    again = of(theirs, first.own, theirs)
    if not first.kept:
        assert again.contact.change is SAME
    assert (again.own and digest(again.own)) == (first.own and digest(first.own))
    if mine is not None and first.own is None:
        assert base is not None
        assert digest(base) == digest(mine)


@pytest.mark.parametrize(
    ("removals", "contacts", "asks"),
    [(10, 10, False), (11, 22, False), (11, 21, True), (11, 11, True), (400, 1000, False)],
)
def test_a_large_removal_is_more_than_half_and_more_than_ten(
    removals: int, contacts: int, asks: bool
) -> None:
    assert too_many(removals, contacts) is asks


def test_a_page_takes_what_it_has_room_for() -> None:
    assert that_fit([3, 3, 3], 9) == 3
    assert that_fit([3, 3, 3], 8) == 2
    assert that_fit([9], 8) == 0


def test_a_card_that_is_too_large_is_not_storable() -> None:
    large = card("an", "An", note="n" * 256 * 1024)
    assert storable(BASE, 100, 100)
    assert not storable(BASE, 101, 100)
    assert not storable(large, 100, 100)


@pytest.mark.parametrize(
    ("uid", "fits"),
    [("urn:example:an", True), ("u" * 500, True), ("u" * 501, False), ("a\tb", False), ("", False)],
)
def test_a_uid_that_no_space_takes_is_known_beforehand(uid: str, fits: bool) -> None:
    assert has_fit_uid(uid) is fits
