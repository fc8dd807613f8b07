"""Taking in what carriers say of their own registrations."""

from dataclasses import dataclass, field, replace

from carrier_registry_service.domain.describing import handed_on
from carrier_registry_service.domain.facts import contradiction, joined
from carrier_registry_service.domain.holding import Holder, losing
from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Beginning, Ref, Registration
from carrier_registry_service.domain.state import Asking, Decision, Issued, Record, State
from carrier_registry_service.domain.telling import publish_changes
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.feed import EntryOutcome, Fed, Feed
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.deciding.decision import Told


def feed(state: State, asking: Asking, command: Feed) -> Decision:
    """Join facts one by one; a rejected one has no effect, and the others stand.

    A carrier speaks of its own registrations alone: an entry names no carrier, so that there is no
    way to speak of another's.
    """
    outcomes: list[EntryOutcome] = []
    effects = _Effects()
    for index, entry in enumerate(command.entries):
        ref = Ref(asking.sender_id, int(entry.registration_seq))
        try:
            known = state.registration(ref)
            after = joined(known, entry, asking.now)
            if after is known:
                outcomes.append(EntryOutcome(index=index, outcome="same"))
                continue
            _check_links(state, asking, known, after)
            _keep(state, asking, known, after, effects)
        except Refusal as refusal:
            outcomes.append(EntryOutcome(index=index, outcome="rejected", error=refusal.body))
            continue
        outcomes.append(EntryOutcome(index=index, outcome="applied"))
    told = [
        one for record in effects.before.values() for one in publish_changes(state, asking, record)
    ]
    return Decision(Fed(outcomes=tuple(outcomes)), (*told, *effects.recycled))


@dataclass(slots=True)
class _Effects:
    """What others have to hear of: records as they were before, and numbers that were given on."""

    before: dict[str, Record] = field(default_factory=dict)
    recycled: list[Told] = field(default_factory=list)

    def note(self, record: Record, known: Registration, after: Registration) -> None:
        """Note what a registration of a record becomes.

        That its number was given on is told as soon as it is known whose it was.
        """
        owner_id = record.identity_id
        if _course(known) != _course(after):
            self.before.setdefault(owner_id, record)
        if after.given_on is not None and (known.began is None or known.given_on is None):
            event = RegistrationRecycled(owner_id=owner_id, ref=after.ref.shown())
            self.recycled.append(Told(event, owner_id))


def _course(registration: Registration) -> tuple[object, ...]:
    """What decides whether a registration stands."""
    return registration.began, registration.endings, registration.passed_on


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
    state: State, asking: Asking, known: Registration, after: Registration, effects: _Effects
) -> None:
    issued = state.issued.get(after.ref) or Issued(after.ref)
    began = after.began
    if began is None:
        state.issued.put(after.ref, replace(issued, waiting=after))
        return
    if known.began is None:
        _check_quotas(state, asking, after.ref, began)
        identity_id = began.identity_id
        state.issued.put(after.ref, replace(issued, identity_id=identity_id, waiting=None))
        after = _take_number(state, after, began, effects)
    record = state.record(began.identity_id)
    now = record.having(after)
    if known.description != after.description:
        rules = asking.terms.rules
        was, becomes = (Lineage(one.registrations.values(), rules) for one in (record, now))
        now = now.having(*handed_on(was, becomes))
    effects.note(record, known, after)
    state.records.put(began.identity_id, now)


def _take_number(
    state: State, after: Registration, began: Beginning, effects: _Effects
) -> Registration:
    """Begin a tenure of a number: its carrier's older one ends, and this one before a newer."""
    holder = Holder.of(after.ref, began)
    holders = state.holders_of(after.ref.carrier_id, began.msisdn)
    state.holders.put((after.ref.carrier_id, began.msisdn), holders.having(holder))
    previous = holders.before(holder)
    if previous is not None and previous.identity_id != began.identity_id:
        record = state.record(previous.identity_id)
        lost = losing(record.registrations.values(), holder, began.msisdn)
        for one in lost:
            effects.note(record, record.registrations[one.ref], one)
        state.records.put(previous.identity_id, record.having(*lost))
    return replace(after, passed_on=holders.passed_on(holder))


def _check_quotas(state: State, asking: Asking, ref: Ref, began: Beginning) -> None:
    """See that neither a person nor a number comes to have registrations at a carrier without end.

    Raises:
        Refusal: `quota_exceeded`, one of them has as many as are allowed.
    """
    limit = asking.terms.registrations
    persons = sum(
        one.carrier_id == ref.carrier_id for one in state.record(began.identity_id).registrations
    )
    numbers = len(state.holders_of(ref.carrier_id, began.msisdn).known)
    for whose, count in (("person", persons), ("number", numbers)):
        if count >= limit:
            raise Refusal(
                ErrorCode.QUOTA_EXCEEDED,
                f"This {whose} has as many registrations at your carrier as are allowed.",
                limit=limit,
            )
