"""Phone numbers: what they are, and when two of them are one.

What was typed stays as it was typed; a matching key is made apart from it. The prefix of a number
says who first held the range, never who the carrier is now.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException, ValidationResult

_LONGEST: Final = 250
_LONGEST_E164: Final = len("+") + 15
_PLUS: Final = re.compile(r"[+]+")
_DIAL: Final = re.compile(r"[0-9*#+]")
_EXTENSION: Final = re.compile(
    r"(?:;\s*ext\s*=|[;,\s]*(?:ext(?:ension|n)?\.?|分机|转|\bx|#(?=\s*\d+\s*$))[\s:：.]*)(\d{1,15})\s*$",
    re.IGNORECASE,
)
_PAUSE: Final = re.compile(r"[,;pwPW]")
_SENDER: Final = re.compile(r"106[0-9]{5,17}")
_LONGEST_SHORT_CODE: Final = 6
_NO_REGION: Final = "ZZ"


class NumberKind(StrEnum):
    """What a text in a phone's place is."""

    COMPLETE = "complete"
    """A number that can be dialled from anywhere; its key is E.164."""
    LOCAL = "local"
    """A number that only works within its area, or without a known country: never matched."""
    SHORT_CODE = "short-code"
    """A number that works within a country or network only, such as 10086 or 112."""
    SERVICE_CODE = "service-code"
    """A code that the phone or the network acts on (3GPP TS 22.030), such as *100#."""
    OTHER = "other"
    """No number at all, for example a sender's name."""


@dataclass(frozen=True, slots=True)
class PhoneNumber:
    """What could be made out of a number as it was typed.

    Args:
        kind: what it is.
        key: the same text for every way to write the same number; None when it cannot be matched.
        extension: the extension, if one is written.
        post_dial: what is dialled after a pause, with the pauses.
        doubtful: the number is possible, but in no range that the numbering plan lists; plans
            lag behind, so this is a warning and no more.
    """

    kind: NumberKind
    key: str | None = None
    extension: str | None = None
    post_dial: str | None = None
    doubtful: bool = False


def read_number(text: str, default_region: str | None = None) -> PhoneNumber:
    """Make out what a number is.

    Full-width and other scripts' digits count as ASCII, invisible characters do not count.

    Args:
        text: the number as typed, or a `tel:` URI (RFC 3966).
        default_region: the country (ISO 3166, two letters) of numbers without a country code.
    """
    if len(text) > _LONGEST:
        return PhoneNumber(NumberKind.OTHER)
    return _read(text, default_region)


@lru_cache(maxsize=16384)
def _read(text: str, default_region: str | None) -> PhoneNumber:
    plain, extension, post_dial = _parts(_ascii(text))
    digits = "".join(_DIAL.findall(plain))
    if "*" in digits or "#" in digits:
        return PhoneNumber(NumberKind.SERVICE_CODE, f"code:{digits}", extension, post_dial)
    international = _PLUS.match(digits) is not None
    digits = digits.replace("+", "")
    if not digits:
        return PhoneNumber(NumberKind.OTHER)
    region = default_region.upper() if default_region else None
    if not international and _is_short(digits, region):
        return PhoneNumber(NumberKind.SHORT_CODE, f"short:{digits}", extension, post_dial)
    number = _parsed(digits, region, international=international)
    if number is None:
        return PhoneNumber(NumberKind.LOCAL, None, extension, post_dial)
    key = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    doubtful = not phonenumbers.is_valid_number(number)
    return PhoneNumber(NumberKind.COMPLETE, key, extension, post_dial, doubtful)


def match_key(text: str, default_region: str | None = None) -> str | None:
    """Return the text that two numbers share when they reach the same line.

    A complete number gives E.164, with what comes after a pause and the extension left out. A
    short code gives `short:` and a service code `code:`, which no complete number gives.

    Args:
        text: the number as typed, or a `tel:` URI.
        default_region: the country (ISO 3166) of numbers without a country code.

    Returns:
        The key; None when the number cannot safely be matched, such as a local one.
    """
    return read_number(text, default_region).key


