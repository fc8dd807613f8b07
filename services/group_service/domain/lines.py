"""A member's number changed at the carrier: it changes on the member's cards too.

Line events come in any order and any number of times. Each says what became of some registrations;
what was learnt is kept as successions, of which the newest revision counts, and a number on a card
is followed from succession to succession to its end. So the cards come out the same whatever the
order was, and an event that was seen before changes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from contactmesh.contacts import CARRIER_PROPERTY, Card, digest, match_key, region_of
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.contact import ContactChanged, LineReplaced, Origin
from contactmesh.deciding.decision import Told
from group_service.domain.cards import replace_card
from group_service.domain.documents import Member, Succession, Withdrawn
from group_service.domain.state import State

_TEL: Final = "tel:"

Phone = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _End:
    """Where the successions of a number lead: to a live number, or to `last`, the withdrawal."""

    last: Succession

    @property
    def number(self) -> str | None:
        return self.last.after_number

    @property
    def ref(self) -> str | None:
        return self.last.after


@dataclass(slots=True)
class _Removed:
    key: str
    phone: Phone
    by: Succession


def follow(state: State, event: ContactChanged, now: datetime) -> tuple[Told, ...]:
    """Take a line event in: keep what it says, and publish the owner's cards that it changes.

    An added number is put on no card: its owner has published it to nobody.
    """
    owner_id = event.owner_id
    fresh = [
        succession
        for line in event.lines
        if (succession := _learnt(state, owner_id, line, event.rev)) is not None
    ]
    if not fresh:
        return ()
    state.guard(owner_id)
    returning = [entry for succession in fresh for entry in _returning(succession)]
    known = _Known(
        [succession for succession in state.successions if succession.owner_id == owner_id],
        {succession.before for succession in fresh},
    )
    told = []
    for member in state.members:
        if member.user_id == owner_id and member.active and member.card is not None:
            here = [entry for entry in returning if entry[1].group_id == member.group_id]
            published = _published(state, member, known, here, event.origin, now)
            if published is not None:
                told.append(published)
    return tuple(told)


def _learnt(state: State, owner_id: str, line: LineReplaced, rev: int) -> Succession | None:
    """What a line event says of a registration, unless as much or more is known."""
    if line.before is None:
        return None
    before = str(line.before.ref)
    known = state.successions.get((owner_id, before))
    if known is not None and known.rev >= rev:
        return None
    succession = Succession(
        owner_id=owner_id,
        before=before,
        before_number=line.before.msisdn,
        rev=rev,
        after=None if line.after is None else str(line.after.ref),
        after_number=None if line.after is None else line.after.msisdn,
        withdrawn=() if known is None else known.withdrawn,
    )
    state.successions.put((owner_id, before), succession)
    return succession


def _returning(succession: Succession) -> Iterable[tuple[Succession, Withdrawn]]:
    """The entries that a withdrawal took off cards, when it turns out to be a replacement."""
    if succession.after is not None:
        for entry in succession.withdrawn:
            yield succession, entry


class _Known:
    """All that is known of one user's numbers; `fresh` are the registrations just learnt of."""

    def __init__(self, successions: Iterable[Succession], fresh: set[str]) -> None:
        # A number that followed itself stands again, whatever had become of it before.
        self._by_ref = {
            succession.before: succession
            for succession in successions
            if succession.after != succession.before
        }
        self._fresh = fresh

    def end_of(self, phone: Phone) -> _End | None:
        """Where a phone on a card leads, nothing if it stands as it is."""
        ref = _ref_of(phone)
        if ref is not None:
            return self._end(ref)
        ended = [
            succession
            for succession in self._by_ref.values()
            if succession.before in self._fresh and _same(_written(phone), succession.before_number)
        ]
        if not ended or self._lives(phone):
            return None
        return self._end(max(ended, key=lambda succession: succession.rev).before)

    def _lives(self, phone: Phone) -> bool:
        """Whether the number came back: it may have left its owner and been given them again."""
        return any(
            succession.after is not None
            and succession.after not in self._by_ref
            and succession.after_number is not None
            and _same(_written(phone), succession.after_number)
            for succession in self._by_ref.values()
        )

    def _end(self, ref: str) -> _End | None:
        passed: set[str] = set()
        last: Succession | None = None
        while (succession := self._by_ref.get(ref)) is not None and ref not in passed:
            passed.add(ref)
            last = succession
            if succession.after is None:
                break
            ref = succession.after
        return None if last is None else _End(last)


