"""What is odd about a card that could be read: what no standard allows, or no phone can dial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from contactmesh.contacts.numbers import NumberKind, read_number
from contactmesh.contacts.vcard.content import Head, parse_head, split_head
from contactmesh.contacts.vcard.parameters import Members

_VERSIONS: Final = frozenset({"2.1", "3.0", "4.0"})
_NEEDED: Final = {"2.1": ("N",), "3.0": ("FN", "N"), "4.0": ("FN",)}

Finding = tuple[int, str, str]


def oddities(lines: Sequence[str], members: Members, region: str | None) -> Iterator[Finding]:
    """Yield what is odd: the index of the content line, what it is, and what to do.

    Args:
        lines: the content lines.
        members: the card that was read from them.
        region: the country of phone numbers without a country code.
    """
    heads: dict[str, tuple[int, Head, str]] = {}
    version = ""
    for index, line in enumerate(lines):
        parts = split_head(line)
        head = parse_head(parts[0]) if parts is not None else None
        if parts is None or head is None:
            continue
        heads.setdefault(head.name, (index, head, parts[1]))
        if head.name == "VERSION":
            version = parts[1].strip()
        elif version in {"3.0", "4.0"} and _has_bare_parameter(parts[0]):
            yield index, f"{head.name} has parameters as version 2.1 writes them", "write TYPE=…"
        if head.name == "TEL":
            yield from _number(index, parts[1], region)
    yield from _structure(heads, version)
    for prop in cast("list[list[str]]", members.get("vCardProps", [])):
        if prop[0] == "jsprop" and "JSPROP" in heads:
            yield (
                heads["JSPROP"][0],
                "a JSPROP does not fit the card, and is kept as it is",
                "correct its JSPTR and its JSON, or delete it",
            )


def _structure(heads: dict[str, tuple[int, Head, str]], version: str) -> Iterator[Finding]:
    if "VERSION" not in heads:
        yield 0, "VERSION is missing; it is read as 3.0", "say which version it is"
    elif version not in _VERSIONS:
        yield heads["VERSION"][0], f"there is no version {version!r}", "write 3.0 or 4.0"
    for name in _NEEDED.get(version, ()):
        if name not in heads:
            yield 0, f"{name} is missing", f"add it: version {version} demands it"
    if "FN" in heads and not heads["FN"][2].strip():
        yield heads["FN"][0], "FN is empty; the name shown is derived", "write the full name"


def _number(index: int, text: str, region: str | None) -> Iterator[Finding]:
    number = read_number(text.replace("\\,", ",").replace("\\;", ";"), region)
    if number.kind is NumberKind.OTHER:
        yield index, f"TEL holds no number: {text[:40]!r}", "correct or delete it"
    elif number.doubtful:
        yield (
            index,
            f"no numbering plan lists the number {text[:40]!r}",
            "check it; new ranges are listed late",
        )
    elif number.kind is NumberKind.LOCAL and region is not None:
        yield (
            index,
            f"the number {text[:40]!r} cannot be dialled from elsewhere",
            "write it with its country and area code",
        )


def _has_bare_parameter(head: str) -> bool:
    return '"' not in head and any(part and "=" not in part for part in head.split(";")[1:])
