"""The exchange: what changed on the terminal, and what changed on the server (rows Y1-Y6)."""

from dataclasses import replace

from contactmesh.contracts.sync.commands import Exchange, Exchanged
from contactmesh.contracts.sync.records import Outcome
from contactmesh.deciding.decision import Decision
from sync_service.domain.documents import Book
from sync_service.domain.guarding import check_deletions, with_deletions
from sync_service.domain.paging import Room, unseen
from sync_service.domain.state import Asking, Page, State
from sync_service.domain.taking import Taking
from sync_service.domain.tokens import Token, full_sync, known_since, read_token, write_token
from sync_service.domain.writing import Writing


def exchange(state: State, asking: Asking, command: Exchange) -> Decision:
    """Take a terminal's changes over, each by itself, and give it what it has not seen."""
    book = state.book(asking, command.book)
    token = _token(state, asking, book, command)
    check_deletions(state, book, command, received=asking.received)
    room = Room(asking.limits.reply_bytes)
    writing = Writing(state, asking, book)
    taking = Taking(state, asking, command, token, writing, room)
    results = tuple(taking.take(change) for change in command.changes)
    if writing.book.rev > book.rev:
        token = token.with_own(book.rev + 1, writing.book.rev)
    given = unseen(state, book.owner, token, limit=asking.limits.page, room=room)
    ended = replace(
        with_deletions(
            writing.book,
            taking.deleted,
            received=asking.received,
            confirmed=command.confirm_deletions,
        ),
        synced=max(asking.received, book.synced + 1),
        synced_by=asking.terminal_id,
    )
    state.put_book(ended)
    if command.sent_all and Outcome.REJECTED not in {result.outcome for result in results}:
        # What was rejected may be sent again as it was made.
        token = replace(token, sent_all=asking.received, synced=book.synced)
    following = _following(asking, token, book, ended, given.through)
    exchanged = Exchanged(
        results=results,
        changes=given.entries,
        token=write_token(asking.key, book.owner, following),
        has_more=given.through is not None,
        own_card_uid=ended.own_card_uid,
    )
    return Decision(exchanged, tuple(writing.told))


def _token(state: State, asking: Asking, book: Book, command: Exchange) -> Token:
    """Where the terminal goes on from; without a token only an empty book is begun.

    Raises:
        Refusal: `full_sync_required` with `reason`.
    """
    if command.token is None:
        if book.rev:
            raise full_sync("no_token")
        state.pages.setdefault((book.owner, 0), Page())
        return Token(rev=0, issued=asking.received, synced=book.synced)
    token = read_token(asking, book.owner, command.token)
    stood = {0, book.rev, *(rev for rev, _ in book.stood)}
    asked = token.vouched(known_since(asking)) - stood
    if not all((book.owner, rev) in state.known for rev in asked):
        # What this terminal has seen, or sent, a database that was restored has lost.
        raise full_sync("restored")
    return token


def _following(
    asking: Asking, token: Token, before: Book, book: Book, through: int | None
) -> Token:
    """The token that covers what the terminal has been given, and no more."""
    if through is None:
        # Where others had synced before, none of a sync's exchanges is alone until it has ended.
        synced = book.synced if token.synced == before.synced else 0
        return Token(book.rev, asking.received, synced, token.sent_all)
    own = tuple(one for one in token.own if one[1] > through)
    return Token(through, asking.received, 0, token.sent_all, own)
