"""From a card's content lines to its octets (RFC 6350, sections 3.1 and 3.2)."""

from __future__ import annotations

import re
from struct import Struct
from typing import Final

_LONGEST_LINE: Final = 75
_ROOM: Final = _LONGEST_LINE - 1
"""What the next ones have room for besides the space."""

_FOLD: Final = b"\r\n "
_MANY_LINES: Final = Struct(f"{_ROOM}s" * 32)
_LONG: Final = 4096
_STARTS: Final = {
    version: f"BEGIN:VCARD\r\nVERSION:{version}".encode() for version in ("3.0", "4.0")
}
UNWRITABLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_WITH_CONTROLS_ZERO: Final = bytes(
    0 if UNWRITABLE.match(chr(octet)) else octet for octet in range(256)
)


def long_lines(lines: list[str]) -> list[str]:
    """Return the lines that are so long that each pass over them counts: embedded media."""
    return [line for line in lines if len(line) > _LONG]


def clean(lines: list[str], long: list[str]) -> bool:
    """Leave out the characters that no line can hold, and return whether there were none."""
    short = [line for line in lines if len(line) <= _LONG] if long else lines
    if _is_writable("".join(short)) and not any(map(_may_end_early, long)):
        return True
    are_clean = True
    for index, line in enumerate(lines):
        # Of long ones, what could end the line early is found much faster.
        doubtful = len(line) <= _LONG or _may_end_early(line)
        if doubtful and UNWRITABLE.search(line) is not None:
            lines[index] = UNWRITABLE.sub("", line)
            are_clean = False
    return are_clean


def _is_writable(text: str) -> bool:
    """Whether a text is known to have no character that no line can hold."""
    if text.isascii():
        # Looking for one octet in a copy takes a quarter of the time of asking for each what it is.
        return 0 not in text.encode().translate(_WITH_CONTROLS_ZERO)
    return text.isprintable()


def _may_end_early(line: str) -> bool:
    """Whether a long line may have a character that ends it before its end."""
    return "\n" in line or "\r" in line or not line.isascii()


def octets(lines: list[str], long: list[str], version: str) -> bytes:
    """Return the octets of the card with these content lines, folded at 75 octets."""
    parts: list[bytes] = []
    start = 0
    for line in long:
        at = lines.index(line, start)
        if at > start:
            parts.append(_folded(lines[start:at]))
        parts.append(_folded_long(line))
        start = at + 1
    if start < len(lines):
        parts.append(_folded(lines[start:] if start else lines))
    return b"\r\n".join([_STARTS[version], *parts, b"END:VCARD\r\n"])


def _folded(lines: list[str]) -> bytes:
    text = "\r\n".join([line if len(line) <= _LONGEST_LINE else fold(line) for line in lines])
    if text.isascii():
        return text.encode()
    # Lines that are not too long as characters may be so as octets.
    return "\r\n".join(map(fold, lines)).encode("utf-8", "replace")


def fold(line: str) -> str:
    """Fold a line so that none is longer than 75 octets and no character is split."""
    if not line.isascii():
        return _FOLD.join(_cut(line.encode("utf-8", "replace"))).decode()
    if len(line) <= _LONGEST_LINE:
        return line
    first = line[:_LONGEST_LINE]
    if len(line) <= _LONGEST_LINE + _ROOM:
        return f"{first}\r\n {line[_LONGEST_LINE:]}"
    rest = [line[at : at + _ROOM] for at in range(_LONGEST_LINE, len(line), _ROOM)]
    return "\r\n ".join([first, *rest])


def _cut(octets: bytes) -> list[bytes]:
    """Cut where no character is split."""
    parts = []
    start = 0
    room = _LONGEST_LINE
    while len(octets) - start > room:
        end = start + room
        while octets[end] & 0xC0 == 0x80:
            end -= 1
        parts.append(octets[start:end])
        start = end
        room = _ROOM
    return [*parts, octets[start:]]


def _folded_long(line: str) -> bytes:
    """Fold what is hundreds of lines: cut by C, many at a time, in a third of the time."""
    octets = line.encode("utf-8", "replace")
    if not line.isascii():
        return _FOLD.join(_cut(octets))
    many = len(octets) - (len(octets) - _LONGEST_LINE) % _MANY_LINES.size
    whole = memoryview(octets)[_LONGEST_LINE:many]
    parts = [octets[:_LONGEST_LINE], *map(_FOLD.join, _MANY_LINES.iter_unpack(whole))]
    parts += [octets[at : at + _ROOM] for at in range(many, len(octets), _ROOM)]
    return _FOLD.join(parts)
