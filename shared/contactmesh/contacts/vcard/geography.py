"""Where an entity is, said apart from its addresses: GEO and TZ (RFC 9555, section 2.8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from contactmesh.contacts.vcard.content import Head
from contactmesh.contacts.vcard.parameters import Entry, Members

_URI: Final = re.compile(r"geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)\Z", re.ASCII)
_PAIR: Final = re.compile(r"(-?\d+(?:\.\d+)?);(-?\d+(?:\.\d+)?)\Z", re.ASCII)
"""Latitude and longitude (RFC 2426, section 3.4.2); version 2.1 has them the other way round."""

_MOST_NORTH: Final = 90
_MOST_EAST: Final = 180

_AREAS = "Africa America Antarctica Arctic Asia Atlantic Australia Etc Europe Indian Pacific"
_ZONE: Final = re.compile(rf"(?:{'|'.join(_AREAS.split())})(?:/[A-Za-z0-9_+-]+){{1,2}}\Z")
_OFFSET: Final = re.compile(r"([+-])(\d\d)(?::?00)?\Z", re.ASCII)
_OFFSETS: Final = range(-12, 15)
"""The hours for which the time zone database has a zone."""


class Position(NamedTuple):
    """What one GEO or TZ says: the member of an address that it is, and its value."""

    member: str
    value: str
    head: Head


def coordinates_from(value: str) -> str | None:
    """Return the `coordinates` that a GEO says, or None when it is not plainly a place."""
    match = _URI.match(value) or _PAIR.match(value)
    if match is None:
        return None
    north, east = match.groups()
    if abs(float(north)) > _MOST_NORTH or abs(float(east)) > _MOST_EAST:
        return None
    return f"geo:{north},{east}"


def time_zone_from(value: str) -> str | None:
    """Return the `timeZone` that a TZ says, or None when it names none.

    An offset of whole hours is one of the zones of the database that count against the sign.
    """
    match = _OFFSET.match(value)
    if match is None:
        return value if _ZONE.match(value) else None
    hours = int(match[1] + match[2])
    if hours not in _OFFSETS:
        return None
    return f"Etc/GMT{-hours:+d}" if hours else "Etc/UTC"


_OFFSET_OF: Final = {str(time_zone_from(f"{hours:+03d}")): f"{hours:+03d}:00" for hours in _OFFSETS}
"""By the time zone: the offset."""


def position_lines(address: Entry, *, is_v4: bool) -> dict[str, str]:
    """Return the lines that say where an address is, by the member, as far as there are such."""
    lines: dict[str, str] = {}
    place, zone = address.get("coordinates"), address.get("timeZone")
    if isinstance(place, str) and coordinates_from(place) == place:
        value = place if is_v4 else place.removeprefix("geo:").replace(",", ";")
        lines["coordinates"] = f"GEO:{value}"
    if isinstance(zone, str) and time_zone_from(zone) == zone:
        if is_v4:
            lines["timeZone"] = f"TZ:{zone}"
        else:
            offset = _OFFSET_OF.get(zone)
            lines["timeZone"] = f"TZ:{offset}" if offset else f"TZ;VALUE=text:{zone}"
    return lines


def locate(addresses: Members, found: Sequence[Position]) -> list[tuple[Members, Head]]:
    """Give what GEO and TZ say to a card's only address, and return the addresses to be added.

    One GEO and one TZ are about the same place, and that is the address if there is only one. Of
    several nobody knows which they belong to, so each is a place of its own.
    """
    if len({each.member for each in found}) < len(found):
        return [({each.member: each.value}, each.head) for each in found]
    sole = cast("Members", next(iter(addresses.values()))) if len(addresses) == 1 else None
    if sole is not None and not any(each.member in sole for each in found):
        sole.update({each.member: each.value for each in found})
        return []
    return [({each.member: each.value for each in found}, found[0].head)]
