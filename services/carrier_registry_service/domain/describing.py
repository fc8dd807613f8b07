"""Labels and dial priority, and the viewer's own order (row C6)."""

from dataclasses import replace
from typing import Final

from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Description, Ref, Registration
from carrier_registry_service.domain.state import Asking, Decision, DialOrder, State
from carrier_registry_service.domain.telling import publish_changes
from contactmesh.contracts.carrier.access import DescribeLine, SetDialOrder
from contactmesh.contracts.errors import ErrorCode, Refusal

LEAST_PRIORITY: Final = 100


def describe(state: State, asking: Asking, command: DescribeLine) -> Decision:
    """Set what viewers see of one of the sender's live numbers."""
    ref = Ref.of(command.ref)
    before = state.record(asking.sender_id)
    lineage = Lineage(before.registrations.values(), asking.terms.rules)
    if ref not in {one.ref for one in lineage.live}:
        raise Refusal(ErrorCode.NOT_FOUND, "You have no such number; see the list of your numbers.")
    said = {one.ref: lineage.description(one.ref) for one in lineage.live}
    said[ref] = Description(command.labels, command.dial_priority)
    described = [
        replace(lineage.by_ref[one], description=description)
        for one, description in _pushed_down(said, ref).items()
        if description != lineage.description(one)
    ]
    if described:
        state.records.put(asking.sender_id, before.having(*described))
    return Decision(told=publish_changes(state, asking, before))


def _pushed_down(said: dict[Ref, Description], first: Ref) -> dict[Ref, Description]:
    """Make the priorities unique again: whoever holds a taken one moves to the next."""
    taken = {
        description.dial_priority: ref
        for ref, description in said.items()
        if ref != first and description.dial_priority is not None
    }
    after, moving, place = dict(said), first, said[first].dial_priority
    while place is not None:
        after[moving] = replace(after[moving], dial_priority=place)
        displaced = taken.get(place)
        if displaced is None:
            return after
        moving, place = displaced, place + 1
        if place > LEAST_PRIORITY:
            after[moving] = replace(after[moving], dial_priority=None)
            return after
    return after


def handed_on(before: Lineage, after: Lineage) -> tuple[Registration, ...]:
    """The live numbers that lose with a registration what its owner said of them, saying it now.

    What was said of a number holds for the one that came in its place. Of a registration that is
    erased nothing is kept, so that what stands in its place comes to say the same by itself.
    """
    return tuple(
        replace(one, description=said)
        for one in after.live
        if (said := before.description(one.ref)) != after.description(one.ref)
    )


def set_dial_order(state: State, asking: Asking, command: SetDialOrder) -> Decision:
    """Keep a viewer's own order for a contact.

    It is kept whoever the contact is: that it was kept says nothing of there being one.

    Raises:
        Refusal: `quota_exceeded`, the viewer keeps as many orders for others as are allowed.
    """
    key = (asking.sender_id, command.identity_id)
    order = tuple(dict.fromkeys(Ref.of(sent) for sent in command.order))
    kept = state.kept_by(asking.sender_id)
    if state.dial_orders.get(key) is not None:
        kept = kept.without_dial_order()
    state.kept.put(asking.sender_id, kept.with_dial_order(asking.terms.quotas) if order else kept)
    if order:
        state.dial_orders.put(key, DialOrder(*key, order))
    else:
        state.dial_orders.drop(key)
    return Decision()


def without(kept: DialOrder, ref: Ref, instead: Ref | None) -> DialOrder:
    """A viewer's order with a number let go: what came instead, if anything did, has its place."""
    order = (instead if one == ref else one for one in kept.order)
    return replace(kept, order=tuple(dict.fromkeys(one for one in order if one is not None)))
