"""Pages: their union is every change once, and none is too large (Y3, Y6)."""

from dataclasses import replace

import pytest
from tests.unit.sync_service.terminals import shared

from contactmesh.contracts.errors import ErrorCode


@pytest.mark.claim("Y3")
@pytest.mark.claim("Y6")
@pytest.mark.parametrize("crash", [False, True])
def test_the_union_of_pages_is_every_change_once(crash: bool) -> None:
    server, phone, tablet = shared("an")
    server.limits = replace(server.limits, page=1_000)
    for number in range(2_500):
        phone.makes(f"c{number:04d}")
    phone.syncs()
    server.passes()
    tablet.makes("own")
    pages = 0
    more = True
    while more:
        pages += 1
        lost = crash and pages == 3
        reply = tablet.exchanges(lost=lost)
        more = lost or (reply is not None and reply.has_more)
        if pages == 2:
            phone.edits("c0000", kind="individual")
            phone.edits("c2400", kind="individual")
            phone.makes("late")
            phone.syncs()
    first = [f"c{number:04d}" for number in range(2_500) if number != 2_400]
    assert [uid for uid, _ in tablet.received] == [*first, "c0000", "c2400", "late"]
    assert pages == 3 + crash
    assert tablet.holds() == server.holds()


def test_no_entry_has_a_revision_from_before_the_books_first() -> None:
    server, phone, tablet = shared("an", "bo")
    (first,) = {book.first_rev for book in server.stored.books.values()}
    assert first == min(entry.rev for entry in server.stored.entries.values())
    for terminal in (phone, tablet):
        server.passes()
        terminal.makes(terminal.terminal_id)
        terminal.syncs()
    (book,) = server.stored.books.values()
    assert (book.first_rev, book.rev > first) == (first, True)


@pytest.mark.claim("Y6")
def test_what_a_terminal_wrote_itself_is_not_given_to_it_however_many_pages_there_are() -> None:
    server, phone, tablet = shared("an")
    server.limits = replace(server.limits, page=3)
    for number in range(20):
        tablet.makes(f"t{number:02d}")
    tablet.syncs()
    server.passes()
    for number in range(20):
        phone.makes(f"p{number:02d}")
    phone.received.clear()
    phone.syncs(most=4)
    assert [uid for uid, _ in phone.received] == [f"t{number:02d}" for number in range(20)]
    assert phone.holds() == server.holds()


@pytest.mark.claim("Y3")
def test_a_reply_holds_no_more_than_a_message_may() -> None:
    server, phone, tablet = shared("an")
    note = {"n": {"note": "x" * 100_000}}
    for number in range(12):
        phone.makes(f"c{number:02d}", notes=note)
    phone.syncs()
    before = server.book().rev
    largest = 0
    more = True
    while more:
        reply = tablet.exchanges()
        assert reply is not None
        more = reply.has_more
        largest = max(largest, len(reply.model_dump_json()))
    assert 400_000 < largest <= server.limits.reply_bytes + 50_000
    assert tablet.holds() == server.holds()
    assert server.book().rev == before


@pytest.mark.claim("Y4")
def test_changes_whose_outcome_the_reply_cannot_hold_are_asked_for_again() -> None:
    server, phone, tablet = shared(*(f"c{number:02d}" for number in range(8)))
    for uid in list(phone.holds()):
        phone.edits(uid, notes={"n": {"note": "x" * 100_000}})
        tablet.edits(uid, kind="individual")
    phone.syncs()
    server.passes()
    reply = tablet.exchanges()
    assert reply is not None
    codes = [result.code for result in reply.results]
    assert codes == [None] * 5 + [ErrorCode.UNAVAILABLE] * 3
    tablet.syncs()
    phone.syncs()
    assert tablet.holds() == phone.holds() == server.holds()
    assert all(one["kind"] == "individual" and "notes" in one for one in server.holds().values())
