"""Taking in what carriers say of their own registrations."""

from dataclasses import replace

from carrier_registry_service.domain.facts import contradiction, joined
from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Ref, Registration
from carrier_registry_service.domain.state import Asking, Decision, Issued, Record, State, Told
from carrier_registry_service.domain.telling import publish_changes
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.feed import EntryOutcome, Fed, Feed
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.errors import ErrorCode, Refusal


def feed(state: State, asking: Asking, command: Feed) -> Decision:
    """Join facts one by one; a rejected one has no effect, and the others stand.

    A carrier speaks of its own registrations alone: an entry names no carrier, so that there is no
    way to speak of another's.
    """
    outcomes: list[EntryOutcome] = []
    before: dict[str, Record] = {}
    recycled: list[Told] = []
    for index, entry in enumerate(command.entries):
        ref = Ref(asking.sender_id, int(entry.registration_seq))
        try:
            known = state.registration(ref)
            after = joined(known, entry, asking.now)
            if after is known:
                outcomes.append(EntryOutcome(index=index, outcome="same"))
                continue
            _check_links(state, asking, known, after)
            _keep(state, asking, known, after, before)
        except Refusal as refusal:
            outcomes.append(EntryOutcome(index=index, outcome="rejected", error=refusal.body))
            continue
        recycled += _recycled(known, after)
        outcomes.append(EntryOutcome(index=index, outcome="applied"))
    told = [one for record in before.values() for one in publish_changes(state, asking, record)]
    return Decision(Fed(outcomes=tuple(outcomes)), (*told, *recycled))


def _check_links(state: State, asking: Asking, known: Registration, after: Registration) -> None:
    """See that a registration takes the place only of one of the same person, and not of itself.

    That is asked of the carrier's own alone: whose another carrier's is, is none of its business,
    so that such a link is taken in, and counts for nothing if it leads to another person
    (`Lineage`). So does one to a registration of its own that turns out later to be another
    person's: it is taken in as it is, since nobody knows it better than its carrier.
    """
    began = after.began
    if began is None or began == known.began or began.replaces is None:
        return
    if began.replaces.carrier_id == after.ref.carrier_id:
        replaced = state.issued.get(began.replaces)
        if replaced is not None and replaced.identity_id not in (None, began.identity_id):
            raise contradiction("It cannot replace a registration of somebody else.")
    record = state.record(began.identity_id).having(after)
    if Lineage(record.registrations.values(), asking.terms.rules).closes_a_cycle(after.ref):
        raise contradiction("It would come to replace itself.")


def _keep(
    state: State,
    asking: Asking,
    known: Registration,
    after: Registration,
    before: dict[str, Record],
) -> None:
    issued = state.issued.get(after.ref) or Issued(after.ref)
    if after.began is None:
        state.issued.put(after.ref, replace(issued, waiting=after))
        return
    identity_id = after.began.identity_id
    record = state.record(identity_id)
    if known.began is None:
        held = sum(ref.carrier_id == after.ref.carrier_id for ref in record.registrations)
        if held >= asking.terms.registrations:
            raise Refusal(
                ErrorCode.QUOTA_EXCEEDED,
                "This person has as many registrations at your carrier as are allowed.",
                limit=asking.terms.registrations,
            )
        state.issued.put(after.ref, replace(issued, identity_id=identity_id, waiting=None))
    if (known.began, known.endings) != (after.began, after.endings):
        before.setdefault(identity_id, record)
    state.records.put(identity_id, record.having(after))


def _recycled(known: Registration, after: Registration) -> list[Told]:
    """Tell that a number was given on, as soon as it is known whose it was."""
    if after.began is None or (known.began is not None and _given_on(known)):
        return []
    if not _given_on(after):
        return []
    owner_id = after.began.identity_id
    return [Told(RegistrationRecycled(owner_id=owner_id, ref=after.ref.shown()), owner_id)]


def _given_on(registration: Registration) -> bool:
    return any(ending.reason is EndReason.RECYCLED for ending in registration.endings)
