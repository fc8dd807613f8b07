"""One's own card: a first one, and what is changed on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast
from unicodedata import normalize
from uuid import uuid4

import phonenumbers
from pydantic import JsonValue, ValidationError

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.cards import numbers_of
from contactmesh.contacts import Card, NumberKind, changed_fields, match_key, read_number
from contactmesh.terminal.rules.ownership import entries_of

_UNREADABLE: Final = {
    phonenumbers.NumberParseException.INVALID_COUNTRY_CODE: texts.BAD_COUNTRY_CODE,
    phonenumbers.NumberParseException.TOO_SHORT_AFTER_IDD: texts.TOO_SHORT,
    phonenumbers.NumberParseException.TOO_SHORT_NSN: texts.TOO_SHORT,
    phonenumbers.NumberParseException.TOO_LONG: texts.TOO_LONG,
}
_IMPOSSIBLE: Final = {
    phonenumbers.ValidationResult.INVALID_COUNTRY_CODE: texts.BAD_COUNTRY_CODE,
    phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY: texts.TOO_SHORT,
    phonenumbers.ValidationResult.TOO_SHORT: texts.TOO_SHORT,
    phonenumbers.ValidationResult.TOO_LONG: texts.TOO_LONG,
}


class NumberNotThere(CommandError):
    """The card does not hold the number that is to be replaced."""


@dataclass(frozen=True, slots=True)
class NewNumber:
    """A number to set on a card.

    Attributes:
        number: the number.
        old: the number that it replaces, none for the card's only one.
        doubtful: whether it is possible, but in no range that the numbering plans list.
    """

    number: str
    old: str | None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Edits:
    """What to change on a card.

    Attributes:
        name: the new name, if any.
        numbers: the new numbers.
        region: the country (ISO 3166) of numbers without a country code.
    """

    name: str | None
    numbers: Sequence[NewNumber]
    region: str | None

    def __bool__(self) -> bool:
        return self.name is not None or bool(self.numbers)

    def applied(self, card: Card, now: datetime) -> Card:
        """The card with the changes.

        Raises:
            NumberNotThere: a number that is to be replaced is not on it.
            WrongUsage: it does not say which of several numbers is to be replaced.
        """
        edited = dict(card.to_json())
        if self.name is not None:
            edited["name"] = {"full": self.name}
        for new in self.numbers:
            edited["phones"] = self._with_number(card, edited, new)
        changed = _valid(edited)
        if not changed_fields(card, changed):
            return card
        return _valid({**edited, "updated": now.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def _with_number(self, card: Card, edited: dict[str, JsonValue], new: NewNumber) -> JsonValue:
        phones = {key: dict(phone) for key, phone in entries_of(edited, "phones").items()}
        if new.old is None and not phones:
            return {"mobile": {"number": new.number, "features": {"mobile": True}}}
        replaced = list(phones) if new.old is None else self._holding(phones, new.old)
        known = ", ".join(numbers_of(card)) or texts.NO_NUMBER
        if not replaced and self._holding(phones, new.number):
            return cast("JsonValue", phones)  # done before
        if not replaced:
            raise NumberNotThere(texts.OLD_NUMBER_NOT_THERE.format(number=new.old, known=known))
        if new.old is None and len(replaced) > 1:
            raise WrongUsage(texts.WHICH_NUMBER.format(known=known, number=new.number))
        for key in replaced:
            phones[key]["number"] = new.number
        return cast("JsonValue", phones)

    def _holding(self, phones: dict[str, dict[str, JsonValue]], number: str) -> list[str]:
        sought = match_key(number, self.region)
        plain = _dialled(number)
        return [
            key
            for key, phone in phones.items()
            if _dialled(str(phone.get("number", ""))) == plain
            or (sought and match_key(str(phone.get("number", "")), self.region) == sought)
        ]


def read_edits(name: str | None, numbers: Sequence[str], region: str | None) -> Edits:
    """Read what the options ask to change.

    Args:
        name: the new name, if any.
        numbers: each a number, or `OLD=NEW`.
        region: the country (ISO 3166) of numbers without a country code.

    Raises:
        WrongUsage: something is no number, or could not be dialled by others.
    """
    read = []
    for text in numbers:
        # The full-width sign is what Chinese keyboards write.
        old, sign, new = text.replace("＝", "=").partition("=")
        read.append(for_others(new if sign else old, old.strip() if sign else None, region))
    if name is not None and not name.strip():
        raise WrongUsage(texts.EMPTY_NAME)
    return Edits(None if name is None else name.strip(), tuple(read), region)


def first_card(edits: Edits, now: datetime) -> Card:
    """A card of nothing but what the options say.

    Raises:
        WrongUsage: they do not say a name.
    """
    if edits.name is None or any(new.old is not None for new in edits.numbers):
        raise WrongUsage(texts.FIRST_CARD)
    created = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    phones: dict[str, JsonValue] = {}
    for number, new in enumerate(edits.numbers, 1):
        key = "mobile" if number == 1 else f"mobile{number}"
        phones[key] = {"number": new.number, "features": {"mobile": True}}
    card: dict[str, JsonValue] = {
        "@type": "Card",
        "version": "1.0",
        "uid": f"urn:uuid:{uuid4()}",
        "created": created,
        "kind": "individual",
        "name": {"full": edits.name},
    }
    return _valid({**card, "phones": phones} if phones else card)


def for_others(text: str, old: str | None, region: str | None) -> NewNumber:
    """A number as others can dial it.

    Args:
        text: the number, written any way.
        old: the one that it replaces, none for the only one.
        region: the country (ISO 3166) of numbers without a country code.

    Raises:
        WrongUsage: it is no number, or could not be dialled by others.
    """
    plain = normalize("NFKC", text).strip()
    number = read_number(plain, region)
    if number.kind in (NumberKind.OTHER, NumberKind.SERVICE_CODE):
        raise WrongUsage(texts.NOT_A_NUMBER.format(number=text))
    if fault := _fault(plain, region):
        raise WrongUsage(fault.format(number=text, region=region))
    if number.kind is NumberKind.COMPLETE and not plain.startswith("+"):
        plain = str(number.key)
    return NewNumber(plain, old, doubtful=number.doubtful)


def _fault(plain: str, region: str | None) -> str | None:
    """What keeps others from dialling a number; a text with places for it and the country."""
    known = region or plain.removeprefix("tel:").startswith("+")
    try:
        parsed = phonenumbers.parse(plain, region)
    except phonenumbers.NumberParseException as error:
        return (
            _UNREADABLE.get(error.error_type, texts.NOT_A_NUMBER)
            if known
            else texts.NO_COUNTRY_CODE
        )
    reason = phonenumbers.is_possible_number_with_reason(parsed)
    if reason != phonenumbers.ValidationResult.IS_POSSIBLE:
        return _IMPOSSIBLE.get(reason, texts.WRONG_LENGTH)
    # In full it is taken though no plan lists it; without a country code more may be missing.
    return texts.NOT_OF_COUNTRY if read_number(plain, region).key is None else None


def _dialled(number: str) -> str:
    return "".join(sign for sign in normalize("NFKC", number) if sign.isdigit() or sign in "+*#")


def _valid(card: dict[str, JsonValue]) -> Card:
    try:
        return Card.model_validate(card)
    except ValidationError as error:
        raise WrongUsage(texts.BAD_TEXT) from error
