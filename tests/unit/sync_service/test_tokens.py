"""Tokens: a sync that cannot go on is told to begin with a full one, and why (Y6)."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.sync_service.books import (
    DAY,
    KEY,
    LAPTOP,
    PHONE,
    SECOND,
    START,
    TABLET,
    Server,
    card,
)
from tests.unit.sync_service.terminals import Terminal, all_sync, shared

from contactmesh.contracts.errors import ErrorBody, ErrorCode, Refusal
from contactmesh.contracts.sync.commands import Erase, Exchange
from contactmesh.contracts.sync.records import Change
from sync_service.domain.documents import Limits
from sync_service.domain.state import Asking
from sync_service.domain.times import micros
from sync_service.domain.tokens import MOST_RANGES, Token, read_token, write_token

ASKING = Asking("lin", PHONE, START, Limits(), KEY)
numbers = st.integers(0, 2**53)


def _needs_full_sync(error: ErrorBody) -> str:
    assert error.code is ErrorCode.FULL_SYNC_REQUIRED
    return str(error.details["reason"])


def _with(server: Server, token: str | None, book: str = "main") -> Exchange:
    return Exchange(book=book, token=token, sent_at=server.now)


@pytest.mark.claim("Y6")
@given(
    st.builds(
        Token,
        numbers,
        st.just(micros(START)),
        numbers,
        numbers,
        st.lists(st.tuples(numbers, numbers), max_size=MOST_RANGES).map(tuple),
    )
)
def test_y6_a_token_brings_back_what_it_holds_and_fits_its_field(token: Token) -> None:
    text = write_token(KEY, "lin/main", token)
    assert len(text) <= 200
    assert read_token(ASKING, "lin/main", text) == token
    with pytest.raises(Refusal) as caught:
        read_token(ASKING, "lin/work", text)
    assert _needs_full_sync(caught.value.body) == "foreign"


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3)), max_size=12))
def test_a_token_names_the_revisions_of_its_terminal_as_far_as_it_has_room(
    steps: list[tuple[int, int]],
) -> None:
    token, rev, named = Token(0, 0), 0, set[int]()
    for length, gap in steps:
        first, rev = rev + gap + 1, rev + gap + length
        named |= set(range(first, rev + 1))
        token = token.with_own(first, rev)
    found = {at for first, last in token.own for at in range(first, last + 1)}
    assert found <= named
    assert found == named or len(token.own) == MOST_RANGES


@pytest.mark.claim("Y6")
def test_y6_malformed_foreign_expired_and_missing_tokens_are_told_apart() -> None:
    server, phone, _ = shared("an")
    token = phone.token or ""
    assert _needs_full_sync(server.refuses(_with(server, "no token"))) == "malformed"
    assert _needs_full_sync(server.refuses(_with(server, token[:-1]))) == "malformed"
    assert _needs_full_sync(server.refuses(_with(server, token), "bo_aaaaaaaa", "bo")) == "foreign"
    assert _needs_full_sync(server.refuses(_with(server, token, "work"))) == "foreign"
    assert _needs_full_sync(server.refuses(_with(server, None))) == "no_token"
    server.passes(30 * DAY - SECOND)
    server.exchanges(_with(server, token))
    server.passes()
    assert _needs_full_sync(server.refuses(_with(server, token))) == "expired"


@pytest.mark.claim("Y6")
def test_y6_a_token_from_before_a_restore_of_the_database_is_not_continued_from() -> None:
    server, phone, tablet = shared("an", "bo", "chen")
    tablet.syncs()
    backup = server.stored.copy()
    server.passes()
    phone.deletes("an")
    phone.edits("bo", name={"full": "Bo"})
    phone.makes("dai")
    phone.syncs()
    server.stored = backup
    server.passes()
    tablet.makes("eve")
    tablet.syncs()
    assert set(tablet.holds()) == {"an", "bo", "chen", "eve"}
    assert _needs_full_sync(server.refuses(phone.command())) == "restored"
    phone.syncs()
    assert phone.holds() == tablet.holds() == server.holds()


@pytest.mark.claim("Y6")
@pytest.mark.parametrize("seen", [1, 3])
def test_y6_what_was_sent_between_pages_is_sent_again_after_a_restore_of_the_database(
    seen: int,
) -> None:
    """What a token has seen may be older than the backup, and what it has sent newer."""
    server, phone, tablet = shared("an", server=Server(Limits(page=1)))
    for number in range(5):
        tablet.makes(f"c{number}")
    tablet.syncs()
    for _ in range(seen):
        phone.exchanges()
    backup = server.stored.copy()
    server.passes()
    phone.edits("an", name={"full": "mine"})
    reply = phone.exchanges()
    assert reply is not None
    assert reply.has_more
    server.stored = backup
    server.passes()
    assert _needs_full_sync(server.refuses(phone.command())) == "restored"


@pytest.mark.claim("Y6")
def test_y6_pages_may_take_long_though_what_was_sent_between_them_is_overwritten() -> None:
    server, phone, tablet = shared("an", server=Server(Limits(page=1)))
    for number in range(5):
        tablet.makes(f"c{number}")
    tablet.syncs()
    phone.edits("an", name={"full": "mine"})
    phone.exchanges()
    tablet.syncs()
    tablet.edits("an", name={"full": "tablet's"})
    tablet.syncs()
    for _ in range(2):
        server.passes(16 * DAY)
        assert phone.exchanges() is not None
    phone.syncs()
    assert phone.holds() == server.holds()


@pytest.mark.claim("Y6")
def test_y6_after_a_full_sync_nothing_is_doubled_and_nothing_deleted_comes_back() -> None:
    server, phone, tablet = shared("an", "bo", "chen")
    tablet.edits("bo", name={"full": "Bo"})
    server.passes(31 * DAY)
    phone.syncs()
    phone.deletes("an")
    phone.syncs()
    server.passes()
    assert _needs_full_sync(server.refuses(tablet.command())) == "expired"
    all_sync([tablet, phone])
    assert set(server.holds()) == {"bo", "chen"}
    assert server.holds()["bo"]["name"] == {"full": "Bo"}
    assert phone.holds() == tablet.holds() == server.holds()
    assert server.conflicts() == []


@pytest.mark.claim("Y6")
@pytest.mark.parametrize("last", ["an entry", "a deletion", "a lost edit", "an erased entry"])
@pytest.mark.parametrize("quiet", [0, 0.9, 1, 29, 40, 100, 400])
def test_y6_a_token_is_good_for_its_30_days_however_long_the_book_stood_before(
    last: str, quiet: float
) -> None:
    server, phone, tablet = shared("an", "bo")
    laptop = Terminal(server, LAPTOP)
    if last == "a deletion":
        phone.deletes("an")
    elif last == "a lost edit":
        tablet.edits("an", name={"full": "earlier"})
    if last != "a deletion":
        server.passes()
        phone.edits("an", name={"full": "later"})
    phone.syncs()
    if last == "a lost edit":
        tablet.syncs()
    if last == "an erased entry":
        server.does(Erase(uids=("an",)))
    server.passes(quiet * DAY)
    laptop.begins()
    phone.begins()
    phone.edits("bo", kind="individual")
    phone.syncs()
    server.passes(15 * DAY)
    phone.edits("bo", kind="org")
    phone.syncs()
    server.passes(14.9 * DAY)
    reply = laptop.exchanges()
    assert reply is not None
    assert laptop.holds() == server.holds()


@pytest.mark.claim("Y6")
def test_y6_an_empty_book_is_begun_without_a_token_by_every_terminal() -> None:
    server = Server()
    phone, tablet = Terminal(server, PHONE), Terminal(server, TABLET)
    tablet.syncs()
    phone.syncs()
    phone.makes("an")
    phone.syncs()
    tablet.syncs()
    assert tablet.holds() == phone.holds() == {"an": card("an")}


def test_books_have_their_quota_and_know_nothing_of_each_other() -> None:
    server = Server(Limits(books=2))
    change = Change(uid="an", updated_at=server.now, card=card("an"))
    for book in ("main", "work"):
        server.exchanges(Exchange(book=book, changes=(change,), sent_at=server.now))
    assert set(server.holds("main")) == set(server.holds("work")) == {"an"}
    refused = server.refuses(Exchange(book="third", changes=(change,), sent_at=server.now))
    assert (refused.code, refused.details) == (ErrorCode.QUOTA_EXCEEDED, {"limit": 2})
    server.passes(timedelta(days=1))
    server.does(Exchange(changes=(change,), sent_at=server.now), "bo_aaaaaaaa", "bo")
    assert [len(server.holds(book)) for book in ("main", "work")] == [1, 1]
