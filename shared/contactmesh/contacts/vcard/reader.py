"""Reading vCard files of any version, card by card."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import BinaryIO

from contactmesh.contacts.display import display_name
from contactmesh.contacts.identity import derived_uid
from contactmesh.contacts.jscontact.card import Card
from contactmesh.contacts.limits import DEFAULT_LIMITS, CardLimits
from contactmesh.contacts.vcard.blocks import Block, blocks
from contactmesh.contacts.vcard.conformance import oddities
from contactmesh.contacts.vcard.damage import Damage, DamagedCard, Oddity
from contactmesh.contacts.vcard.lines import joined, numbered_lines, unfolded, version_of
from contactmesh.contacts.vcard.parameters import Members
from contactmesh.contacts.vcard.register import Holder, UidRegister
from contactmesh.contacts.vcard.to_jscontact import (
    NeedsCare,
    card_from,
    members_from,
    members_from_bytes,
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

    def read(self, block: Block) -> Iterator[Card | Damage]:
        if block.kind != "card":
            reason, hint = _NO_CARD[block.kind]
            yield Damage(self._file_name, block.card, block.line, reason, hint)
            return
        try:
            members = self._members(block)
            is_derived = "uid" not in members
            if is_derived:
                members["uid"] = derived_uid(members)
            card = card_from(members)
        except DamagedCard as damage:
            yield Damage(
                self._file_name,
                block.card,
                block.line + damage.line,
                damage.reason,
                damage.hint,
            )
            return
        if is_derived:
            yield card
        else:
            yield from self._identified(card, block)

    def _members(self, block: Block) -> Members:
        content = block.content
        version = version_of(content)
        if self._on_oddity is None:
            try:
                whole = joined(content) if version == "2.1" else content
                lines = unfolded(whole, version).decode().split("\n")
                return members_from(lines, version)
            except (UnicodeDecodeError, DamagedCard, NeedsCare):
                # The careful way below says where the fault is, or can read it after all.
                pass
        numbered = numbered_lines(content, version)

        def report(index: int, reason: str, hint: str) -> None:
            if self._on_oddity is not None:
                line = block.line + numbered[index][0]
                self._on_oddity(Oddity(self._file_name, block.card, line, reason, hint))

        try:
            members = members_from_bytes(
                (line for _, line in numbered), version, self._charset, report
            )
        except DamagedCard as damage:
            raise DamagedCard(numbered[damage.line][0], damage.reason, damage.hint) from damage
        if self._on_oddity is not None:
            texts = [line.decode("utf-8", "replace") for _, line in numbered]
            for index, reason, hint in oddities(texts, members, self._default_region):
                report(index, reason, hint)
        return members

    def _identified(self, card: Card, block: Block) -> Iterator[Card | Damage]:
        shown = display_name(card)
        content = hash(block.content)
        holder = self._register.first_holder(card.uid, Holder(block.card, shown, content))
        if holder is None or holder.content == content or holder.name == shown:
            yield card
            return
        members = card.to_json()
        other = derived_uid({**members, "of": card.uid})
        yield Damage(
            self._file_name,
            block.card,
            block.line,
            f"the UID {card.uid} of {shown!r} is already that of {holder.name!r}, "
            f"card {holder.card}",
            f"{shown!r} is imported as {other}; give it a UID of its own",
        )
        yield card.model_copy(update={"uid": other})