def _published(
    state: State,
    member: Member,
    known: _Known,
    returning: list[tuple[Succession, Withdrawn]],
    origin: Origin,
    now: datetime,
) -> Told | None:
    group = state.groups.get(member.group_id)
    if group is None or group.dissolved or member.card is None:
        return None
    phones, removed = _followed(member.card.get("phones") or {}, known)
    for succession, entry in returning:
        if entry.card_rev != member.card_rev or entry.key in phones:
            continue
        end = known.end_of({**entry.phone, **_named(succession)})
        phone = entry.phone if end is None else _moved(entry.phone, end)
        if phone is not None:
            phones[entry.key] = phone
        elif end is not None:
            _keep(state, end.last, entry)
    content = {name: value for name, value in member.card.items() if name != "phones"}
    card = Card.model_validate({**content, "phones": phones} if phones else content)
    if digest(card) == member.card_digest:
        return None
    changed = replace_card(
        state, group, member, card, origin=Origin(service=origin.service), now=now
    )
    _remember(state, member, removed, changed.rev)
    return Told(changed, member.user_id, changed.rev)


def _keep(state: State, succession: Succession, entry: Withdrawn) -> None:
    """Leave an entry with the withdrawal that keeps it off the card now."""
    key = (succession.owner_id, succession.before)
    now_known = state.successions.get(key) or succession
    if entry not in now_known.withdrawn:
        state.successions.put(key, replace(now_known, withdrawn=(*now_known.withdrawn, entry)))


def _followed(
    phones: Mapping[str, Phone], known: _Known
) -> tuple[dict[str, Phone], list[_Removed]]:
    """The phones of a card with every number followed to its end, and what had to go."""
    standing: dict[str, Phone] = {}
    removed: list[_Removed] = []
    ends = {key: known.end_of(phone) for key, phone in phones.items()}
    there = [phone for key, phone in phones.items() if ends[key] is None]
    for key, phone in phones.items():
        end = ends[key]
        if end is None:
            standing[key] = phone
            continue
        moved = _moved(phone, end)
        if moved is None:
            removed.append(_Removed(key, phone, end.last))
        elif not any(_same(_written(other), end.number or "") for other in there):
            # Two entries that came to one number are one entry.
            standing[key] = moved
            there.append(moved)
    return standing, removed


def _moved(phone: Phone, end: _End) -> Phone | None:
    """A phone at the number where it leads, none if that was withdrawn."""
    if end.number is None or end.ref is None:
        return None
    written = _written(phone)
    moved = dict(phone)
    if not _same(written, end.number):
        moved["number"] = (_TEL if written.lower().startswith(_TEL) else "") + end.number
    if CARRIER_PROPERTY in phone:
        # Only where the owner tells it; the network that the old number was in tells nothing now.
        moved[CARRIER_PROPERTY] = _carrier(end.ref)
    return moved


def _written(phone: Phone) -> str:
    return str(phone.get("number", ""))


def _same(written: str, number: str) -> bool:
    return match_key(written, region_of(number)) == number


def _carrier(ref: str) -> dict[str, str]:
    carrier_id, _, registration_seq = ref.partition(":")
    return {"carrierId": carrier_id, "registrationSeq": registration_seq}


def _named(succession: Succession) -> dict[str, dict[str, str]]:
    return {CARRIER_PROPERTY: _carrier(succession.before)}


def _ref_of(phone: Phone) -> str | None:
    carrier = phone.get(CARRIER_PROPERTY)
    if not isinstance(carrier, dict) or not {"carrierId", "registrationSeq"} <= carrier.keys():
        return None
    return str(
        RegistrationRef(
            carrier_id=carrier["carrierId"], registration_seq=carrier["registrationSeq"]
        )
    )


def _remember(state: State, member: Member, removed: list[_Removed], card_rev: int) -> None:
    """Keep what had to go, and let what went before go on to stand for the new card."""
    for succession in state.successions:
        if succession.owner_id != member.user_id:
            continue
        kept = [
            replace(entry, card_rev=card_rev)
            if entry.group_id == member.group_id and entry.card_rev == member.card_rev
            else entry
            for entry in succession.withdrawn
            if succession.after is None
        ]
        kept += [
            Withdrawn(member.group_id, entry.key, entry.phone, card_rev)
            for entry in removed
            if entry.by.before == succession.before
        ]
        if tuple(kept) != succession.withdrawn:
            changed = replace(succession, withdrawn=tuple(kept))
            state.successions.put((succession.owner_id, succession.before), changed)
