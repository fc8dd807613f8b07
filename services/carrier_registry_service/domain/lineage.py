"""What became of an identity's registrations: which stand, and which stands in whose place."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from carrier_registry_service.domain.links import Links, links_among
from carrier_registry_service.domain.registration import (
    NO_DESCRIPTION,
    Beginning,
    Description,
    Ref,
    Registration,
)
from contactmesh.contracts.carrier.records import Line


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
    what is another's. What a carrier begins anew for the same person ends its older registration of
    the number, and stands in its place if no other does. Declared links cannot form a cycle,
    counting yet or not, since a fact that would close one is rejected (`closes_a_cycle`); others
    that would are not made.
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
        renewed = self._links.renewed
        open_ones = [
            ref for ref, one in self.by_ref.items() if not one.ended and ref not in renewed
        ]
        replaced = {before for ref in open_ones for before in self.predecessors(ref)}
        replaced |= {before for ref in open_ones for before, _ in self._renewed_by(ref)}
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
        above = self._links.above
        current = above.get(ref)
        while current is not None:
            yield current
            current = above.get(current)

    def _renewed_by(self, ref: Ref) -> Iterable[tuple[Ref, bool]]:
        """What a registration stands for since it renews a number, and whether a step is inferred.

        These are the older registrations of the number and whatever they took the place of, over
        any further ones; never what came in its own place.
        """
        links, place, own = self._links, self._place(ref), set(self.predecessors(ref))
        seen, waiting = {ref}, [(ref, False)]
        while links.renewed and waiting:
            after, inferred = waiting.pop()
            steps = [(older, inferred) for older in self._renewed_in.get(after, ())]
            if (before := links.above.get(after)) is not None:
                steps.append((before, inferred or after in links.inferred))
            for one, so in steps:
                if one in seen:
                    continue
                seen.add(one)
                waiting.append((one, so))
                earlier = one not in own and self._place(one) < place
                if earlier and ref not in self.predecessors(one):
                    yield one, so

    def _place(self, ref: Ref) -> tuple[datetime, Ref]:
        return self._begun[ref].valid_from, ref

    @cached_property
    def _renewed_in(self) -> dict[Ref, list[Ref]]:
        """The older registrations that each one renews."""
        olders: dict[Ref, list[Ref]] = defaultdict(list)
        for older, newer in self._links.renewed.items():
            olders[newer].append(older)
        return dict(olders)

    # --- links ------------------------------------------------------------------------------------

    @cached_property
    def _links(self) -> Links:
        counting = {
            ref: before for ref in self._begun if (before := self._counting(ref)) is not None
        }
        return links_among(self.by_ref, counting, self.rules.inferred_within)

    def _counting(self, ref: Ref) -> Ref | None:
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
    def _successors(self) -> dict[Ref, Successor]:
        """The end of each chain; where it branches, the branch whose end began last."""
        ends: dict[Ref, Successor] = {}
        in_order = sorted(self.live, key=lambda one: self._place(one.ref))
        for one in in_order:
            ends[one.ref] = Successor(one, inferred=False)
            inferred, after = False, one.ref
            for before in self.predecessors(one.ref):
                inferred = inferred or after in self._links.inferred
                ends[before] = Successor(one, inferred)
                after = before
        for one in reversed(in_order):
            for before, inferred in self._renewed_by(one.ref):
                ends.setdefault(before, Successor(one, inferred))
        live = {one.ref for one in self.live}
        for ref in self.by_ref:
            if ref not in ends:
                standing = next(
                    (before for before in self.predecessors(ref) if before in live), None
                )
                if standing is not None:
                    ends[ref] = ends[standing]
        return ends
