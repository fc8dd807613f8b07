"""The event that tells of a changed live record: the whole of it, and how it came about."""

from collections.abc import Mapping
from typing import Final

from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Ref
from carrier_registry_service.domain.state import Asking, Record, State, Told
from contactmesh.contacts import Card, CarrierLine, Phone, changed_fields
from contactmesh.contacts.jscontact.base import Flags
from contactmesh.contracts.carrier.records import Line, LineType
from contactmesh.contracts.contact import ContactChanged, LineReplaced, Origin, Scope

SERVICE: Final = "carrier_registry_service"


def publish_changes(state: State, asking: Asking, before: Record) -> tuple[Told, ...]:
    """Give an identity's record its next revision and tell of it, if its live numbers changed."""
    identity_id, rules = before.identity_id, asking.terms.rules
    then = Lineage(before.registrations.values(), rules)
    now = state.lineage(identity_id, rules)
    lines_then, lines_now = then.lines(), now.lines()
    if lines_then == lines_now:
        return ()
    record = state.record(identity_id).advanced(asking.now)
    state.records.put(identity_id, record)
    card_then, card_now = _card(identity_id, lines_then), _card(identity_id, lines_now)
    changed = ContactChanged(
        scope=Scope.LINE,
        owner_id=identity_id,
        uid=card_now.uid,
        rev=record.rev,
        card=card_now.to_json(),
        changed_fields=changed_fields(card_then, card_now),
        origin=Origin(service=SERVICE, terminal_id=asking.terminal_id),
        lines=replacements(then, now),
    )
    return (Told(changed, identity_id, record.rev),)


def replacements(then: Lineage, now: Lineage) -> tuple[LineReplaced, ...]:
    """What became of each number, and which are new; a number follows one other at the most.

    A number that stands again, after it was withdrawn or replaced, follows itself, and what stood
    in its place meanwhile. One that begins follows all in whose place it came, also those whose end
    was told as a withdrawal, as when the carrier that lost a number speaks before the one that won
    it. One that still stands is not mentioned, whatever its owner says of it.
    """
    lines_then, lines_now = then.lines(), now.lines()
    told: list[LineReplaced] = []
    covered: set[Ref] = set()
    for ref, line in lines_then.items():
        if ref in lines_now:
            continue
        after = _in_place_of(ref, now)
        if after is None or after in lines_then or after in covered:
            told.append(LineReplaced(before=line))
        else:
            covered.add(after)
            told.append(LineReplaced(before=line, after=lines_now[after]))
    for ref, line in lines_now.items():
        if ref in then.by_ref and ref not in lines_then:
            told.append(LineReplaced(before=then.line(ref), after=line))
        elif ref not in lines_then and ref not in covered:
            befores = [before for before in now.predecessors(ref) if before not in lines_then]
            told += [LineReplaced(before=now.line(before), after=line) for before in befores]
            told += [] if befores else [LineReplaced(after=line)]
    return tuple(told)


def _in_place_of(ref: Ref, now: Lineage) -> Ref | None:
    """What stands where a registration stood: its successor, else what it had replaced itself."""
    successor = now.successor(ref)
    if successor is not None:
        return successor.registration.ref
    live = {one.ref for one in now.live}
    return next((before for before in now.predecessors(ref) if before in live), None)


def _card(identity_id: str, lines: Mapping[Ref, Line]) -> Card:
    return Card(
        uid=f"urn:contactmesh:lines:{identity_id}",
        phones={f"{ref.carrier_id}_{ref.seq}": _phone(line) for ref, line in lines.items()},
    )


def _phone(line: Line) -> Phone:
    features: Flags = {"voice": True}
    if line.line_type is LineType.MOBILE:
        features["mobile"] = True
    return Phone(
        number=line.msisdn,
        features=features,
        pref=line.dial_priority,
        label=", ".join(line.labels) or None,
        carrier=CarrierLine(
            carrier_id=line.ref.carrier_id,
            registration_seq=line.ref.registration_seq,
            line_type=line.line_type.value,
            ported=line.ported,
        ),
    )
