"""The address books that sync is measured with: the same contacts for everybody."""

from collections.abc import Iterator
from pathlib import Path

from contactmesh.contacts import Card, write_vcards

HOUSEHOLD = 4
"""How many share a number at home."""


def contact(number: int, *, home: str | None = None) -> Card:
    """A contact as people keep them: two numbers, an address for mail, a firm, a note."""
    return Card.model_validate(
        {
            "@type": "Card",
            "version": "1.0",
            "uid": uid(number),
            "name": {
                "full": f"王 {number:05d}",
                "components": [
                    {"kind": "surname", "value": "王"},
                    {"kind": "given", "value": f"{number:05d}"},
                ],
            },
            "phones": {
                "mobile": {"number": f"+86138{number:08d}", "features": {"mobile": True}},
                "home": {
                    "number": home or f"+8621{number // HOUSEHOLD:08d}",
                    "contexts": {"private": True},
                },
            },
            "emails": {"work": {"address": f"contact-{number}@example.com"}},
            "organizations": {"org": {"name": "示例公司"}},
            "notes": {"note": {"note": "周二下午可以打电话"}},
        }
    )


def home_number(turn: int) -> str:
    """What somebody's number at home is changed to."""
    return f"+8610{turn:08d}"


def uid(number: int) -> str:
    return f"contact-{number:05d}"


def vcard(card: Card) -> bytes:
    """In version 3.0, which every server here reads."""
    return b"".join(write_vcards([card], version="3.0"))


def write_folder(folder: Path, count: int) -> None:
    """One file a contact, as vdirsyncer keeps a book."""
    for number in range(count):
        (folder / f"{uid(number)}.vcf").write_bytes(vcard(contact(number)))


def one_file(count: int) -> bytes:
    """The same contacts in one file, as a phone exports them."""
    return b"".join(_all(count))


def _all(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield vcard(contact(number))
