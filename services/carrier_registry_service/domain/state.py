"""The documents that a batch of commands works on, and what the batch has changed in them.

Commands of one batch see each other's changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from carrier_registry_service.domain.access import Access, Grant, Membership, access_of
from carrier_registry_service.domain.budgets import Budget, Limits
from carrier_registry_service.domain.holding import Holders
from carrier_registry_service.domain.lineage import Lineage, Rules
from carrier_registry_service.domain.quotas import Kept, Quotas
from carrier_registry_service.domain.registration import Ref, Registration
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.reply import Done, Result
from contactmesh.deciding.decision import Told
from contactmesh.deciding.table import Table


@dataclass(frozen=True, slots=True)
class Record:
    """All registrations of one identity; `rev` is the last revision of its live numbers."""

    identity_id: str
    rev: int = 0
    registrations: Mapping[Ref, Registration] = field(default_factory=dict)
    etag: int = 0

    def having(self, *registrations: Registration) -> "Record":
        """The record with these registrations as they are now."""
        now = {registration.ref: registration for registration in registrations}
        return replace(self, registrations={**self.registrations, **now})

    def advanced(self, now: datetime) -> "Record":
        """The record with the next revision, which is a time wherever the clock lets it be."""
        return replace(self, rev=max(self.rev + 1, int(now.timestamp() * 1_000_000)))


@dataclass(frozen=True, slots=True)
class Issued:
    """A sequence number that a carrier has issued, and to whom: once said, for ever.

    `waiting` are facts that came before it was said.
    """

    ref: Ref
    identity_id: str | None = None
    waiting: Registration | None = None
    etag: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """That a viewer has asked about someone within the day that began then."""

    viewer_id: str
    identity_id: str
    day_from: datetime


@dataclass(frozen=True, slots=True)
class DialOrder:
    """A viewer's own order of a contact's numbers."""

    viewer_id: str
    identity_id: str
    order: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """A viewer's looks at an owner's numbers within an hour, at the same and answered alike.

    That is what the owner sees. Within a batch it is what the batch adds: `count` looks, the first
    of them `at` and the last one `last_at`.
    """

    owner_id: str
    viewer_id: str
    at: datetime
    last_at: datetime
    fields: tuple[str, ...]
    allowed: bool
    count: int = 1

    @property
    def look_id(self) -> str:
        """What tells it from all others: whoever looks again and again makes one for each hour."""
        seen = "+".join(self.fields) or "refused"
        return f"{self.owner_id}/{self.viewer_id}/{self.at:%Y%m%d%H}/{seen}"


@dataclass(frozen=True, slots=True)
class Terms:
    """What the rules go by, as an operator has set it."""

    rules: Rules
    limits: Limits
    registrations: int = 500
    """The most registrations of one identity, and of one number, at one carrier; ended ones too."""
    quotas: Quotas = field(default_factory=Quotas)


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, when, and under which terms; `sender_id` is a user, or a carrier in a feed."""

    sender_id: str
    terminal_id: str
    command_id: str
    now: datetime
    terms: Terms


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command leads to: a result or a refusal for the sender, events for everybody else.

    A refused check has its effects too: it counts, and its owner sees it.
    """

    answer: Result | Refusal = field(default_factory=Done)
    told: tuple[Told, ...] = ()


class State:
    """Everything that a batch has loaded."""

    def __init__(self) -> None:
        self.records: Table[str, Record] = Table()
        self.issued: Table[Ref, Issued] = Table()
        self.holders: Table[tuple[str, str], Holders] = Table()
        """(carrier, number)"""
        self.grants: Table[tuple[str, str], Grant] = Table()
        """(owner, viewer)"""
        self.dial_orders: Table[tuple[str, str], DialOrder] = Table()
        """(viewer, identity)"""
        self.kept: Table[str, Kept] = Table()
        self.budgets: Table[str, Budget] = Table()
        self.asked: Table[tuple[str, str], Asked] = Table()
        """(viewer, identity)"""
        self.looks: Table[str, Looked] = Table()
        self.shared: Mapping[tuple[str, str], tuple[Membership, ...]] = {}
        """(owner, viewer): the owner's memberships in the viewer's groups"""

        self.blocked: frozenset[tuple[str, str]] = frozenset()
        """(owner, viewer): between whom a block stands, everywhere or in any group"""

    def record(self, identity_id: str) -> Record:
        """An identity's record, empty where nothing is known of the identity."""
        return self.records.get(identity_id) or Record(identity_id)

    def lineage(self, identity_id: str, rules: Rules) -> Lineage:
        """An identity's registrations as a whole."""
        return Lineage(self.record(identity_id).registrations.values(), rules)

    def holders_of(self, carrier_id: str, msisdn: str) -> Holders:
        """Who has had a carrier's number."""
        return self.holders.get((carrier_id, msisdn)) or Holders(carrier_id, msisdn)

    def registration(self, ref: Ref) -> Registration:
        """A registration as far as it is known: in its identity's record, or waiting for one."""
        issued = self.issued.get(ref)
        if issued is None:
            return Registration(ref)
        if issued.identity_id is not None:
            return self.record(issued.identity_id).registrations[ref]
        return issued.waiting or Registration(ref)

    def access(self, owner_id: str, viewer_id: str) -> Access:
        """What a viewer may see of an owner."""
        pair = (owner_id, viewer_id)
        return access_of(
            self.grants.get(pair),
            self.shared.get(pair, ()),
            viewer_id,
            blocked=pair in self.blocked,
        )

    def kept_by(self, user_id: str) -> Kept:
        """How much is kept for a user."""
        return self.kept.get(user_id) or Kept(user_id)

    def budget(self, viewer_id: str) -> Budget:
        """What a viewer has used up."""
        return self.budgets.get(viewer_id) or Budget(viewer_id)
