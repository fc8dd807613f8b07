"""What can happen on a simulated day."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contactmesh.contracts.carrier.feed import FeedEntry


class Kind(StrEnum):
    """What happened to somebody's number."""

    BEGUN = "begun"
    """A person's first number."""
    ADDED = "added"
    """One more number, at whatever carrier."""
    REPLACED = "replaced"
    """Another number at the same carrier."""
    PORTED = "ported"
    """The same number at another carrier."""
    MOVED = "moved"
    """Another number at another carrier."""
    SIM_CHANGED = "sim_changed"
    """The same number at the same carrier, on another card."""
    WITHDRAWN = "withdrawn"
    """Given up, with nothing in its place."""
    RECYCLED = "recycled"
    """Given to somebody else."""
    STATE = "state"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Fact:
    """A feed entry with the carrier that may say it."""

    carrier_id: str
    entry: FeedEntry


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened, and the facts that the carriers concerned tell of it."""

    at: datetime
    kind: Kind
    facts: tuple[Fact, ...]
