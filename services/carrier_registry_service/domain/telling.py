"""The event that tells of a changed live record: the whole of it, and how it came about."""

from collections.abc import Mapping
from typing import Final

from carrier_registry_service.domain.lineage import Lineage
from carrier_registry_service.domain.registration import Ref
from carrier_registry_service.domain.state import Asking, Record, State
from contactmesh.contacts import Card, CarrierLine, Phone, changed_fields
from contactmesh.contacts.jscontact.base import Flags
from contactmesh.contracts.carrier.records import Line, LineType
from contactmesh.contracts.contact import ContactChanged, LineReplaced, Origin, Scope
from contactmesh.deciding.decision import Told

SERVICE: Final = "carrier_registry_service"


def publish_changes(state: State, asking: Asking, before: Record) -> tuple[Told, ...]:
    """Give an identity's record its next revision and tell of it, if others see it changed.

    That is so when its live numbers changed, and also when only now it is known which of them
    stands where an ended one stood: a card may still show that one.
    """
    identity_id, rules = before.identity_id, asking.terms.rules
    then = Lineage(before.registrations.values(), rules)
    now = state.lineage(identity_id, rules)
    lines_then, lines_now = then.lines, now.lines
    replaced = replacements(then, now)
    if lines_then == lines_now and not replaced:
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
        lines=replaced,
    )
    return (Told(changed, identity_id, record.rev),)


def replacements(then: Lineage, now: Lineage) -> tuple[LineReplaced, ...]:
    """What became of each number since, and which numbers are new.

    A registration is told of whenever another one than before stands in its place, even if it ended
    long ago or was told to be withdrawn: carriers speak in any order, and who follows these events
    comes to the same end. One that still stands is not mentioned, whatever its owner says of it.
    """
    told: list[LineReplaced] = []
    new: list[Ref] = []
    followed: set[Ref] = set()
    for ref in sorted(now.by_ref):
        known, place = ref in then.by_ref, _in_place_of(ref, now)
        if place == ref and not known:
            new.append(ref)
        elif not known or place != _in_place_of(ref, then):
            after = None if place is None else now.line(place)
            told.append(LineReplaced(before=now.line(ref), after=after))
            followed |= set() if place is None else {place}
    told += [LineReplaced(after=now.line(ref)) for ref in new if ref not in followed]
    return tuple(told)


def _in_place_of(ref: Ref, lineage: Lineage) -> Ref | None:
    """What stands where a registration stood, if anything does."""
    successor = lineage.successor(ref)
    return None if successor is None else successor.registration.ref


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
