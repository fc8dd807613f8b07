"""What waits for a SIM, as people see it when it is much (row M5)."""

import pytest

from contactmesh.cli.terminal.sim_pending import _most_shown, by_name, in_all
from contactmesh.terminal import PendingChange, PendingContact


def waits(name: str, change: PendingChange, *, changed_here: bool = False) -> PendingContact:
    return PendingContact(
        uid=f"urn:x:{name}", display_name=name, change=change, changed_here=changed_here
    )


MANY = (
    waits("王芳", PendingChange.SAME),
    waits("bob", PendingChange.ADDED),
    waits("Ann", PendingChange.CHANGED),
    waits("Zoe", PendingChange.ADDED),
    waits("Carl", PendingChange.REMOVED),
    waits("Dan", PendingChange.REMOVED, changed_here=True),
)


def test_it_is_in_the_order_of_names() -> None:
    shown = [each.display_name for each in by_name(MANY)]
    assert shown == ["Ann", "bob", "Carl", "Dan", "Zoe", "王芳"]


def test_it_is_counted() -> None:
    assert in_all(MANY) == (
        "6 contacts wait: 2 to add, 1 to change, 1 to remove, 1 to keep, 1 the same."
    )


@pytest.mark.parametrize(
    ("limit", "screen", "most"),
    [
        (None, True, 50),
        (None, False, None),
        (7, True, 7),
        (7, False, 7),
        (0, True, None),
    ],
)
def test_no_screen_is_flooded_unasked(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, screen: bool, most: int | None
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: screen)
    assert _most_shown(limit) == most
