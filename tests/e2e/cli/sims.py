"""What one does with SIM cards at the command line, and what comes of it."""

from collections.abc import Iterable
from typing import Any

from tests.e2e.cli.person import Person

MOBILE, UNICOM = "cn-mobile", "cn-unicom"
FIRST, SECOND, RENEWED = "89860012345678901238", "89860198765432109875", "89860012345678909991"


def vcards(people: Iterable[tuple[str, str]]) -> bytes:
    """A file of people, each with a number, known again by their names."""
    return "".join(
        f"BEGIN:VCARD\r\nVERSION:4.0\r\nUID:urn:x:{name.replace(' ', '-')}\r\nFN:{name}\r\n"
        f"TEL:{number}\r\nEND:VCARD\r\n"
        for name, number in people
    ).encode()


async def bring(person: Person, *people: tuple[str, str]) -> None:
    """Take people into a phonebook."""
    await person.run("import", "-", stdin=vcards(people))


async def waiting(person: Person, sim: str, number: int) -> list[dict[str, Any]]:
    """What waits for a SIM, once it is so many contacts; it comes a moment after it was stored."""
    for _ in range(200):
        book = await person.told("sim", "pending", sim)
        if len(book["contacts"]) == number:
            contacts: list[dict[str, Any]] = book["contacts"]
            return contacts
    raise AssertionError(book)


async def numbers(person: Person) -> dict[str, str]:
    """The first number of each contact of a phonebook, by name."""
    return {
        contact["display_name"]: next(iter(contact["card"]["phones"].values()))["number"]
        for contact in await person.told("contacts")
    }


async def sims(person: Person) -> dict[str, dict[str, object]]:
    """What a terminal lists, by the SIMs' names."""
    listing = await person.told("sim", "list")
    return {sim["name"]: sim for account in listing["accounts"] for sim in account["sims"]}
