"""The feed of a carrier: facts about its own registrations, in any order and any number of times.

Every entry is a fact that stays true: when a registration began, when and why it ended, what was
reported at what time. Facts about one registration are joined, so their order does not matter and a
repeat changes nothing. What has not happened yet is no fact: tell it when it has.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from contactmesh.contracts.carrier.records import (
    DataVolume,
    EndReason,
    LineType,
    Moment,
    Msisdn,
    NetworkState,
    RegistrationRef,
    RegistrationSeq,
)
from contactmesh.contracts.command import Command, Role
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identifiers import UserId
from contactmesh.contracts.reply import Result

MOST_ENTRIES = 500


class _Entry(Message):
    TYPE: ClassVar[str] = "feed_entry"

    registration_seq: RegistrationSeq


class Began(_Entry):
    """A registration began: a new number, or with `replaces` the successor of another one.

    `replaces` at the same carrier is a changed number, at another one a number that was ported in
    (same `msisdn`) or a change of carrier and number. A link to a registration of another person's
    counts for nothing.

    A number has one holder at a carrier: the older registration of the number ends at `valid_from`,
    as given on if it is somebody else's, unless its carrier tells of its end itself.
    """

    fact: Literal["began"] = "began"
    identity_id: UserId
    msisdn: Msisdn
    line_type: LineType = LineType.MOBILE
    valid_from: Moment
    replaces: RegistrationRef | None = None
    iccid: Annotated[str, StringConstraints(pattern=r"^89[0-9A-Z]{16,20}$")] | None = None


class Ended(_Entry):
    """A registration ended."""

    fact: Literal["ended"] = "ended"
    valid_to: Moment
    reason: EndReason


class StateSeen(_Entry):
    """The network saw the number in a state; the latest one counts."""

    fact: Literal["state"] = "state"
    state: NetworkState
    at: Moment


class UsageSeen(_Entry):
    """What is left of the number's plan; the latest one counts."""

    fact: Literal["usage"] = "usage"
    remaining: DataVolume
    at: Moment


FeedEntry = Annotated[Began | Ended | StateSeen | UsageSeen, Field(discriminator="fact")]


class EntryOutcome(Message):
    """What became of one entry; `index` is its place in the feed.

    `applied` it was new, `same` it was known, `rejected` it contradicts what is known.
    """

    TYPE: ClassVar[str] = "entry_outcome"

    index: int
    outcome: Literal["applied", "same", "rejected"]
    error: ErrorBody | None = None


class Fed(Result):
    """The outcomes, in the order of the entries."""

    TYPE: ClassVar[str] = "carrier.feed"

    outcomes: tuple[EntryOutcome, ...]


class Feed(Command):
    """Facts about the sending carrier's own registrations; entries stand or fall one by one."""

    SERVICE: ClassVar[str] = "carrier_registry_service"
    TYPE: ClassVar[str] = "carrier.feed"
    ROLE: ClassVar[Role] = Role.CARRIER
    RESULT: ClassVar[type[Result]] = Fed

    entries: Annotated[tuple[FeedEntry, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
