"""Where a terminal's next exchange goes on (rows Y3, Y6)."""

import struct
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.deciding.sealing import NotSealedHere, seal, unseal
from sync_service.domain.documents import Book
from sync_service.domain.state import Asking
from sync_service.domain.times import micros, span

_PURPOSE: Final = ("sync",)
_OWNER_BYTES: Final = 8
_HEAD: Final = struct.Struct(f">{_OWNER_BYTES}sQQQQ")
_RANGE: Final = struct.Struct(">QQ")
MOST_RANGES: Final = 4
"""How many ranges of its own revisions a token has room for: it is at most 200 characters."""


@dataclass(frozen=True, slots=True)
class Token:
    """What a token holds; times are in microseconds.

    Attributes:
        rev: the terminal has seen every entry up to this revision.
        issued: when it was given.
        synced: the end of the exchange that gave it, 0 where others may have synced since the
            terminal's last sync: where it was a listing, and where something was left of what
            either side had to send.
        sent_all: when the terminal last said that it had sent all its changes: those that follow
            were made later. 0 where it has not.
        own: revisions after `rev` that this terminal's own exchanges wrote, first and last.
    """

    rev: int
    issued: int
    synced: int = 0
    sent_all: int = 0
    own: tuple[tuple[int, int], ...] = ()

    def vouched(self, since: int) -> set[int]:
        """The revisions that a database has given if it has given this token.

        Args:
            since: of the terminal's own, those up to then may be forgotten by now.
        """
        return {self.rev, *(last for _, last in self.own if last > since)}

    def with_own(self, first: int, last: int) -> "Token":
        """The token with more revisions of its own; without room, the oldest are given again."""
        own = [*self.own, (first, last)]
        if self.own and self.own[-1][1] + 1 >= first:
            own[-2:] = [(self.own[-1][0], last)]
        return replace(self, own=tuple(own[-MOST_RANGES:]))


def write_token(key: bytes, owner: str, token: Token) -> str:
    """A token as the terminal gets it."""
    head = _HEAD.pack(_mark(owner), token.rev, token.issued, token.synced, token.sent_all)
    return seal(key, _PURPOSE, head + b"".join(_RANGE.pack(*one) for one in token.own))


def read_token(asking: Asking, owner: str, text: str) -> Token:
    """A token that a terminal sent back. Whether the database knows its revision is not asked.

    Raises:
        Refusal: `full_sync_required` with `reason`: `malformed`, `foreign` or `expired`.
    """
    try:
        content = unseal(asking.key, _PURPOSE, text)
    except NotSealedHere as error:
        raise full_sync("malformed") from error
    mark, rev, issued, synced, sent_all = _HEAD.unpack_from(content)
    if mark != _mark(owner):
        raise full_sync("foreign")
    if micros(asking.now) - issued > span(asking.limits.kept):
        raise full_sync("expired")
    own = tuple((first, last) for first, last in _RANGE.iter_unpack(content[_HEAD.size :]))
    return Token(rev, issued, synced, sent_all, own)


def known_since(asking: Asking) -> int:
    """The revision after which each one that was given is that of an entry or a version."""
    return asking.received - span(asking.limits.kept)


def listing_token(key: bytes, book: Book, now: int) -> str:
    """The token of a listing: it has seen what stands, and no exchange has ended with it."""
    return write_token(key, book.owner, Token(book.rev, now))


def full_sync(reason: str) -> Refusal:
    """The one answer to a token that cannot be continued from, or that is missing."""
    return Refusal(
        ErrorCode.FULL_SYNC_REQUIRED,
        "This token cannot be continued from. List the book, and go on with the token of the "
        "listing.",
        reason,
        reason=reason,
    )


def _mark(owner: str) -> bytes:
    return sha256(owner.encode()).digest()[:_OWNER_BYTES]
