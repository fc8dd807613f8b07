"""From the physical lines of one card to its content lines (RFC 6350, section 3.2)."""

from __future__ import annotations

import re
from typing import Final

_LONG: Final = 8192
_VERSION: Final = re.compile(rb"\nVERSION[^:\n]*:[ \t]*([0-9.]+)", re.IGNORECASE)
_QUOTED: Final = b"QUOTED-PRINTABLE"
_QUOTED_HEAD: Final = re.compile(rb"[^:]*[;=]\"?QUOTED-PRINTABLE", re.IGNORECASE)
_BASE64_HEAD: Final = re.compile(rb"[^:]*;(?:ENCODING=)?\"?(?:BASE64|B)\"?[;:]", re.IGNORECASE)
_BASE64_LINE: Final = re.compile(rb"[A-Za-z0-9+/]+={0,2}[ \t]*\Z")
_HEX: Final = re.compile(rb"[0-9A-Fa-f]{2}")
_AGENT: Final = re.compile(rb"(?:[A-Za-z0-9-]+\.)?AGENT[^:]*:[ \t]*\Z", re.IGNORECASE)
_BEGIN: Final = re.compile(rb"BEGIN[ \t]*:[ \t]*VCARD[ \t]*\Z", re.IGNORECASE)
_LONE_RETURN: Final = re.compile(rb"\r(?!\r?\n)")
_END: Final = re.compile(rb"END[ \t]*:[ \t]*VCARD[ \t]*\Z", re.IGNORECASE)


def version_of(content: bytes) -> str:
    """Return the vCard version of a card, `3.0` when it does not say."""
    match = _VERSION.search(content)
    return match[1].decode("ascii") if match is not None else "3.0"


def with_line_feeds(content: bytes) -> bytes:
    """Make line feeds of CR, CRLF, and the CRCRLF of files converted twice."""
    if b"\r" not in content:
        return content
    if _LONE_RETURN.search(content) is None:
        # Taking out one byte is several times as fast as replacing two.
        return content.replace(b"\r", b"")
    content = content.replace(b"\r\r\n", b"\n")
    ended = content.endswith((b"\r", b"\n"))
    return b"\n".join(content.splitlines()) + (b"\n" if ended else b"")


def line_ends(content: bytes) -> int:
    """Return how many line ends there are."""
    return with_line_feeds(content).count(b"\n")


def content_lines(content: bytes) -> tuple[list[str], str, int]:
    """Return a card's content lines, unfolded, its version, and how many line ends it has.

    Version 2.1 folds at a space and keeps it; the later ones insert it. A fold may stand inside a
    character.

    Args:
        content: the lines between BEGIN and END, each after its line end.

    Raises:
        UnicodeDecodeError: it is no UTF-8.
    """
    version = version_of(content)
    start = content[:3]
    end = start if start == b"\r\r\n" else b"\r\n" if start[:2] == b"\r\n" else b"\n"
    lines, breaks, is_even = _unfolded(content, end, version)
    if not is_even:
        content = with_line_feeds(content)
        version = version_of(content)
        lines, breaks, _ = _unfolded(content, b"\n", version)
    return lines, version, breaks


def _unfolded(content: bytes, end: bytes, version: str) -> tuple[list[str], int, bool]:
    """Return lines, line ends, and whether all line ends are as given.

    Embedded media are thousands of folds: with these, the line ends go in the same step.
    """
    keep = version == "2.1"
    breaks = 0
    if keep:
        content, breaks = _joined(content, end)
    parts = content.split(end + b" ")
    if len(parts) > 1:
        breaks += len(parts) - 1
        content = (b" " if keep else b"").join(parts)
    if b"\t" in content:
        parts = content.split(end + b"\t")
        breaks += len(parts) - 1
        content = (b"\t" if keep else b"").join(parts)
    text = content.decode()
    lines = _cut(text, end.decode())
    rest = "".join(lines)
    is_even = "\r" not in rest and "\n" not in rest
    return lines, breaks + len(lines) - 1, is_even


def _cut(text: str, end: str) -> list[str]:
    """Split at line ends. In long text they are rare: finding each is faster than looking on."""
    if len(text) < _LONG:
        return text.split(end)
    lines: list[str] = []
    start = 0
    while (found := text.find(end[0], start)) >= 0:
        if not text.startswith(end, found):
            return text.split(end)
        lines.append(text[start:found])
        start = found + len(end)
    lines.append(text[start:])
    return lines


def _joined(content: bytes, end: bytes) -> tuple[bytes, int]:
    """Take out the quoted-printable soft line breaks of a card of version 2.1, and count them."""
    parts: list[bytes] = []
    start = 0
    found = content.find(_QUOTED)
    while found >= 0:
        line_end = content.find(end, found)
        line_start = content.rfind(b"\n", 0, found)
        if b":" not in content[line_start:found]:
            while line_end > 0 and content[line_end - 1 : line_end] == b"=":
                parts.append(content[start : line_end - 1])
                start = line_end + len(end)
                line_end = content.find(end, start)
        if line_end < 0:
            break
        found = content.find(_QUOTED, line_end)
    if not parts:
        return content, 0
    parts.append(content[start:])
    return b"".join(parts), len(parts) - 1


def numbered_lines(content: bytes, version: str) -> list[tuple[int, bytes]]:
    """Return a card's content lines, each with the physical line it begins on, from 0.

    Besides folding this joins what follows a quoted-printable soft line break, base64 that goes
    on without a space in front, and the card inside an AGENT, whose line breaks are escaped.
    """
    result: list[tuple[int, list[bytes]]] = []
    keep_space = version == "2.1"
    soft = base64 = False
    depth = 0
    for number, line in enumerate(content.split(b"\n")):
        parts = result[-1][1] if result else None
        if depth and parts is not None:
            depth += _BEGIN.match(line) is not None
            depth -= _END.match(line) is not None
            parts.append(rb"\n" + line)
        elif parts is not None and _BEGIN.match(line) and _AGENT.match(b"".join(parts)):
            depth = 1
            parts.append(line)
        elif soft and parts is not None and not _is_fold(line, keep_space):
            parts[-1] = parts[-1].rstrip(b" \t")[:-1]
            parts.append(line)
            soft = line.rstrip(b" \t").endswith(b"=")
        elif line[:1] in {b" ", b"\t"} and parts is not None:
            parts.append(line if keep_space else line[1:])
            soft = soft and line.rstrip(b" \t").endswith(b"=")
        elif base64 and parts is not None and _BASE64_LINE.match(line):
            parts.append(line)
        else:
            result.append((number, [line]))
            base64 = _BASE64_HEAD.match(line) is not None
            soft = line.rstrip(b" \t").endswith(b"=") and _QUOTED_HEAD.match(line) is not None
    return [(number, b"".join(parts)) for number, parts in result]


def _is_fold(line: bytes, keep_space: bool) -> bool:
    """Whether a line after one that ends in `=` was folded between the `=` and its digits."""
    return not keep_space and line[:1] in {b" ", b"\t"} and _HEX.match(line, 1) is not None
