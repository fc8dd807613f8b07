"""Answering whether a contact's numbers still stand (rows C1 to C7)."""

from dataclasses import replace
from typing import Final

from carrier_registry_service.domain.access import EVERYTHING, NOTHING, Access
from carrier_registry_service.domain.budgets import Budget
from carrier_registry_service.domain.comparison import Comparison, compare, in_dial_order
from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Ref
from carrier_registry_service.domain.showing import statuses
from carrier_registry_service.domain.state import Asked, Asking, Decision, Looked, State
from contactmesh.contracts.carrier.check import Check, Checked
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.reply import Result

NOT_FOUND: Final = "This contact could not be updated: there is no such contact for you."


def check(state: State, asking: Asking, command: Check) -> Decision:
    """Compare what a viewer knows of a contact with the live record.

    Whoever may not see the contact, or names nobody, has the same answer after the same work: the
    access is found out without the contact's record, and the record is looked at only for those
    who have it.
    """
    owner_id, viewer_id = command.identity_id, asking.sender_id
    if owner_id == viewer_id:
        lineage = state.lineage(owner_id, asking.terms.rules)
        return Decision(_answer(command, EVERYTHING, lineage, _compared(lineage, command), ()))
    try:
        budget = _counted(state, asking, owner_id)
        access = state.access(owner_id, viewer_id)
        if access == NOTHING:
            _log(state, asking, owner_id, NOTHING)
            raise _not_found()
        lineage = state.lineage(owner_id, asking.terms.rules)
        comparison = _compared(lineage, command)
        try:
            _count_failed(state, asking, budget, comparison)
        except Refusal:
            _log(state, asking, owner_id, NOTHING)
            raise
        own = state.dial_orders.get((viewer_id, owner_id))
        answer = _answer(command, access, lineage, comparison, () if own is None else own.order)
        _log(state, asking, owner_id, NOTHING if isinstance(answer, Refusal) else access)
        return Decision(answer)
    except Refusal as refusal:
        return Decision(refusal)


def _compared(lineage: Lineage, command: Check) -> Comparison:
    return compare(lineage, [Ref.of(sent) for sent in command.registrations], command.numbers)


def _answer(
    command: Check,
    access: Access,
    lineage: Lineage,
    comparison: Comparison,
    order: tuple[Ref, ...],
) -> Result | Refusal:
    if comparison.failed and not comparison.right:
        return _not_found()
    return Checked(
        identity_id=command.identity_id,
        changes=comparison.changes,
        lines=in_dial_order(lineage, order),
        status=statuses(lineage.live, access),
    )


def _counted(state: State, asking: Asking, owner_id: str) -> Budget:
    """Count the identity against the viewer's day, once.

    Raises:
        Refusal: `rate_limited`, the budget is used up.
    """
    limits, viewer_id, now = asking.terms.limits, asking.sender_id, asking.now
    budget = state.budget(viewer_id).at(now)
    budget.check_failed(now, limits)
    asked = state.asked.get((viewer_id, owner_id))
    if asked is not None and asked.day_from == budget.day_from:
        return budget
    budget = budget.with_identity(now, limits)
    assert budget.day_from is not None  # noqa: S101 - it has just counted
    state.budgets.put(viewer_id, budget)
    state.asked.put((viewer_id, owner_id), Asked(viewer_id, owner_id, budget.day_from))
    return budget


def _count_failed(state: State, asking: Asking, budget: Budget, comparison: Comparison) -> None:
    """Count references that were none of the contact's (row 6).

    Raises:
        Refusal: `rate_limited`, they are more than the budget has left: none is answered.
    """
    limits = asking.terms.limits
    if not comparison.failed:
        return
    after = budget.with_failed(comparison.failed, asking.now, limits)
    state.budgets.put(asking.sender_id, after)
    if not budget.room_for(comparison.failed, limits):
        after.check_failed(asking.now, limits)


def _log(state: State, asking: Asking, owner_id: str, access: Access) -> None:
    """Let the owner see the look; there may be no such owner, which must not show."""
    look = Looked(
        owner_id=owner_id,
        viewer_id=asking.sender_id,
        at=asking.now,
        last_at=asking.now,
        fields=access.fields,
        allowed=access.details,
    )
    before = state.looks.get(look.look_id)
    if before is not None:
        look = replace(before, last_at=asking.now, count=before.count + 1)
    state.looks.put(look.look_id, look)


def _not_found() -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, NOT_FOUND)
