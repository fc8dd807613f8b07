"""The closed family of errors that contacts raise: every one says what to do."""

from __future__ import annotations


class ContactError(Exception):
    """Something about a contact document cannot be accepted; the message says what to do."""


class CardTooLarge(ContactError):
    """A card is over a size limit.

    Args:
        part: what is too large, `card` (without its media) or `media`.
        size: its size in bytes.
        limit: the largest size that is accepted, in bytes.
    """

    def __init__(self, part: str, size: int, limit: int) -> None:
        self.part = part
        self.size = size
        self.limit = limit
        what = "the card without its media" if part == "card" else "the card's media"
        super().__init__(
            f"{what} is {size:,} bytes and the limit is {limit:,}: "
            "shorten it, link the media instead of embedding them, or raise the limit"
        )


class PatchError(ContactError):
    """A patch does not fit the card it is applied to.

    Args:
        pointer: the JSON pointer at fault, as RFC 9553, section 1.4.4 writes it.
        reason: what is wrong with it.
    """

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer = pointer
        super().__init__(f"the patch at {pointer!r} cannot be applied: {reason}")


class IdentifierError(ContactError):
    """A carrier identifier is not written as its standard asks.

    Args:
        kind: the identifier, for example `ICCID`.
        value: the text as it was given.
        reason: what is wrong and what is expected.
    """

    def __init__(self, kind: str, value: str, reason: str) -> None:
        self.kind = kind
        self.value = value
        super().__init__(f"{value!r} is no {kind}: {reason}")
