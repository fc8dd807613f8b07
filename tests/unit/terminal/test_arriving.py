"""What a sync says to have come: each contact once, in whichever way it came (rows Y4, Y5)."""

import pytest

from contactmesh.terminal.rules.arriving import Arrival, Arrivals, Arrived, Came

ADDED, CHANGED, DELETED = Arrival.ADDED, Arrival.CHANGED, Arrival.DELETED


@pytest.mark.parametrize(
    ("came", "told"),
    [
        ([(None, "Li")], ("Li", ADDED)),
        ([("Li", "Li Wei")], ("Li Wei", CHANGED)),
        ([("Li", None)], ("Li", DELETED)),
        ([(None, "Li"), ("Li", "Li Wei")], ("Li Wei", ADDED)),
        ([("Li", "Li Wei"), ("Li Wei", None)], ("Li", DELETED)),
        ([("Li", None), (None, "Li")], ("Li", CHANGED)),
        ([(None, "Li"), ("Li", None)], None),
    ],
    ids=[
        "new",
        "changed",
        "deleted",
        "new and changed",
        "changed and deleted",
        "deleted and back",
        "came and went",
    ],
)
def test_an_entry_is_told_once(
    came: list[tuple[str | None, str | None]], told: tuple[str, Arrival] | None
) -> None:
    arrivals = Arrivals()
    for before, after in came:
        arrivals.add([Came("li", before, after)])
    assert arrivals.told() == (() if told is None else (Arrived("li", *told),))


def test_what_was_told_is_not_told_again() -> None:
    arrivals = Arrivals()
    arrivals.add([Came("li", None, "Li")])
    arrivals.clear()
    assert arrivals.told() == ()
