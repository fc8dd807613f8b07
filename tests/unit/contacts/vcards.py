"""Short ways to write the vCards that tests are about."""

from __future__ import annotations

from contactmesh.contacts import Card, Damage, Oddity, read_vcards, write_vcards


def vcard(*lines: str | bytes, version: str = "3.0", end: bytes = b"\r\n") -> bytes:
    """A vCard of the given content lines."""
    whole = [b"BEGIN:VCARD", f"VERSION:{version}".encode()]
    whole += [line.encode() if isinstance(line, str) else line for line in lines]
    return end.join([*whole, b"END:VCARD", b""])


def read_all(data: bytes, **options: object) -> list[Card | Damage]:
    return list(read_vcards(data, **options))  # type: ignore[arg-type]


def read_one(data: bytes, **options: object) -> Card:
    (card,) = read_all(data, **options)
    assert isinstance(card, Card), card
    return card


def cards_and_damage(data: bytes) -> tuple[list[Card], list[Damage]]:
    items = read_all(data)
    return (
        [item for item in items if isinstance(item, Card)],
        [item for item in items if isinstance(item, Damage)],
    )


def oddities(data: bytes) -> list[Oddity]:
    found: list[Oddity] = []
    list(read_vcards(data, on_oddity=found.append))
    return found


def written(card: Card, version: str = "4.0") -> str:
    """The vCard of a card, unfolded."""
    return b"".join(write_vcards([card], version=version)).decode().replace("\r\n ", "")  # type: ignore[arg-type]


def again(card: Card, version: str = "4.0") -> Card:
    """The card after export and import."""
    return read_one(b"".join(write_vcards([card], version=version)))  # type: ignore[arg-type]


def phone_numbers(card: Card) -> list[str]:
    return [phone.number for phone in (card.phones or {}).values()]


def survives(card: Card) -> None:
    """The card is the same after being written and read."""
    for version in ("3.0", "4.0"):
        assert again(card, version) == card
        assert again(again(card, version), "4.0") == card


def comes_back(card: Card, *lines: str) -> None:
    """The lines are written again as they were, and nothing corrects them."""
    for version in ("3.0", "4.0"):
        text = written(card, version)
        assert "JSPROP" not in text
        for line in lines:
            assert f"{line}\r\n" in text
    survives(card)
