"""From content lines to a JSContact card (RFC 9555, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pydantic import ValidationError

from contactmesh.contacts.identity import derived_uid
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.charsets import (
    UNKNOWN,
    decode,
    decoder_for,
    from_quoted_printable,
    to_quoted_printable,
)
from contactmesh.contacts.vcard.content import Head, parse_head, split_head, unescape
from contactmesh.contacts.vcard.damage import DamagedCard
from contactmesh.contacts.vcard.handlers import Handler, handler_for, simple
from contactmesh.contacts.vcard.parameters import Members, members_of
from contactmesh.contacts.vcard.properties import FIRST_KEYS, MANY, SIMPLE

Report = Callable[[int, str, str], None]
"""Called with the index of a content line, what is odd about it, and a hint."""

_MOST_HEADS: Final = 4096
_LONGEST_HEAD: Final = 256
_UNICODE: Final = frozenset({None, "utf-8", "utf8", "us-ascii", "ascii"})

Plan = tuple[Handler | None, Head, str, str, tuple[str, ...], str, Members | None]
"""What to do with the values of a head.

Most heads make one entry of one value: the entry's member for it, how its key begins, the first
such keys, the card's map, and the other members if there are any. All else has a handler.
"""

_plans: Final[dict[str, Plan]] = {}


class NeedsCare(Exception):
    """The lines go on without being folded: they must be joined before they can be read."""


def _structural(_build: CardBuilder, _head: Head, _value: str) -> None:
    """VERSION says how to read the card and is written anew."""


def _encoded(build: CardBuilder, head: Head, value: str) -> None:
    if head.quoted and value.rstrip(" \t").endswith("="):
        raise NeedsCare
    _decode(build, head, value, value.encode(), None)


def _nested(_build: CardBuilder, _head: Head, _value: str) -> None:
    raise NeedsCare


_STRUCTURE: Final[dict[str, Handler]] = {"VERSION": _structural, "BEGIN": _nested}


def _plan(head: Head) -> Plan:
    handler = _STRUCTURE.get(head.name)
    if handler is None and (head.quoted or head.charset not in _UNICODE):
        handler = _encoded
    if handler is None:
        handler = handler_for(head)
    if handler is simple and head.group is None and "altid" not in head.params:
        known = SIMPLE[head.name]
        others = members_of(head, known)
        if head.key is None:
            keys = FIRST_KEYS[known.prefix]
            return None, head, known.member, known.prefix, keys, known.collection, others or None
    if handler is CardBuilder.keep:
        handler = CardBuilder.keeper(head)
    return handler, head, "", "", (), "", None


def _planned(line: str, lines: Sequence[str]) -> tuple[Plan, str] | None:
    """Take a line apart whose head is not known yet; None for an empty line."""
    parts = split_head(line)
    if parts is None:
        if not line.strip():
            return None
        raise DamagedCard(lines.index(line), *_why(line))
    head = parse_head(parts[0])
    if head is None:
        raise DamagedCard(lines.index(line), *_why(line))
    plan = _plan(head)
    if _ends_at_first_colon(parts[0]) and len(parts[0]) <= _LONGEST_HEAD:
        if len(_plans) >= _MOST_HEADS:
            _plans.clear()
        _plans[parts[0]] = plan
    return plan, parts[1]


def _ends_at_first_colon(head: str) -> bool:
    """Whether any line that has this before its first colon has this head.

    A head with a colon in quotes would be looked up by its first half only, and one whose quotes
    do not pair would be found for the first half of another.
    """
    return ":" not in head and ('"' not in head or ('\\"' not in head and head.count('"') % 2 == 0))


def read_lines(lines: Sequence[str], version: str) -> CardBuilder:
    """Return the card that content lines make.

    Raises:
        DamagedCard: a line is no content line.
        NeedsCare: the lines must be joined first.
    """
    build = CardBuilder(version)
    maps, counts, plans = build.maps, build.counts, _plans
    for line in lines:
        head_text, colon, value = line.partition(":")
        plan = plans.get(head_text)
        if plan is None or not colon:
            if not line:
                continue
            planned = _planned(line, lines)
            if planned is None:
                continue
            plan, value = planned
        handler, head, member, prefix, keys, collection, others = plan
        if handler is not None:
            handler(build, head, value)
            continue
        # Most lines: one value, which becomes one entry. Written out for speed.
        if "\\" in value:
            value = unescape(value)
        entry: Members
        if others is None:
            entry = {member: value}
        else:
            entry = others.copy()
            entry[member] = value
        entries = maps.get(collection)
        if entries is None:
            maps[collection] = entries = {}
        count = counts.get(prefix, 0)
        if count < MANY and (key := keys[count]) not in entries:
            counts[prefix] = count + 1
            entries[key] = entry
        else:
            build.insert(entries, prefix, entry, head)
    build.finish()
    return build


def read_bytes(
    lines: Iterable[bytes], version: str, charset: str | None, report: Report
) -> CardBuilder:
    """Return the card that joined lines make, each decoded by what it says of itself.

    Args:
        lines: content lines, unfolded.
        version: the vCard version.
        charset: the character set of values that name none and are not UTF-8, if known.
        report: told of what is odd.

    Raises:
        DamagedCard: a line is no content line.
    """
    build = CardBuilder(version)
    for index, raw_line in enumerate(lines):
        line = raw_line.decode("latin-1")
        parts = split_head(line)
        if parts is None:
            if not line.strip():
                continue
            raise DamagedCard(index, *_why(decode(raw_line, None) or line))
        raw_head, raw_value = (part.encode("latin-1") for part in parts)
        head = parse_head(decode(raw_head, None) or parts[0])
        if head is None:
            raise DamagedCard(index, *_why(decode(raw_line, None) or line))
        if not _decode(build, head, parts[1], raw_value, charset):
            named = head.charset or "utf-8"
            why = "is not" if decoder_for(named) else "is in an unknown character set,"
            report(
                index,
                f"{head.name} {why} {named}",
                "its bytes are kept; name the right character set to have its text",
            )
    build.finish()
    return build


def _decode(build: CardBuilder, head: Head, value: str, raw: bytes, charset: str | None) -> bool:
    """Hand on a value as text; False when only its bytes could be kept."""
    if head.quoted:
        raw = from_quoted_printable(raw)
    text = decode(raw, head.charset)
    if text is None and head.charset is None and charset is not None:
        text = decode(raw, charset)
    if charset is not None or head.charset not in _UNICODE:
        # Some character sets can say half a surrogate pair, which no card may have.
        build.checked = False
    if text is None:
        if not head.quoted or not value.isascii():
            value = to_quoted_printable(raw)
        build.keep_bytes(head, value, head.charset or UNKNOWN)
        return False
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # A line break inside a decoded value would end the line if it were written out.
    text = text.replace("\n", "\\n")
    if head.name != "VERSION":
        handler_for(head)(build, head, text)
    return True


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


def card_from(build: CardBuilder) -> Card:
    """Return the card for what was read.

    Raises:
        DamagedCard: a JSPROP makes no valid card.
    """
    if build.checked:
        return Card.from_checked(build.card)
    if "uid" not in build.card:
        build.card["uid"] = derived_uid(build.card)
    try:
        return Card.model_validate(build.card)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"])
        raise DamagedCard(
            0, f"it makes no valid card: {where}: {first['msg']}", "correct or delete its JSPROP"
        ) from error
