"""The rules of the registry on a state in memory: facts in, checks and events out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from carrier_registry_service.domain.access import Grant, Membership
from carrier_registry_service.domain.budgets import Limits
from carrier_registry_service.domain.lineage import Rules
from carrier_registry_service.domain.state import Asking, Decision, State, Terms
from carrier_registry_service.handlers import RULES
from contactmesh.contracts.carrier.check import ChangeCode, Check, Checked, LineChange
from contactmesh.contracts.carrier.feed import (
    Began,
    Ended,
    EntryOutcome,
    Fed,
    Feed,
    FeedEntry,
    StateSeen,
    UsageSeen,
)
from contactmesh.contracts.carrier.records import (
    DataVolume,
    EndReason,
    Line,
    NetworkState,
    RegistrationRef,
)
from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorBody, Refusal

START = datetime(2026, 1, 1, tzinfo=UTC)
LIN, BO = "lin", "bo"
ONE, TWO, THREE, FOUR = "+8613800000001", "+8613800000002", "+8613800000003", "+8613800000004"
Fact = tuple[str, FeedEntry]
"""A carrier, and what it says."""


def ref(text: str) -> RegistrationRef:
    """A reference from its canonical text."""
    carrier_id, _, seq = text.partition(":")
    return RegistrationRef(carrier_id=carrier_id, registration_seq=seq)


def day(number: float) -> datetime:
    """A moment so many days after the start."""
    return START + timedelta(days=number)


def began(
    text: str, msisdn: str, at: float, *, replaces: str | None = None, who: str = LIN
) -> Fact:
    """A registration began."""
    named = ref(text)
    entry = Began(
        registration_seq=named.registration_seq,
        identity_id=who,
        msisdn=msisdn,
        valid_from=day(at),
        replaces=None if replaces is None else ref(replaces),
    )
    return named.carrier_id, entry


def ended(text: str, at: float, reason: EndReason = EndReason.CANCELLED) -> Fact:
    """A registration ended."""
    named = ref(text)
    entry = Ended(registration_seq=named.registration_seq, valid_to=day(at), reason=reason)
    return named.carrier_id, entry


def state_seen(text: str, state: NetworkState, at: float) -> Fact:
    """The network saw a number."""
    named = ref(text)
    return named.carrier_id, StateSeen(
        registration_seq=named.registration_seq, state=state, at=day(at)
    )


def usage_seen(text: str, remaining: DataVolume, at: float) -> Fact:
    """What was left of a plan."""
    named = ref(text)
    return named.carrier_id, UsageSeen(
        registration_seq=named.registration_seq, remaining=remaining, at=day(at)
    )


@dataclass
class Registry:
    """One registry; everybody shares a group with everybody unless a test says otherwise."""

    terms: Terms = field(
        default_factory=lambda: Terms(Rules(timedelta(days=1), lambda carrier: carrier), Limits())
    )
    state: State = field(default_factory=State)
    now: datetime = field(default_factory=lambda: day(1000))
    told: list[Message] = field(default_factory=list)
    commands: int = 0

    def does(self, sender_id: str, command: Command) -> Decision:
        """Decide a command; its events are in `told` then."""
        self.commands += 1
        self.now += timedelta(milliseconds=1)
        asking = Asking(
            sender_id, f"{sender_id}_aaaaaaaa", f"c{self.commands}", self.now, self.terms
        )
        try:
            decision = RULES[type(command)](self.state, asking, command)
        except Refusal as refusal:
            return Decision(refusal)
        self.told += [one.message for one in decision.told]
        return decision

    def feed(self, *facts: Fact) -> list[EntryOutcome]:
        """Feed facts, each by its carrier."""
        outcomes: list[EntryOutcome] = []
        for carrier_id, entry in facts:
            answer = self.does(carrier_id, Feed(entries=(entry,))).answer
            assert isinstance(answer, Fed)
            outcomes += answer.outcomes
        return outcomes

    def shares(self, owner: str, viewer: str, *, blocked: Iterable[str] = ()) -> None:
        """Let two people share a group, with those whom the owner blocks in it."""
        memberships = (Membership("a group", owner, frozenset(blocked)),)
        self.state.shared = {**self.state.shared, (owner, viewer): memberships}

    def grants(self, grant: Grant) -> None:
        """Set what an owner lets a viewer see."""
        self.state.grants.put((grant.owner_id, grant.viewer_id), grant)

    def ask(
        self, viewer: str, *known: str, numbers: Sequence[str] = (), who: str = LIN
    ) -> Decision:
        """Check what a viewer knows."""
        command = Check(
            identity_id=who, registrations=tuple(map(ref, known)), numbers=tuple(numbers)
        )
        return self.does(viewer, command)

    def check(self, *known: str, numbers: Sequence[str] = (), who: str = LIN) -> Checked:
        """What the contact itself is answered: everything, and no budget counts."""
        answer = self.ask(who, *known, numbers=numbers, who=who).answer
        assert isinstance(answer, Checked), answer
        return answer

    def refused(self, viewer: str, *known: str, who: str = LIN) -> ErrorBody:
        """The error that a check is answered with."""
        answer = self.ask(viewer, *known, who=who).answer
        assert isinstance(answer, Refusal), answer
        return answer.body

    def lines(self, who: str = LIN) -> dict[str, Line]:
        """The live numbers as they are shown, by reference."""
        lines = self.state.lineage(who, self.terms.rules).lines
        return {str(ref): line for ref, line in lines.items()}

    def live(self, who: str = LIN) -> dict[str, str]:
        """The live numbers, by reference."""
        return {name: line.msisdn for name, line in self.lines(who).items()}

    def line_events(self) -> list[ContactChanged]:
        """The events about live numbers."""
        return [one for one in self.told if isinstance(one, ContactChanged)]


def summary(change: LineChange) -> tuple[ChangeCode, str | None, str | None]:
    """A change as (code, what was known, what stands now)."""
    return (
        change.code,
        None if change.known is None else str(change.known),
        None if change.line is None else str(change.line.ref),
    )
