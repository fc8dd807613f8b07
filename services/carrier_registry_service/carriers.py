"""The carriers that are known by name: public facts, with their sources, as package data.

A carrier need not be in the table to feed the registry. What the table adds is which carriers have
become part of which others: a number that moved with its carrier was not ported.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, StringConstraints

from contactmesh.contracts.carrier.records import CarrierId

DATA: Final = "carriers.json"

Plmn = Annotated[str, StringConstraints(pattern=r"^[0-9]{3}-[0-9]{2,3}$")]
"""Mobile country and network code (ITU-T E.212); the hyphen, since `01` is not `001`."""


class Carrier(BaseModel):
    """A carrier; one that has become part of another names it in `superseded_by`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    carrier_id: CarrierId
    name: str
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    plmns: tuple[Plmn, ...]
    parent_carrier_id: CarrierId | None = None
    superseded_by: CarrierId | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sources: tuple[str, ...]
    carriers: tuple[Carrier, ...]


@dataclass(frozen=True, slots=True)
class Carriers:
    """The table."""

    by_id: Mapping[str, Carrier]

    def today(self, carrier_id: str) -> str:
        """The carrier that a carrier has become part of, over however many steps; else itself."""
        current, seen = carrier_id, {carrier_id}
        while (known := self.by_id.get(current)) is not None and known.superseded_by is not None:
            current = known.superseded_by
            if current in seen:
                raise ValueError(f"the carriers around {carrier_id} supersede each other")
            seen.add(current)
        return current


@cache
def known_carriers() -> Carriers:
    """The table that comes with the service.

    Raises:
        pydantic.ValidationError: it is damaged.
    """
    text = files("carrier_registry_service").joinpath(DATA).read_text(encoding="utf-8")
    return Carriers({one.carrier_id: one for one in _File.model_validate_json(text).carriers})
