"""What is wrong with a vCard: what cannot be imported, and what merely is odd."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """A card, or text between cards, that cannot be imported as it stands.

    Args:
        file: the name of the file, `-` for standard input.
        card: which card of the file, counted from 1.
        line: the line of the file where it was noticed, counted from 1.
        reason: what is wrong.
        hint: what to do about it.
    """

    file: str
    card: int
    line: int
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: card {self.card}: {self.reason} ({self.hint})"


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something in a card that no standard allows but that could be read all the same.

    The fields are those of `Damage`; the card was imported.
    """

    file: str
    card: int
    line: int
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: card {self.card}: {self.reason} ({self.hint})"


class DamagedCard(Exception):
    """A card cannot be read; raised and caught inside the reader only.

    Args:
        line: the index of the unfolded line at fault, counted from 0.
        reason: what is wrong.
        hint: what to do about it.
    """

    def __init__(self, line: int, reason: str, hint: str) -> None:
        self.line = line
        self.reason = reason
        self.hint = hint
        super().__init__(reason)
