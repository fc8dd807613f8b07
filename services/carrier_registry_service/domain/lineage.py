"""What became of an identity's registrations: which stand, and which stands in whose place."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Final

from carrier_registry_service.domain.registration import (
    NO_DESCRIPTION,
    Beginning,
    Description,
    Ref,
    Registration,
)
from contactmesh.contracts.carrier.records import EndReason, Line

LEFT_FOR_ANOTHER: Final = frozenset({EndReason.REPLACED, EndReason.PORTED_OUT, EndReason.CANCELLED})


@dataclass(frozen=True, slots=True)
class Rules:
    """What the comparison goes by.

    Args:
        inferred_within: between the end of one registration and the begin of another of the same
            identity, for the second to be taken as the first one's successor unsaid.
        today: the carrier that a carrier has become part of, or itself.
    """

    inferred_within: timedelta
    today: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Successor:
    """The live registration that a chain ends at, and whether any step to it was inferred."""

    registration: Registration
    inferred: bool


@dataclass(frozen=True)
class Lineage:
    """The registrations of one identity as a whole (rows C2 to C4).

    Only links between registrations of this identity count. A link to another carrier's counts once
    that carrier has told that its registration ended: until then both stand, for no carrier ends
    what is another's. Declared links cannot form a cycle, counting yet or not, since a fact that
    would close one is rejected (`closes_a_cycle`); inferred ones that would are not made.
    """

    registrations: Iterable[Registration]
    rules: Rules
    _begun: dict[Ref, Beginning] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        begun = {one.ref: one.began for one in self.registrations if one.began is not None}
        object.__setattr__(self, "_begun", begun)

    @cached_property
    def by_ref(self) -> dict[Ref, Registration]:
        """The registrations that began."""
        return {one.ref: one for one in self.registrations if one.began is not None}

    @cached_property
    def live(self) -> tuple[Registration, ...]:
        """Those that began, have not ended, and have no successor that stands; by reference."""
        open_ones = [ref for ref, one in self.by_ref.items() if not one.ended]
        replaced = {before for ref in open_ones for before in self.predecessors(ref)}
        return tuple(self.by_ref[ref] for ref in sorted(open_ones) if ref not in replaced)

    def began(self, ref: Ref) -> Beginning:
        """How one of the registrations began.

        Raises:
            KeyError: it is none of them.
        """
        return self._begun[ref]

    def successor(self, ref: Ref) -> Successor | None:
        """What stands in a registration's place: itself if it does, or the end of its chain.

        One that ended with nothing after it, and that came in the place of one that stands to this
        day, did not last: that one is in its place again.
        """
        return self._successors.get(ref)

    def closes_a_cycle(self, ref: Ref) -> bool:
        """Whether a registration comes to replace itself, over whatever others."""
        seen = {ref}
        current = self._declared(ref)
        while current is not None and current not in seen:
            seen.add(current)
            current = self._declared(current)
        return current is not None

    def ported(self, ref: Ref) -> bool:
        """Whether the number came here from another carrier, and has not come back since."""
        number, first = self._begun[ref].msisdn, ref
        for before in self.predecessors(ref):
            if self._begun[before].msisdn != number:
                break
            first = before
        today = self.rules.today
        return today(first.carrier_id) != today(ref.carrier_id)

    def description(self, ref: Ref) -> Description:
        """What the owner says about a number, or said about the one that it replaced."""
        for one in (ref, *self.predecessors(ref)):
            said = self.by_ref[one].description
            if said is not None:
                return said
        return NO_DESCRIPTION

    def line(self, ref: Ref) -> Line:
        """A registration as viewers see it."""
        began, said = self._begun[ref], self.description(ref)
        return Line(
            ref=ref.shown(),
            msisdn=began.msisdn,
            line_type=began.line_type,
            ported=self.ported(ref),
            labels=said.labels,
            dial_priority=said.dial_priority,
        )

    @cached_property
    def lines(self) -> dict[Ref, Line]:
        """All live numbers, by reference."""
        return {one.ref: self.line(one.ref) for one in self.live}

    def predecessors(self, ref: Ref) -> Iterable[Ref]:
        """All that a registration took the place of, step by step, the nearest first."""
        current: Ref | None = ref
        while current is not None:
            current = self._predecessor(current) or self._inferred.get(current)
            if current is not None:
                yield current

    # --- links ------------------------------------------------------------------------------------

    def _predecessor(self, ref: Ref) -> Ref | None:
        """What a registration says it replaces, as far as the link counts."""
        before = self._declared(ref)
        if before is None or before.carrier_id == ref.carrier_id or self.by_ref[before].ended:
            return before
        return None

    def _declared(self, ref: Ref) -> Ref | None:
        """What a registration says it replaces, whether or not the link counts yet."""
        began = self._begun.get(ref)
        if began is None or began.replaces not in self._begun:
            return None
        return began.replaces

    @cached_property
    def _inferred(self) -> dict[Ref, Ref]:
        """Predecessors that nobody named: one ended and one began, near enough, and no others."""
        replaced = {one.replaces for one in self._begun.values() if one.replaces is not None}
        ended = {
            ref: min(ending.valid_to for ending in one.endings)
            for ref, one in self.by_ref.items()
            if one.endings
            and all(ending.reason in LEFT_FOR_ANOTHER for ending in one.endings)
            and ref not in replaced
        }
        pairs: list[tuple[Ref, Ref]] = [
            (before, after)
            for after, began in self._begun.items()
            if began.replaces is None
            for before, valid_to in ended.items()
            if self._begun[before].valid_from < began.valid_from
            and abs(began.valid_from - valid_to) <= self.rules.inferred_within
        ]
        befores: dict[Ref, set[Ref]] = defaultdict(set)
        afters: dict[Ref, set[Ref]] = defaultdict(set)
        for before, after in pairs:
            befores[after].add(before)
            afters[before].add(after)
        inferred: dict[Ref, Ref] = {}
        for before, after in sorted(pairs):
            alone = len(befores[after]) == 1 and len(afters[before]) == 1
            if alone and not self._leads(after, before, inferred):
                inferred[after] = before
        return inferred

    def _leads(self, start: Ref, end: Ref, inferred: dict[Ref, Ref]) -> bool:
        """Whether `end` already stands in the place of `start`."""
        current: Ref | None = end
        while current is not None and current != start:
            current = self._predecessor(current) or inferred.get(current)
        return current is not None

    @cached_property
    def _successors(self) -> dict[Ref, Successor]:
        """The end of each chain; where it branches, the branch whose end began last."""
        ends: dict[Ref, Successor] = {}
        for one in sorted(self.live, key=lambda one: (self._begun[one.ref].valid_from, one.ref)):
            ends[one.ref] = Successor(one, inferred=False)
            inferred, after = False, one.ref
            for before in self.predecessors(one.ref):
                inferred = inferred or self._inferred.get(after) == before
                ends[before] = Successor(one, inferred)
                after = before
        live = {one.ref for one in self.live}
        for ref in self.by_ref:
            if ref not in ends:
                standing = next(
                    (before for before in self.predecessors(ref) if before in live), None
                )
                if standing is not None:
                    ends[ref] = ends[standing]
        return ends
