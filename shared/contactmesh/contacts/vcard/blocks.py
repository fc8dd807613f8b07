"""Cutting a stream into cards, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal

from contactmesh.contacts.vcard.lines import line_ends

_CHUNK: Final = 1 << 18
# The rarest character of a marker is its colon: what stands before it is looked at only then.
_VCARD: Final = re.compile(rb":[ \t]*[Vv][Cc][Aa][Rr][Dd]([^\r\n]*)(?=[\r\n])")
_KEYWORD: Final = re.compile(rb"[\r\n](?:\xef\xbb\xbf)?([Bb][Ee][Gg][Ii][Nn]|[Ee][Nn][Dd])[ \t]*\Z")
_USUAL_BEGIN: Final = re.compile(rb"(?:\r\n|\n)BEGIN:VCARD(?=[\r\n])")
_RETURN, _LINE_FEED = b"\r\n"
_LONGEST_KEYWORD: Final = 64
"""How far before its colon a marker may begin, with blanks before the colon."""

_BEGIN: Final = re.compile(rb"BEGIN[ \t]*:[ \t]*VCARD\Z", re.IGNORECASE)
_AGENT_BEFORE: Final = re.compile(
    rb"[\r\n](?:[A-Za-z0-9-]+\.)?AGENT[^:\r\n]*:[ \t]*\Z", re.IGNORECASE
)
_NOTHING: Final = b" \t\r\n\x00\x1a\xef\xbb\xbf"


class Block:
    """A stretch of the file.

    Args:
        kind: a whole `card`, one with no `end`, one `too large`, or text `outside` any card.
        card: the number of the card, from 1; for text outside, of the card before it.
        line: the line that the content follows, that of BEGIN, from 1.
        content: the lines between BEGIN and END, each after a line end; empty when too large.
    """

    __slots__ = ("breaks", "card", "content", "kind", "line")

    def __init__(
        self,
        kind: Literal["card", "no end", "too large", "outside"],
        card: int,
        line: int,
        content: bytes,
    ) -> None:
        self.kind = kind
        self.card = card
        self.line = line
        self.content = content
        self.breaks: int | None = None
        """How many line ends it has, if its reader has counted them: it takes long."""


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    """Read with UTF-16 made UTF-8."""
    chunk = source.read(_CHUNK)
    if _is_utf_16(chunk[:64]):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        while chunk:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
            chunk = source.read(_CHUNK)
    while chunk:
        yield chunk
        chunk = source.read(_CHUNK)


def _is_utf_16(start: bytes) -> bool:
    if start[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        return False
    text = start.decode("utf-16", "ignore")
    return text.lstrip("\ufeff \t\r\n").upper().startswith("BEGIN")


def blocks(source: BinaryIO, largest: int) -> Iterator[Block]:
    """Cut a stream into cards and what is between them.

    Args:
        source: a binary file, read once from where it stands.
        largest: how many bytes one card may have; more is skipped up to the next card.
    """
    cutter = _Cutter(largest)
    for chunk in _chunks(source):
        yield from cutter.feed(chunk)
    yield from cutter.close()


class _Cutter:
    """Holds what is not cut yet: at most one card and one chunk."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        # The line end before the first line, which every marker begins with.
        self._buffer = b"\n"
        self._searched = 0
        self._line = 0
        self._card = 0
        self._depth = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[Block]:
        self._buffer = buffer = self._buffer + chunk if self._buffer else chunk
        start = 0
        while True:
            if not self._depth and (usual := _USUAL_BEGIN.match(buffer, start)) is not None:
                start = self._searched = usual.end()
                self._pass_marker(0, begins=True)
            found = _VCARD.search(buffer, self._searched)
            if found is None:
                break
            colon, self._searched = found.span()
            begins, end = _keyword(buffer, start, colon)
            if end < 0:
                continue
            content = buffer[start:end]
            if self._depth and self._is_nested(begins, content):
                continue
            breaks = None
            if not self._skipping:
                block = self._block(begins, content, buffer[end:colon])
                if block is not None:
                    yield block
                    breaks = block.breaks
            start = self._searched
            self._pass_marker(line_ends(content) if breaks is None else breaks, begins=begins)
            rest = found[1]
            if rest and not begins and (rest := rest.strip(_NOTHING)):
                # Files whose last line has no end are joined like this by `cat`.
                if _BEGIN.match(rest):
                    self._depth = 1
                    self._card += 1
                else:
                    yield Block("outside", self._card, self._line, rest)
        self._buffer = buffer[start:]
        self._searched = self._last_line(self._searched - start)
        if len(self._buffer) > self._largest:
            yield from self._skip()

    def _pass_marker(self, breaks: int, *, begins: bool) -> None:
        """Count the lines of what was cut, and that of the marker."""
        self._line += 1 + breaks
        self._skipping = False
        self._depth = 1 if begins else 0
        self._card += begins

    def _last_line(self, searched: int) -> int:
        """Where to search on: a marker is found only when its line is complete."""
        buffer = self._buffer
        last = max(buffer.rfind(b"\n", searched), buffer.rfind(b"\r", searched), searched)
        return _before_returns(buffer, searched, last)

    def close(self) -> Iterator[Block]:
        if self._buffer.strip(_NOTHING):
            # The last line may have no end.
            yield from self.feed(b"\n")
        if self._skipping:
            return
        if self._depth:
            yield Block("no end", self._card, self._line, self._buffer)
        elif self._buffer.strip(_NOTHING):
            yield Block("outside", self._card, self._line + 1, self._buffer)

    def _is_nested(self, begins: bool, content: bytes) -> bool:
        """Whether a marker belongs to the card inside an AGENT (RFC 2426, section 3.5.4)."""
        if begins and self._depth and not self._skipping and _AGENT_BEFORE.search(content[-256:]):
            self._depth += 1
            return True
        if not begins and self._depth > 1:
            self._depth -= 1
            return True
        return False

    def _block(self, begins: bool, content: bytes, marker: bytes) -> Block | None:
        if self._depth:
            return Block("no end" if begins else "card", self._card, self._line, content)
        if content.strip(_NOTHING) or not begins:
            return Block("outside", self._card, self._line + 1, content or marker)
        return None

    def _skip(self) -> Iterator[Block]:
        if not self._skipping:
            kind: Literal["too large", "outside"] = "too large" if self._depth else "outside"
            yield Block(kind, self._card, self._line, b"")
        self._skipping = True
        self._line += line_ends(self._buffer[: self._searched])
        self._buffer = self._buffer[self._searched :]
        self._searched = 0
        if len(self._buffer) > self._largest:
            self._buffer = b""


def _keyword(buffer: bytes, start: int, colon: int) -> tuple[bool, int]:
    """Whether BEGIN stands before a colon, and where the line end before it begins; else -1."""
    if buffer.endswith(b"\nEND", start, colon):
        return False, _before_returns(buffer, start, colon - 4)
    before = max(start, colon - _LONGEST_KEYWORD)
    keyword = _KEYWORD.search(buffer[before:colon])
    if keyword is None:
        return False, -1
    end = before + keyword.start()
    if buffer[end] == _LINE_FEED:
        end = _before_returns(buffer, start, end)
    return len(keyword[1]) == len(b"BEGIN"), end


def _before_returns(buffer: bytes, start: int, line_feed: int) -> int:
    """Where the line end begins that may have carriage returns before its line feed."""
    while line_feed > start and buffer[line_feed - 1] == _RETURN:
        line_feed -= 1
    return line_feed
