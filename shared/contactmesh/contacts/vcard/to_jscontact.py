"""From content lines to a JSContact card (RFC 9555, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pydantic import ValidationError

from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.charsets import (
    UNKNOWN,
    decode,
    from_quoted_printable,
    to_quoted_printable,
)
from contactmesh.contacts.vcard.content import Head, parse_head, split_head
from contactmesh.contacts.vcard.damage import DamagedCard
from contactmesh.contacts.vcard.handlers import HANDLERS, Handler
from contactmesh.contacts.vcard.parameters import Members

Report = Callable[[int, str, str], None]
"""Called with the index of a content line, what is odd about it, and a hint."""

_heads: Final[dict[str, tuple[Head, Handler]]] = {}
_MOST_HEADS: Final = 4096
_UNICODE: Final = frozenset({None, "utf-8", "utf8", "us-ascii", "ascii"})


def _no_report(_line: int, _reason: str, _hint: str) -> None:
    return


def _structural(_build: CardBuilder, _head: Head, _value: str) -> None:
    """VERSION says how to read the card and is written anew."""


def _known_head(text: str, encoding: str) -> tuple[Head, Handler] | None:
    found = _heads.get(text)
    if found is not None:
        return found
    readable = text
    if encoding != "utf-8":
        readable = decode(text.encode(encoding), None) or text
    head = parse_head(readable)
    if head is None:
        return None
    handler = _structural if head.name == "VERSION" else HANDLERS.get(head.name, CardBuilder.keep)
    if head.quoted or head.charset not in _UNICODE:
        handler = _encoded
    if len(_heads) >= _MOST_HEADS:
        _heads.clear()
    _heads[text] = head, handler
    return head, handler


def _encoded(_build: CardBuilder, _head: Head, _value: str) -> None:
    """Stands for all properties whose value must be decoded first."""


class LineReader:
    """Reads the content lines of cards.

    Args:
        encoding: how the lines were decoded; `latin-1` stands for "bytes, one to a character".
        charset: the character set of bytes that name none and are not UTF-8, if known.
        report: told of what is odd.
    """

    def __init__(
        self, encoding: str = "utf-8", charset: str | None = None, report: Report = _no_report
    ) -> None:
        self._encoding = encoding
        self._charset = charset
        self._report = report

    def read(self, lines: Iterable[str], version: str) -> Members:
        """Return the card that content lines make, as JSON.

        Raises:
            DamagedCard: a line is no content line.
        """
        build = CardBuilder(version)
        plain = self._encoding == "utf-8"
        known = _heads
        for index, line in enumerate(lines):
            head_text, colon, value = line.partition(":")
            if '"' in head_text:
                split = split_head(line)
                if split is not None:
                    head_text, value = split
            found = known.get(head_text) if colon else None
            if found is None:
                if not line.strip():
                    continue
                found = _known_head(head_text, self._encoding) if colon else None
                if found is None:
                    raise DamagedCard(index, *_why(line))
            head, handler = found
            if plain and handler is not _encoded:
                handler(build, head, value)
            else:
                self._decoded(build, head, value, index)
        return build.finish()

    def _decoded(self, build: CardBuilder, head: Head, value: str, index: int) -> None:
        raw = value.encode(self._encoding, "surrogatepass")
        if head.quoted:
            raw = from_quoted_printable(raw)
        text = decode(raw, head.charset)
        if text is None and head.charset is None and self._charset is not None:
            text = decode(raw, self._charset)
        if text is None:
            shown = head.charset or UNKNOWN
            if not head.quoted or not value.isascii():
                value = to_quoted_printable(raw)
            build.keep_bytes(head, value, shown)
            self._report(
                index,
                f"{head.name} is in the character set {shown}, which cannot be read",
                "its bytes are kept; name the right character set to have its text",
            )
            return
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        # A line break inside a decoded value would end the line if it were written out.
        text = text.replace("\n", "\\n")
        if head.name != "VERSION":
            HANDLERS.get(head.name, CardBuilder.keep)(build, head, text)


def _why(line: str) -> tuple[str, str]:
    shown = line.strip()[:40]
    if line.startswith((":", ";")):
        return (
            f"a line has no property name: {shown!r}",
            "write the name before the colon, or delete the line",
        )
    return (
        f"a line is no property: {shown!r}",
        "put a space before it if it belongs to the line above, or delete it",
    )


def card_from(members: Members) -> Card:
    """Return the card for what was read.

    Raises:
        DamagedCard: what was read, JSPROP above all, makes no valid card.
    """
    try:
        return Card.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"])
        raise DamagedCard(
            0, f"it makes no valid card: {where}: {first['msg']}", "correct or delete its JSPROP"
        ) from error


def members_from(lines: Sequence[str], version: str) -> Members:
    """Return the card that decoded content lines make, as JSON."""
    return LineReader().read(lines, version)