def region_of(number: str) -> str | None:
    """The country (ISO 3166, two letters) in whose numbering plan a complete number is.

    Where several countries share a code and no table says which one has the number, it is the
    largest of them.

    Args:
        number: in E.164, with its plus.

    Returns:
        The country; None for numbers of no country, such as those of satellites.
    """
    try:
        parsed = phonenumbers.parse(number)
    except NumberParseException:
        return None
    region = phonenumbers.region_code_for_number(parsed)
    if region is None:
        region = phonenumbers.region_code_for_country_code(parsed.country_code or 0)
    return region if region.isalpha() and region != _NO_REGION else None


def range_holder(text: str, default_region: str | None = None, language: str = "en") -> str | None:
    """Return the carrier that the number's range was first given to.

    Numbers are ported: this is never who the carrier is now. Ask the carrier registry for that.

    Args:
        text: the number as typed.
        default_region: the country of numbers without a country code.
        language: the language of the carrier's name, such as `en` or `zh`.
    """
    # Its tables take a second and 30 MB: only those who ask pay for them.
    from phonenumbers import carrier  # noqa: PLC0415

    key = match_key(text, default_region)
    if key is None or not key.startswith("+"):
        return None
    return carrier.name_for_number(phonenumbers.parse(key), language) or None


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    result = []
    for char in unicodedata.normalize("NFKC", text):
        category = unicodedata.category(char)
        if category == "Nd":
            result.append(str(unicodedata.digit(char)))
        elif category not in {"Cf", "Cc"}:
            result.append(" " if category == "Zs" else char)
    return "".join(result)


def _parts(text: str) -> tuple[str, str | None, str | None]:
    text = text.strip()
    if text[:4].lower() == "tel:":
        text = text[4:]
        context = re.search(r";phone-context=(\+[0-9().-]+)", text, re.IGNORECASE)
        extension = re.search(r";ext=([0-9().-]+)", text, re.IGNORECASE)
        text, _, post_dial = text.partition(";")[0].partition(",")
        if context is not None and not text.startswith("+"):
            text = context[1] + text
        return text, extension[1] if extension else None, f",{post_dial}" if post_dial else None
    extension = _EXTENSION.search(text)
    if extension is not None and _DIAL.search(text[: extension.start()]) and "*" not in text:
        return text[: extension.start()], extension[1], None
    first = _DIAL.search(text)
    pause = _PAUSE.search(text, first.end()) if first is not None else None
    if pause is None:
        return text, None, None
    return text[: pause.start()], None, text[pause.start() :]


def _is_short(digits: str, region: str | None) -> bool:
    if len(digits) <= _LONGEST_SHORT_CODE:
        return True
    # 106... are senders of text messages in China, from 8 to 20 digits; with +86 they are not.
    return region == "CN" and len(digits) != 11 and _SENDER.fullmatch(digits) is not None


def _parsed(
    digits: str, region: str | None, *, international: bool
) -> phonenumbers.PhoneNumber | None:
    attempts: list[tuple[str, str | None]] = []
    if international:
        attempts.append((f"+{digits}", None))
    elif region is not None:
        attempts.append((digits, region))
    if not international and digits.startswith("00"):
        # Most of the world dials 00 for +, and so do people who live elsewhere.
        attempts.append((f"+{digits[2:]}", None))
    for written, country in attempts:
        try:
            number = phonenumbers.parse(written, country)
        except NumberParseException:
            continue
        reason = phonenumbers.is_possible_number_with_reason(number)
        if country is None and reason == ValidationResult.TOO_LONG:
            # The tables know no Chinese IoT numbers of 13 digits; E.164 allows 15 in all.
            if len(written) <= _LONGEST_E164:
                return number
            continue
        if reason != ValidationResult.IS_POSSIBLE:
            continue
        if country is None or phonenumbers.is_valid_number(number) or _is_as_long_as_mobile(number):
            return number
    return None


def _is_as_long_as_mobile(number: phonenumbers.PhoneNumber) -> bool:
    # A new mobile range is missing from the tables for a while; a shorter number that no table
    # has is most likely a local one.
    reason = phonenumbers.is_possible_number_for_type_with_reason(
        number, phonenumbers.PhoneNumberType.MOBILE
    )
    return reason == ValidationResult.IS_POSSIBLE
