"""Cards with very many entries cost what they are, to whoever has to join them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactmesh.contacts import Card, merge
from contactmesh.contacts.alignment import aligned, fresh_key, identity_of, separated

NUMBERS = st.dictionaries(
    st.sampled_from(["a", "a-2", "a-3", "b", "c"]),
    st.sampled_from(["1", "2", "3"]).map(lambda number: {"number": number}),
)


class Key(str):
    """A key that counts how often any is hashed or compared."""

    __slots__ = ()
    looks = 0

    def __hash__(self) -> int:
        Key.looks += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Key.looks += 1
        return super().__eq__(other)


class Entries(Mapping[str, Any]):
    """Entries that count how often one is come by."""

    def __init__(self, of: str, number: int) -> None:
        self._found = {f"{of}{one}": {"address": f"{of}{one}"} for one in range(number)}
        self.looks = 0

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401
        self.looks += 1
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        for key in self._found:
            self.looks += 1
            yield key

    def __len__(self) -> int:
        return len(self._found)


def _looks(number: int) -> int:
    base, other = Entries("a", number), Entries("b", number)
    aligned("emails", base, other)
    return base.looks + other.looks


def test_entries_are_found_in_as_many_looks_as_there_are() -> None:
    assert 0 < _looks(1_000) <= 12 * _looks(100)


def test_items_of_a_list_are_found_in_as_many_looks_as_there_are() -> None:
    found = {}
    for number in (100, 1_000):
        cards = (_listed(f"{of}{one}" for one in range(number)) for of in ("a", "b", "c"))
        base, mine, theirs = cards
        Key.looks = 0
        merge(base, mine, theirs)
        found[number] = Key.looks
    assert 0 < found[1_000] <= 12 * found[100]


def _listed(items: Any) -> Card:  # noqa: ANN401
    card = Card.model_validate({"@type": "Card", "version": "1.0", "uid": "an"})
    return card.model_copy(update={"example.com:x": list(map(Key, items))})


@given(NUMBERS, NUMBERS, NUMBERS)
@settings(deadline=None)
def test_what_is_new_has_the_key_that_it_wants_or_one_like_it(
    base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    left, right = aligned("phones", base, mine), aligned("phones", base, theirs)
    assert sorted(map(str, left.values())) == sorted(map(str, mine.values()))
    found = separated("phones", base, left, right)
    assert sorted(map(str, found.values())) == sorted(map(str, theirs.values()))
    shared = {key for key in left.keys() & found.keys() if key not in base}
    assert all(
        identity_of("phones", left[key], None) == identity_of("phones", found[key], None)
        for key in shared
    )


def test_a_fresh_key_is_like_the_one_that_is_taken() -> None:
    assert [fresh_key("a", used) for used in ({"b"}, {"a"}, {"a", "a-2"})] == ["a", "a-2", "a-3"]


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "wanted"),
    [
        ([1, 2, 3], [1, 2, 3, 4], [2, 3, 5], [2, 3, 4, 5]),
        ([{"a": [1]}], [{"a": [1]}, {"b": {}}], [{"b": {}}], [{"b": {}}]),
        ([[1]], [[1], "1"], [[1], "2"], [[1], "1", "2"]),
    ],
)
def test_lists_are_joined_item_by_item(
    base: list[Any], mine: list[Any], theirs: list[Any], wanted: list[Any]
) -> None:
    cards = [
        Card.model_validate({"@type": "Card", "version": "1.0", "uid": "an", "example.com:x": one})
        for one in (base, mine, theirs)
    ]
    merged = merge(*cards).card
    assert merged is not None
    assert merged.to_json()["example.com:x"] == wanted
