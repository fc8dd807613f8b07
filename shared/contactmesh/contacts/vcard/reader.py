"""Reading vCard files of any version, card by card."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from contactmesh.contacts.display import name_shown
from contactmesh.contacts.identity import derived_uid
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.limits import DEFAULT_LIMITS, CardLimits
from contactmesh.contacts.vcard.blocks import Block, blocks
from contactmesh.contacts.vcard.builder import CardBuilder
from contactmesh.contacts.vcard.conformance import oddities
from contactmesh.contacts.vcard.damage import Damage, DamagedCard, Oddity
from contactmesh.contacts.vcard.lines import (
    content_lines,
    numbered_lines,
    version_of,
    with_line_feeds,
)
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.register import Holder, UidRegister
from contactmesh.contacts.vcard.to_jscontact import (
    NeedsCare,
    card_from,
    read_bytes,
    read_lines,
)

_NO_CARD = {
    "no end": ("END:VCARD is missing", "add it after the last line of the card"),
    "too large": (
        "the card is larger than the limit",
        "make its media smaller, or raise the limits",
    ),
    "outside": (
        "there is text outside of any card",
        "delete it, or put BEGIN:VCARD before it and END:VCARD after it",
    ),
}


def read_vcards(
    source: BinaryIO | bytes,
    *,
    file_name: str = "-",
    default_region: str | None = None,
    charset: str | None = None,
    limits: CardLimits = DEFAULT_LIMITS,
    on_oddity: Callable[[Oddity], None] | None = None,
) -> Iterator[Card | Damage]:
    """Read the cards of a vCard file one by one.

    Versions 2.1, 3.0 and 4.0 may be mixed. What JSContact has no place for is kept in
    `vCardProps` and `vCardParams` (RFC 9555). A card without a UID is given one that is derived
    from its contents. When two people share a UID, the second is given another one, and a
    `Damage` before it names both.

    Memory stays bounded however large the file is: a card over the limits is skipped.

    Args:
        source: a binary file, or the bytes of one.
        file_name: the name to give in damages, `-` for standard input.
        default_region: the country (ISO 3166) of numbers without a country code; it decides
            only what is odd, numbers stay as they were typed.
        charset: the character set of cards that are not UTF-8 and name none.
        limits: how large a card may be.
        on_oddity: told of what could be read although it should not be written so.

    Yields:
        A card, or what is wrong with one; the others are read all the same.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes | bytearray) else source
    register = UidRegister()
    reader = _FileReader(file_name, charset, default_region, on_oddity, register)
    try:
        for block in blocks(stream, limits.card_bytes + limits.media_bytes * 2):
            yield from reader.read(block)
    finally:
        register.close()


class _FileReader:
    """Turns the blocks of one file into cards."""

    def __init__(
        self,
        file_name: str,
        charset: str | None,
        default_region: str | None,
        on_oddity: Callable[[Oddity], None] | None,
        register: UidRegister,
    ) -> None:
        self._default_region = default_region
        self._file_name = file_name
        self._charset = charset
        self._on_oddity = on_oddity
        self._register = register

    def read(self, block: Block) -> Sequence[Card | Damage]:
        """Return the card, what is wrong with it, or both."""
        if block.kind != "card":
            reason, hint = _NO_CARD[block.kind]
            return (Damage(self._file_name, block.card, block.line, reason, hint),)
        try:
            build = self._built(block)
            card = card_from(build)
        except DamagedCard as damage:
            line = block.line + damage.line
            return (Damage(self._file_name, block.card, line, damage.reason, damage.hint),)
        if "uid" in build.card:
            return self._identified(card, build.card, block)
        # The UID derived from the contents will be another's only if the contents are, too.
        return (card,)

    def _built(self, block: Block) -> CardBuilder:
        if self._on_oddity is None:
            try:
                lines, version, block.breaks = content_lines(block.content)
                return read_lines(lines, version)
            except (UnicodeDecodeError, DamagedCard, NeedsCare):
                # The careful way below says where the fault is, or can read it after all.
                pass
        return self._built_with_care(with_line_feeds(block.content), block)

    def _built_with_care(self, content: bytes, block: Block) -> CardBuilder:
        version = version_of(content)
        numbered = numbered_lines(content, version)

        def report(index: int, reason: str, hint: str) -> None:
            if self._on_oddity is not None:
                line = block.line + numbered[index][0]
                self._on_oddity(Oddity(self._file_name, block.card, line, reason, hint))

        try:
            build = read_bytes((line for _, line in numbered), version, self._charset, report)
        except DamagedCard as damage:
            raise DamagedCard(numbered[damage.line][0], damage.reason, damage.hint) from damage
        if self._on_oddity is not None:
            texts = [line.decode("utf-8", "replace") for _, line in numbered]
            for index, reason, hint in oddities(texts, build.card, self._default_region):
                report(index, reason, hint)
        return build

    def _identified(self, card: Card, members: Members, block: Block) -> Sequence[Card | Damage]:
        uid = str(members["uid"])
        shown = name_shown(members)
        holder = self._register.first_holder(uid, Holder(block.card, shown))
        if holder is None or holder.name == shown:
            return (card,)
        other = derived_uid({**card.to_json(), "of": uid})
        damage = Damage(
            self._file_name,
            block.card,
            block.line,
            f"the UID {uid} of {shown!r} is already that of {holder.name!r}, card {holder.card}",
            f"{shown!r} is imported as {other}; give it a UID of its own",
        )
        return damage, card.model_copy(update={"uid": other})
