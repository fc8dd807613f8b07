"""What a sync makes of an entry: results, news, and edits that fall in between (rows Y1 to Y5)."""

import pytest
from pydantic import ValidationError
from tests.unit.terminal.cards import card

from contactmesh.contacts import Card, digest
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.records import ChangeResult, Outcome
from contactmesh.terminal.rules.syncing import (
    Became,
    Known,
    Mark,
    SentChange,
    after_news,
    after_result,
    mark,
)

OLD, NEW, OTHER = "+8613800138000", "+8613900139000", "+8613700137000"
BASE = card("li", "Li Wei", phones={"m": OLD})
MINE = card("li", "Li Wei", phones={"m": NEW})
MAILED = card("li", "Li Wei", phones={"m": OLD}, emails={"e": "li@example.org"})
BOTH = card("li", "Li Wei", phones={"m": NEW}, emails={"e": "li@example.org"})
NOTED = card("li", "Li Wei", phones={"m": NEW}, note="茶")
ALL = card("li", "Li Wei", phones={"m": NEW}, emails={"e": "li@example.org"}, note="茶")


def known(rev: int | None, one: Card | None) -> Known:
    return Known(rev, None if one is None else digest(one))


def result(outcome: Outcome, rev: int | None = 5, **more: object) -> ChangeResult:
    return ChangeResult(uid=BASE.uid, outcome=outcome, rev=rev, **more)  # type: ignore[arg-type]


@pytest.mark.claim("Y2")
@pytest.mark.parametrize(
    ("told", "here", "wanted"),
    [
        (known(None, None), MINE, Mark.MODIFIED),
        (known(3, BASE), MINE, Mark.MODIFIED),
        (known(3, BASE), None, Mark.DELETED),
        (known(3, None), BASE, Mark.MODIFIED),
        (known(3, BASE), BASE, None),
        (known(3, None), None, None),
    ],
    ids=["made", "edited", "deleted", "brought back", "unchanged", "deleted on both sides"],
)
def test_what_the_server_has_still_to_be_told(
    told: Known, here: Card | None, wanted: Mark | None
) -> None:
    assert mark(told, None if here is None else digest(here)) is wanted


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("outcome", [Outcome.APPLIED, Outcome.SAME])
@pytest.mark.parametrize("sent", [MINE, None], ids=["edited", "deleted"])
def test_what_was_taken_is_clean(outcome: Outcome, sent: Card | None) -> None:
    became = after_result(
        SentChange(known(3, BASE), sent), result(outcome, deleted=sent is None), sent
    )
    assert became == Became(known(5, sent), sent)


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("outcome", [Outcome.MERGED, Outcome.SUPERSEDED, Outcome.CONFLICT])
def test_what_stands_instead_is_taken_over(outcome: Outcome) -> None:
    told = result(outcome, card=BOTH.to_json())
    became = after_result(SentChange(known(3, BASE), MINE), told, MINE)
    assert became == Became(known(5, BOTH), BOTH)


def test_what_was_deleted_instead_goes() -> None:
    told = result(Outcome.SUPERSEDED, deleted=True)
    became = after_result(SentChange(known(3, BASE), MINE), told, MINE)
    assert became == Became(known(5, None), None)


def test_a_deletion_that_another_terminals_edit_survived_brings_the_contact_back() -> None:
    told = result(Outcome.CONFLICT, card=MAILED.to_json())
    became = after_result(SentChange(known(3, BASE), None), told, None)
    assert became == Became(known(5, MAILED), MAILED)


def test_an_edit_made_while_the_exchange_was_under_way_stays_marked() -> None:
    became = after_result(SentChange(known(3, BASE), MINE), result(Outcome.APPLIED), NOTED)
    assert became == Became(known(5, MINE), NOTED)
    assert mark(became.known, digest(NOTED)) is Mark.MODIFIED


def test_and_is_laid_over_what_others_did_so_that_the_next_exchange_undoes_nothing() -> None:
    told = result(Outcome.MERGED, card=BOTH.to_json())
    became = after_result(SentChange(known(3, BASE), MINE), told, NOTED)
    assert became == Became(known(5, BOTH), ALL)


