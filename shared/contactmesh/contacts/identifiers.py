"""Identifiers of SIM cards, networks and registrations: refused when wrong, warned when doubtful.

What a standard forbids raises `IdentifierError`. What is merely unlikely (a check digit that does
not fit, a network that no table lists) is a warning: tables lag behind, and cards are misprinted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from stdnum import imsi as stdnum_imsi
from stdnum import luhn

from contactmesh.contacts.errors import IdentifierError

_ICCID: Final = re.compile(r"89[0-9A-Z]{16,20}\Z")
_IMSI: Final = re.compile(r"[0-9]{14,15}\Z")
_PLMN: Final = re.compile(r"([0-9]{3})-([0-9]{2,3})\Z")
_BARE_PLMN: Final = re.compile(r"[0-9]{5,6}\Z")
_CARRIER: Final = re.compile(r"[a-z][a-z0-9-]{1,31}\Z")
_SEQUENCE: Final = re.compile(r"[1-9][0-9]{0,18}\Z")
_SEPARATORS: Final = re.compile(r"[\s-]")


@dataclass(frozen=True, slots=True)
class Iccid:
    """The serial number of a SIM card or eSIM profile (ITU-T E.118).

    Args:
        value: without spaces and fillers, in capitals.
        luhn_ok: whether the check digit fits; None when it is not all digits, and has none.
        warnings: what is doubtful.
    """

    value: str
    luhn_ok: bool | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plmn:
    """A mobile network (ITU-T E.212): mobile country code and mobile network code.

    Args:
        mcc: three digits.
        mnc: two or three digits; `01` and `001` are two networks.
        warnings: what is doubtful.
    """

    mcc: str
    mnc: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.mcc}-{self.mnc}"


@dataclass(frozen=True, slots=True)
class Imsi:
    """A mobile subscription (ITU-T E.212). It is nearly a secret: show it to its owner only.

    Args:
        value: 14 or 15 digits.
        mcc: the mobile country code.
        mnc: the mobile network code; None when no table says where it ends.
        warnings: what is doubtful.
    """

    value: str
    mcc: str
    mnc: str | None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Imsi({self.value[:3]}…)"


@dataclass(frozen=True, slots=True, order=True)
class RegistrationRef:
    """One tenure of one number at one carrier, for example `cn-mobile:1048577`.

    A number that is given to someone else gets another sequence, so two references are equal
    only for the same subscriber.

    Args:
        carrier_id: the carrier's name in the registry.
        registration_seq: a decimal number as text, because JavaScript loses large integers.
    """

    carrier_id: str
    registration_seq: str

    def __str__(self) -> str:
        return f"{self.carrier_id}:{self.registration_seq}"


def read_iccid(text: str) -> Iccid:
    """Read an ICCID as printed or as a phone reports it, with spaces or `F` fillers.

    Raises:
        IdentifierError: it does not begin with 89, or is too short or too long.
    """
    value = _SEPARATORS.sub("", text).upper().rstrip("F")
    if _ICCID.match(value) is None:
        raise IdentifierError("ICCID", text, "expected 89 and 16 to 20 more digits or letters")
    if not value.isdigit():
        return Iccid(value, None, ("it is not all digits, so there is no check digit",))
    fits = bool(luhn.is_valid(value))
    return Iccid(value, fits, () if fits else ("the check digit does not fit",))


def read_imsi(text: str) -> Imsi:
    """Read an IMSI.

    Raises:
        IdentifierError: it is not 14 or 15 digits.
    """
    value = _SEPARATORS.sub("", text)
    if _IMSI.match(value) is None:
        shown = f"{value[:3]}…" if value[:3].isdigit() else text
        raise IdentifierError("IMSI", shown, "expected 14 or 15 digits")
    network = _network(value)
    if network is None:
        return Imsi(value, value[:3], None, ("no table lists its mobile country and network",))
    return Imsi(value, *network)


def read_plmn(text: str) -> Plmn:
    """Read a PLMN, best written `460-00`.

    Five or six digits without the hyphen are taken apart by the table of known networks.

    Raises:
        IdentifierError: it is neither, or no table says where the country code ends.
    """
    written = text.strip()
    match = _PLMN.match(written)
    if match is not None:
        mcc, mnc = match.groups()
        return Plmn(mcc, mnc, () if _is_known(mcc, mnc) else ("no table lists this network",))
    if _BARE_PLMN.match(written) is None:
        raise IdentifierError("PLMN", text, "expected three digits, a hyphen, two or three digits")
    mcc, mnc = written[:3], written[3:]
    if not _is_known(mcc, mnc):
        raise IdentifierError(
            "PLMN", text, f"no table lists it; write it with the hyphen, for example {mcc}-{mnc}"
        )
    return Plmn(mcc, mnc, ("it was written without the hyphen",))


def _is_known(mcc: str, mnc: str) -> bool:
    return _network(f"{mcc}{mnc}".ljust(15, "0")) == (mcc, mnc)


def _network(digits: str) -> tuple[str, str] | None:
    """Return the country and network that digits begin with, if a table lists them."""
    try:
        found = stdnum_imsi.info(digits)
    except ValueError:
        # How the tables say that they do not even know the country.
        return None
    return (found["mcc"], found["mnc"]) if "status" in found else None


def read_carrier_id(text: str) -> str:
    """Return a carrier's name in the registry, for example `cn-mobile`.

    Raises:
        IdentifierError: it is not 2 to 32 small letters, digits and hyphens, a letter first.
    """
    if _CARRIER.match(text) is None:
        raise IdentifierError(
            "carrier id", text, "expected 2 to 32 of a-z, 0-9 and hyphen, a letter first"
        )
    return text


def read_registration_ref(text: str) -> RegistrationRef:
    """Read a registration reference such as `cn-mobile:1048577`.

    Raises:
        IdentifierError: a part is missing or not written as it should be.
    """
    carrier_id, colon, sequence = text.partition(":")
    if not colon or _SEQUENCE.match(sequence) is None:
        raise IdentifierError(
            "registration reference", text, "expected a carrier id, a colon, a positive integer"
        )
    return RegistrationRef(read_carrier_id(carrier_id), sequence)
