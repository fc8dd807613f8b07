"""The books of simulated carriers: who has which number now, and what was given up."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Final

from contactmesh.carriers.simulator.happenings import Fact, Happening, Kind
from contactmesh.contracts.carrier.feed import Began, Ended
from contactmesh.contracts.carrier.records import EndReason, RegistrationRef

NAMES: Final = {"cn-mobile": "中国移动", "cn-unicom": "中国联通", "cn-telecom": "中国电信"}
"""What the simulated carriers are called."""
PREFIXES: Final = {"cn-mobile": "+86138", "cn-unicom": "+86186", "cn-telecom": "+86189"}
"""The simulated carriers, each with the range that its new numbers are of."""
_NUMBERS: Final = 10**8


@dataclass(frozen=True, slots=True)
class Held:
    """A number that somebody has now."""

    ref: RegistrationRef
    identity_id: str
    number: str


@dataclass(slots=True)
class Books:
    """The carriers' books, written by what happens.

    Sequence numbers and new numbers begin where `base` and `random` say, so that days that begin at
    different times never give the same one twice.
    """

    random: Random
    base: int
    held: list[Held] = field(default_factory=list)
    numbers_of: Counter[str] = field(default_factory=Counter)
    """How many numbers everybody has."""
    retired: list[Held] = field(default_factory=list)
    """Numbers given up and not given to anybody since, with who had them."""
    _issued: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _numbers: set[str] = field(default_factory=set)
    _places: dict[RegistrationRef, int] = field(default_factory=dict)

    def begins(
        self,
        at: datetime,
        identity_id: str,
        carrier_id: str,
        *,
        number: str | None = None,
        replaces: RegistrationRef | None = None,
    ) -> Fact:
        """Give somebody a number, a new one unless it is said which."""
        held = Held(self._next_ref(carrier_id), identity_id, number or self._new_number(carrier_id))
        self._places[held.ref] = len(self.held)
        self.held.append(held)
        self.numbers_of[identity_id] += 1
        began = Began(
            registration_seq=held.ref.registration_seq,
            identity_id=identity_id,
            msisdn=held.number,
            valid_from=at,
            replaces=replaces,
        )
        return Fact(carrier_id, began)

    def ends(self, at: datetime, held: Held, reason: EndReason) -> Fact:
        """Take a number from whoever has it."""
        # The last one takes its place: nothing has to move up, however many there are.
        place, last = self._places.pop(held.ref), self.held.pop()
        if last != held:
            self.held[place] = last
            self._places[last.ref] = place
        self.numbers_of[held.identity_id] -= 1
        return ended(at, held, reason)

    def replaced(self, at: datetime, held: Held, kind: Kind) -> Happening:
        """Let a registration be followed by another of the same person."""
        same_carrier = kind in {Kind.REPLACED, Kind.SIM_CHANGED}
        same_number = kind in {Kind.PORTED, Kind.SIM_CHANGED}
        others = [each for each in PREFIXES if each != held.ref.carrier_id]
        carrier_id = held.ref.carrier_id if same_carrier else self.random.choice(others)
        end = self.ends(at, held, EndReason.REPLACED if same_carrier else EndReason.PORTED_OUT)
        begin = self.begins(
            at,
            held.identity_id,
            carrier_id,
            number=held.number if same_number else None,
            replaces=held.ref,
        )
        if not same_number:
            self.retired.append(held)
        return Happening(at, kind, (end, begin))

    def withdrawn(self, at: datetime, held: Held) -> Happening:
        """Let a number be given up."""
        self.retired.append(held)
        return Happening(at, Kind.WITHDRAWN, (self.ends(at, held, EndReason.CANCELLED),))

    def recycled(self, at: datetime, old: Held, identity_id: str) -> Happening:
        """Give a number that was given up to somebody else."""
        self.retired.remove(old)
        given_on = ended(at, old, EndReason.RECYCLED)
        begin = self.begins(at, identity_id, old.ref.carrier_id, number=old.number)
        return Happening(at, Kind.RECYCLED, (given_on, begin))

    def _next_ref(self, carrier_id: str) -> RegistrationRef:
        self._issued[carrier_id] += 1
        seq = self.base + self._issued[carrier_id]
        return RegistrationRef(carrier_id=carrier_id, registration_seq=str(seq))

    def _new_number(self, carrier_id: str) -> str:
        while True:
            number = f"{PREFIXES[carrier_id]}{self.random.randrange(_NUMBERS):08d}"
            if number not in self._numbers:
                self._numbers.add(number)
                return number


def ended(at: datetime, held: Held, reason: EndReason) -> Fact:
    """The fact that a registration ended."""
    entry = Ended(registration_seq=held.ref.registration_seq, valid_to=at, reason=reason)
    return Fact(held.ref.carrier_id, entry)
