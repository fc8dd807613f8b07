"""The people of the demo: who they are, their numbers, and the cards that they publish."""

import random
from dataclasses import dataclass
from typing import Final
from uuid import NAMESPACE_DNS, uuid5

from contactmesh.contacts import Card
from contactmesh.demo import texts

LEAST_PEOPLE: Final = len(texts.NAMES)
"""Everyone who has a part; more people fill the groups."""
MOST_PEOPLE: Final = LEAST_PEOPLE + len(texts.FURTHER_NAMES)

_FULL_WIDTH: Final = str.maketrans("0123456789", "０１２３４５６７８９")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a phone.

    Attributes:
        user_id: their handle.
        name: their name as shown.
        region: where they live: `GB` or `CN`.
    """

    user_id: str
    name: str
    region: str

    @property
    def card_uid(self) -> str:
        """The uid of the card that they publish."""
        return f"urn:uuid:{uuid5(NAMESPACE_DNS, f'{self.user_id}.demo.contactmesh.org')}"


def everyone(count: int) -> tuple[Person, ...]:
    """The first `count` people, those who have a part first."""
    names = (texts.NAMES | texts.FURTHER_NAMES).items()
    people = [Person(user_id, name, _region(name)) for user_id, name in names]
    if not LEAST_PEOPLE <= count <= len(people):
        raise ValueError(f"from {LEAST_PEOPLE} to {len(people)} people, not {count}")
    return tuple(people[:count])


def _region(name: str) -> str:
    return "GB" if name.isascii() else "CN"


def card_of(person: Person, number: str) -> Card:
    """The card that a person publishes, with one mobile number."""
    given, surname = _parts(person.name)
    return Card.model_validate(
        {
            "@type": "Card",
            "version": "1.0",
            "uid": person.card_uid,
            "kind": "individual",
            "name": {
                "full": person.name,
                "components": [
                    {"kind": "given", "value": given},
                    {"kind": "surname", "value": surname},
                ],
            },
            "phones": {"mobile": {"number": number, "features": {"mobile": True}}},
            "emails": {"home": {"address": f"{person.user_id}@example.org"}},
        }
    )


def _parts(name: str) -> tuple[str, str]:
    if name.isascii():
        given, _, surname = name.partition(" ")
        return given, surname
    return name[1:], name[0]


class NumberPlan:
    """Gives out numbers, none of them twice.

    The British ones are in the range that is kept free for drama; China has no such range.
    """

    def __init__(self, source: random.Random) -> None:
        british = [f"+44 7700 900{end:03}" for end in range(1000)]
        chinese = [
            f"+86 {prefix} 0000 {end:04}" for prefix in (138, 139, 158, 186) for end in range(1000)
        ]
        source.shuffle(british)
        source.shuffle(chinese)
        self._free = {"GB": british, "CN": chinese}

    def new(self, person: Person, *, full_width: bool = False) -> str:
        """A number for somebody with the country code; the rest full-width on request."""
        number = self._free[person.region].pop()
        if not full_width:
            return number
        country, _, rest = number.partition(" ")
        return f"{country} {rest.replace(' ', '').translate(_FULL_WIDTH)}"


def as_kept_by(owner: Person, number: str) -> str:
    """How somebody who typed a number by hand wrote it: at home without the country code."""
    country, _, rest = number.partition(" ")
    if (country, owner.region) == ("+86", "CN"):
        return rest.replace(" ", "-")
    if (country, owner.region) == ("+44", "GB"):
        return f"0{rest}"
    return f"{country.replace('+', '00')} {rest}"
