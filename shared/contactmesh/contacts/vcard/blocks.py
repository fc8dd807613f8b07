"""Cutting a stream into cards, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal

_CHUNK: Final = 1 << 18
_MARKER: Final = re.compile(
    rb"^(?:\xef\xbb\xbf)?(BEGIN|END)[ \t]*:[ \t]*VCARD([^\n]*)\n", re.IGNORECASE | re.MULTILINE
)
_AGENT_BEFORE: Final = re.compile(
    rb"(?:^|\n)(?:[A-Za-z0-9-]+\.)?AGENT[^:\n]*:[ \t]*\n\Z", re.IGNORECASE
)
_NOTHING: Final = b" \t\n\x00\x1a\xef\xbb\xbf"
_MANY_CR: Final = re.compile(rb"\r+\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the file.

    Args:
        kind: a whole `card`, one with no `end`, one `too large`, or text `outside` any card.
        card: the number of the card, from 1; for text outside, of the card before it.
        line: the line the content begins on, from 1.
        content: the lines between BEGIN and END, ending in a line feed; empty when too large.
    """

    kind: Literal["card", "no end", "too large", "outside"]
    card: int
    line: int
    content: bytes


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    """Read with line ends made line feeds, and UTF-16 made UTF-8."""
    first = source.read(_CHUNK)
    wide: codecs.IncrementalDecoder | None = None
    if first[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        wide = codecs.getincrementaldecoder("utf-16")("replace")
    held = b""
    chunk = first
    while chunk:
        if wide is not None:
            chunk = wide.decode(chunk).encode("utf-8", "surrogatepass")
        chunk = held + chunk
        held = b""
        if b"\r" in chunk:
            if chunk.endswith(b"\r"):
                held = b"\r"
                chunk = chunk[:-1]
            if b"\r\r" in chunk:
                chunk = _MANY_CR.sub(b"\n", chunk)
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield chunk
        chunk = source.read(_CHUNK)
    yield b"\n"


def blocks(source: BinaryIO, largest: int) -> Iterator[Block]:
    """Cut a stream into cards and what is between them.

    Args:
        source: a binary file, read once from where it stands.
        largest: how many bytes one card may have; more is skipped up to the next card.
    """
    buffer = b""
    line = 1
    card = 0
    depth = 0
    skipping = False
    searched = 0
    for chunk in _chunks(source):
        buffer += chunk
        start = 0
        while (marker := _MARKER.search(buffer, searched)) is not None:
            content = buffer[start : marker.start()]
            begins = marker[1].upper() == b"BEGIN"
            searched = marker.end()
            if begins and depth and not skipping and _AGENT_BEFORE.search(content[-256:]):
                depth += 1
                continue
            if not begins and depth > 1:
                depth -= 1
                continue
            if not skipping:
                if depth:
                    yield Block("no end" if begins else "card", card, line, content)
                elif content.strip(_NOTHING) or not begins:
                    yield Block("outside", card, line, content or buffer[marker.start() : searched])
            line += buffer.count(b"\n", start, searched)
            start = searched
            skipping = False
            depth = 1 if begins else 0
            card += begins
            if not begins and marker[2].strip(_NOTHING):
                yield Block("outside", card, line - 1, marker[2])
        buffer = buffer[start:]
        searched = max(buffer.rfind(b"\n") + 1, searched - start)
        if len(buffer) > largest:
            if not skipping:
                yield Block("too large" if depth else "outside", card, line, b"")
            skipping = True
            line += buffer.count(b"\n", 0, searched)
            buffer = buffer[searched:]
            searched = 0
            if len(buffer) > largest:
                buffer = b""
    if not skipping and depth:
        yield Block("no end", card, line, buffer)
    elif not skipping and buffer.strip(_NOTHING):
        yield Block("outside", card, line, buffer)
