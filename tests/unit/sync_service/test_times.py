"""When fields were changed, however many there are (row Y4)."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.sync_service.books import PHONE, TABLET, Json
from tests.unit.sync_service.terminals import Terminal, shared

from contactmesh.contracts.sync.records import Outcome
from sync_service.domain.documents import Stamp, Times
from sync_service.domain.times import MOST_TIMES, NOBODY, Changed, recent

pytestmark = pytest.mark.claim("Y4")

PATHS = st.lists(st.sampled_from(["a", "ab", "b", "~1", ""]), max_size=4).map("/".join)
STAMPS = st.builds(Stamp, st.integers(0, 9), st.sampled_from([PHONE, TABLET]))
TIMES = st.dictionaries(PATHS, STAMPS, max_size=8)


def related(one: str, other: str) -> bool:
    """Whether one path is the other, or leads to it."""
    if one in ("", other) or other == "":
        return True
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")


@given(TIMES, PATHS)
@settings(deadline=None)
def test_a_field_changed_when_it_a_part_of_it_or_what_it_is_a_part_of_did(
    times: dict[str, Stamp], path: str
) -> None:
    wanted = max((stamp for at, stamp in times.items() if related(at, path)), default=None)
    assert Changed(times).at(path) == wanted


class Counted(dict[str, Stamp]):
    """Times that count how often they are looked at."""

    looks = 0

    def __getitem__(self, path: str) -> Stamp:
        self.looks += 1
        return super().__getitem__(path)

    def __contains__(self, path: object) -> bool:
        self.looks += 1
        return super().__contains__(path)

    def __iter__(self) -> Iterator[str]:
        for path in super().__iter__():
            self.looks += 1
            yield path

    def items(self) -> Iterator[tuple[str, Stamp]]:  # type: ignore[override]
        for path in self:
            yield path, self[path]


@pytest.mark.parametrize("number", [10, 1_000])
def test_many_fields_are_looked_up_in_as_many_looks_as_there_are(number: int) -> None:
    times = Counted({f"keywords/{one}": Stamp(one, PHONE) for one in range(number)})
    changed = Changed(times)
    for one in range(number):
        assert changed.at(f"keywords/{one}") == Stamp(one, PHONE)
    assert times.looks <= 8 * number


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        ([f"keywords/{one}" for one in range(MOST_TIMES)], MOST_TIMES),
        ([f"keywords/{one}" for one in range(MOST_TIMES + 1)], 1),
        (["phones/m", "phones/n", *(f"keywords/{one}" for one in range(MOST_TIMES))], 3),
        ([f"example.com:{one}" for one in range(MOST_TIMES + 1)], 1),
    ],
)
def test_of_too_many_times_those_of_a_property_are_one(paths: list[str], left: int) -> None:
    times = {path: Stamp(at, PHONE) for at, path in enumerate(paths)}
    kept = recent(times, since=0)
    assert len(kept) == left
    latest = Changed(kept)
    for path, stamp in times.items():
        found = latest.at(path)
        assert found is not None
        assert found >= stamp, "a later edit is never taken for an earlier one"


@pytest.mark.parametrize(
    "terminals", [[PHONE], [PHONE, TABLET], [TABLET, PHONE, PHONE], [TABLET, TABLET]]
)
def test_a_time_that_stands_for_those_of_several_is_nobodys(terminals: list[str]) -> None:
    times: Times = {
        f"keywords/{one}": Stamp(one, terminals[one % len(terminals)])
        for one in range(MOST_TIMES + 1)
    }
    (stamp,) = recent(times, since=0).values()
    assert stamp == Stamp(MOST_TIMES, NOBODY if len(set(terminals)) > 1 else terminals[0])


def keywords(of: str, number: int = 2_000) -> Json:
    return {f"{of}{one}": True for one in range(number)}


def test_an_entry_remembers_no_more_times_however_often_its_fields_come_and_go() -> None:
    server, phone, tablet = shared("an")
    for turn in range(3):
        for terminal in (phone, tablet):
            server.passes()
            terminal.edits("an", keywords=keywords(f"{terminal.terminal_id}-{turn}-"))
            terminal.syncs()
            assert set(terminal.outcomes().values()) <= {Outcome.APPLIED, Outcome.MERGED}
            assert len(server.entry("an").times) <= MOST_TIMES


def test_what_is_lost_waits_in_the_inbox_though_its_time_stands_for_those_of_many() -> None:
    """The terminal that wins has changed many other fields, but this one it has not seen."""
    server, phone, tablet = shared()
    phone.makes("an", phones=_numbered(MOST_TIMES, "old"))
    phone.syncs()
    tablet.syncs()
    half = MOST_TIMES // 2
    server.passes()
    tablet.edits("an", phones={**_numbered(MOST_TIMES, "old"), **_numbered(half, "tablet")})
    server.passes()
    mine = {f"k{one}": {"number": "phone"} for one in range(half, MOST_TIMES)}
    phone.edits("an", phones={**_numbered(MOST_TIMES, "old"), **mine})
    phone.exchanges(lost=True)
    tablet.syncs()
    server.passes()
    phone.edits("an", phones={**_numbered(MOST_TIMES, "old"), **mine, "k0": {"number": "later"}})
    phone.syncs()
    assert len(server.entry("an").times) < half
    assert [(one.kept, one.lost) for one in server.conflicts("an")] == [("later", "tablet")]
    _all_alike(phone, tablet)


def _numbered(number: int, text: str) -> Json:
    return {f"k{one}": {"number": text} for one in range(number)}


def _all_alike(*terminals: Terminal) -> None:
    for terminal in terminals * 2:
        terminal.syncs()
    assert all(one.holds() == terminals[0].holds() for one in terminals)
