"""The full sync: nothing twice, nothing lost, nothing brought back (row Y6)."""

import pytest
from tests.unit.terminal.cards import card

from contactmesh.contacts import digest
from contactmesh.terminal.rules.full_sync import Here, Listed, Plan, after_loss, compare
from contactmesh.terminal.rules.syncing import Known, mark

A, B = (digest(card("x", name)) for name in ("Ann", "Bea"))
SINCE = 100


def here(rev: int | None, told: str | None, own: str | None) -> Here:
    return Here(Known(rev, told), own)


@pytest.mark.claim("Y6")
@pytest.mark.parametrize(
    ("entry", "listed", "wanted"),
    [
        (here(200, A, A), Listed(200, A), Plan()),
        (here(200, A, A), Listed(300, A), Plan(known={"u": Known(300, A)})),
        (here(200, A, A), Listed(300, B), Plan(fetch=["u"])),
        (here(200, A, A), Listed(300, None), Plan(known={"u": Known(300, None)}, delete=["u"])),
        (here(200, A, B), Listed(200, A), Plan()),
        (here(200, A, B), Listed(300, A), Plan(known={"u": Known(300, A)})),
        (here(200, A, None), Listed(300, A), Plan(known={"u": Known(300, A)})),
        (here(200, A, B), Listed(300, None), Plan()),
        (here(200, A, None), Listed(300, B), Plan()),
        (here(None, None, A), Listed(300, B), Plan(fetch=["u"])),
        (here(None, None, A), Listed(300, None), Plan()),
        (here(None, None, A), Listed(300, A), Plan(known={"u": Known(300, A)})),
        (here(200, A, B), Listed(300, B), Plan(known={"u": Known(300, B)})),
        (here(200, A, None), Listed(300, None), Plan(known={"u": Known(300, None)})),
    ],
    ids=[
        "unchanged",
        "changed there and back",
        "changed there",
        "deleted there",
        "edited here",
        "edited here, changed there and back",
        "deleted here, changed there and back",
        "edited here, deleted there",
        "deleted here, edited there",
        "made on both sides",
        "made here, deleted there",
        "made here, the reply was lost",
        "edited here, the reply was lost",
        "deleted on both sides",
    ],
)
def test_an_entry_that_is_listed(entry: Here, listed: Listed, wanted: Plan) -> None:
    assert compare({"u": entry}, {"u": listed}, SINCE) == wanted


@pytest.mark.claim("Y6")
@pytest.mark.parametrize(
    ("entry", "listed"),
    [
        (here(200, A, A), Listed(50, B)),
        (here(200, A, B), Listed(50, A)),
        (here(200, A, None), Listed(50, A)),
        (here(200, None, None), Listed(50, A)),
        (here(200, A, A), Listed(50, None)),
    ],
    ids=["its contents", "with an edit", "a deletion to come", "its deletion", "brought back"],
)
def test_what_a_restored_database_has_lost_is_sent_again_on_what_it_has(
    entry: Here, listed: Listed
) -> None:
    plan = compare({"u": entry}, {"u": listed}, SINCE)
    assert plan == Plan(known={"u": Known(listed.rev, listed.digest)})
    assert entry.digest != listed.digest


@pytest.mark.claim("Y6")
@pytest.mark.parametrize(
    ("entry", "listed"),
    [
        (here(200, A, A), Listed(300, B)),
        (here(200, A, A), Listed(300, None)),
        (here(200, None, None), Listed(300, A)),
    ],
    ids=["changed since", "deleted since", "deleted here and brought back since"],
)
def test_what_others_changed_after_a_restore_is_doubted_and_sent_again_if_it_was_lost(
    entry: Here, listed: Listed
) -> None:
    assert not compare({"u": entry}, {"u": listed}, SINCE).doubted
    plan = compare({"u": entry}, {"u": listed}, SINCE, restored=True)
    assert plan == Plan(doubted={"u": 200})
    known = after_loss(entry, listed)
    assert known.rev is None
    assert mark(known, entry.digest) is not None


@pytest.mark.claim("Y6")
@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        (here(50, A, A), Plan(delete=["u"], forget=["u"])),
        (here(200, A, A), Plan(known={"u": Known()})),
        (here(50, A, B), Plan(known={"u": Known()})),
        (here(None, None, A), Plan()),
        (here(50, A, None), Plan(forget=["u"])),
        (here(200, None, None), Plan(forget=["u"])),
    ],
    ids=[
        "deleted long ago",
        "lost by a restore: sent again",
        "edited here: sent again",
        "made here",
        "deleted here",
        "deleted on both sides",
    ],
)
def test_an_entry_that_is_not_listed(entry: Here, wanted: Plan) -> None:
    assert compare({"u": entry}, {}, SINCE) == wanted
    # However old the others are that are listed.
    others = {"other": here(40, B, B)}
    assert compare({"u": entry, **others}, {"other": Listed(40, B)}, SINCE) == wanted


@pytest.mark.claim("Y6")
@pytest.mark.parametrize(
    ("listed", "since", "restored"),
    [
        ({}, 0, False),
        ({"x": Listed(40, None)}, 40, False),
        ({"x": Listed(900, A)}, SINCE, True),
    ],
    ids=["nothing is there", "nothing so late", "another terminal has begun anew"],
)
def test_a_book_that_was_lost_as_a_whole_is_sent_again_however_old(
    listed: dict[str, Listed], since: int, restored: bool
) -> None:
    here_alone = {"u": here(50, A, A), "v": here(60, B, B)}
    plan = compare(here_alone, listed, since, restored=restored)
    plan.fetch.clear()
    assert plan == Plan(known={"u": Known(), "v": Known()})


@pytest.mark.claim("Y6")
def test_the_same_200_contacts_under_other_uids_stay_200() -> None:
    digests = [digest(card("x", f"Person {number}")) for number in range(200)]
    local = {f"here-{number:03}": here(None, None, one) for number, one in enumerate(digests)}
    listed = {f"there-{number:03}": Listed(300, one) for number, one in enumerate(digests)}
    plan = compare(local, listed, SINCE)
    assert plan.adopt == {f"here-{number:03}": f"there-{number:03}" for number in range(200)}
    assert plan.known == {uid: Known(one.rev, one.digest) for uid, one in listed.items()}
    assert not plan.fetch
    assert not plan.delete


@pytest.mark.parametrize(
    ("number_here", "number_there", "fetched"), [(2, 2, 0), (1, 2, 1), (2, 1, 0)]
)
def test_two_that_are_equal_stay_two(number_here: int, number_there: int, fetched: int) -> None:
    local = {f"here-{number}": here(None, None, A) for number in range(number_here)}
    listed = {f"there-{number}": Listed(300, A) for number in range(number_there)}
    plan = compare(local, listed, SINCE)
    assert len(plan.adopt) == min(number_here, number_there)
    assert len(set(plan.adopt.values())) == len(plan.adopt)
    assert len(plan.fetch) == fetched


def test_an_equal_entry_that_is_synced_gives_its_uid_to_nobody() -> None:
    local = {"a": here(200, A, A), "b": here(None, None, B)}
    listed = {"a": Listed(200, A), "b": Listed(300, A), "c": Listed(300, A), "d": Listed(300, B)}
    assert compare(local, listed, SINCE) == Plan(fetch=["b", "c", "d"])


def test_what_was_deleted_there_and_is_not_known_here_is_nothing() -> None:
    assert compare({}, {"u": Listed(300, None)}, SINCE) == Plan()
