"""From the bytes of a value to its text (RFC 2045 quoted-printable, vCard 2.1 CHARSET)."""

from __future__ import annotations

import binascii
import codecs
from typing import Final

UNKNOWN: Final = "unknown-8bit"
"""The name for bytes in an unknown character set (RFC 1428)."""

_ALIASES: Final = {"macintosh": "mac_roman", "gb2312": "gb18030", "gbk": "gb18030"}
"""Names that Python lacks, or reads too narrowly: GB18030 holds all of GBK and GB2312."""


def decoder_for(charset: str) -> str | None:
    """Return Python's name for a character set, or None when it has none."""
    try:
        info = codecs.lookup(_ALIASES.get(charset.lower(), charset))
    except (LookupError, ValueError):
        return None
    # Python also lists transformations such as `rot13` and `zlib`, which are no character sets.
    return info.name if getattr(info, "_is_text_encoding", True) else None


def from_quoted_printable(text: bytes) -> bytes:
    """Return the bytes that quoted-printable text stands for."""
    return binascii.a2b_qp(text)


def to_quoted_printable(raw: bytes) -> str:
    """Return bytes as quoted-printable on one line."""
    return "".join(
        chr(byte) if 33 <= byte <= 126 and byte != 61 else f"={byte:02X}" for byte in raw
    )


def decode(raw: bytes, charset: str | None) -> str | None:
    """Return the text that bytes stand for, or None when that cannot be known.

    Args:
        raw: the bytes of a value.
        charset: the character set that the card names; None means UTF-8.
    """
    name = "utf-8" if charset is None else decoder_for(charset)
    if name is None:
        return None
    try:
        return raw.decode(name)
    except UnicodeDecodeError:
        return None