def test_an_edit_back_to_the_base_under_way_is_an_edit() -> None:
    became = after_result(SentChange(known(3, BASE), MINE), result(Outcome.APPLIED), BASE)
    assert became == Became(known(5, MINE), BASE)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (result(Outcome.APPLIED), known(5, MINE)),
        (result(Outcome.MERGED, card=BOTH.to_json()), known(3, BASE)),
    ],
    ids=["of what was seen deletes", "of what was not seen is for the server to find out"],
)
def test_a_deletion_under_way(told: ChangeResult, wanted: Known) -> None:
    became = after_result(SentChange(known(3, BASE), MINE), told, None)
    assert became == Became(wanted, None)
    assert mark(became.known, None) is Mark.DELETED


def test_what_was_deleted_and_made_anew_under_way_is_marked() -> None:
    gone = result(Outcome.APPLIED, deleted=True)
    became = after_result(SentChange(known(3, BASE), None), gone, MINE)
    assert became == Became(known(5, None), MINE)


def test_a_rejected_change_waits_for_an_edit() -> None:
    told = result(
        Outcome.REJECTED, None, code=ErrorCode.TOO_LARGE, problem="Too large.", name="Li Wei"
    )
    sent = SentChange(known(3, BASE), MINE)
    assert after_result(sent, told, MINE) == Became(known(3, BASE), MINE, "Too large.")
    assert after_result(sent, told, NOTED) == Became(known(3, BASE), NOTED)


def test_what_the_reply_had_no_room_for_is_sent_again() -> None:
    told = result(Outcome.REJECTED, None, code=ErrorCode.UNAVAILABLE, problem="No room.")
    sent = SentChange(known(3, BASE), MINE)
    assert after_result(sent, told, MINE) == Became(known(3, BASE), MINE)


@pytest.mark.parametrize("code", [ErrorCode.NOT_FOUND, ErrorCode.CONFLICT])
@pytest.mark.parametrize("here", [MINE, None], ids=["an edit", "a deletion"])
def test_what_was_made_on_a_forgotten_version_is_sent_again_without_it(
    code: ErrorCode, here: Card | None
) -> None:
    told = result(Outcome.REJECTED, None, code=code, problem="Forgotten.")
    became = after_result(SentChange(known(3, BASE), here), told, here)
    assert became.known.rev is None
    assert became.problem is None
    assert mark(became.known, None if here is None else digest(here)) is not None
    again = after_result(SentChange(became.known, here), told, here)
    assert again.problem == "Forgotten."


def test_a_card_that_cannot_be_read_is_no_result() -> None:
    told = result(Outcome.MERGED, card={"@type": "Group"})
    with pytest.raises(ValidationError):
        after_result(SentChange(known(3, BASE), MINE), told, MINE)


@pytest.mark.claim("Y4")
@pytest.mark.parametrize(
    ("told", "here", "rev", "comes", "wanted"),
    [
        (known(None, None), None, 4, MINE, Became(known(4, MINE), MINE)),
        (known(3, BASE), BASE, 4, MINE, Became(known(4, MINE), MINE)),
        (known(3, BASE), BASE, 4, None, Became(known(4, None), None)),
        (known(3, None), None, 4, MINE, Became(known(4, MINE), MINE)),
        (known(3, BASE), BASE, 3, MINE, None),
        (known(3, BASE), BASE, 2, None, None),
        (known(3, None), None, 2, BASE, None),
        (known(3, BASE), MINE, 4, MAILED, None),
        (known(3, BASE), None, 4, MAILED, None),
        (known(3, BASE), MINE, 4, BASE, Became(known(4, BASE), MINE)),
        (known(3, BASE), MINE, 4, None, None),
        (known(None, None), MINE, 4, BASE, None),
        (known(3, BASE), MINE, 4, MINE, Became(known(4, MINE), MINE)),
        (known(None, None), MINE, 4, MINE, Became(known(4, MINE), MINE)),
        (known(3, BASE), None, 4, None, Became(known(4, None), None)),
    ],
    ids=[
        "new",
        "edited",
        "deleted",
        "brought back",
        "known already",
        "late",
        "late, and deleted since",
        "edited on both sides",
        "deleted here",
        "edited here, changed there and back",
        "edited here and deleted there",
        "made on both sides",
        "the same edit on both sides",
        "what was made here and whose reply was lost",
        "deleted on both sides",
    ],
)
def test_what_the_server_tells(
    told: Known, here: Card | None, rev: int, comes: Card | None, wanted: Became | None
) -> None:
    assert after_news(told, here, rev, comes) == wanted
