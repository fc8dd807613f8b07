"""What the registry said of a contact's numbers, and what is shown of it in the phonebook.

A check tells numbers, not whole cards. So what it told is laid over the card that the groups and
the owner make up: replaced numbers are replaced, withdrawn ones left out, added ones added. When
the groups then push the same, nothing changes any more. A card that is newer than the check is
believed: its owner has published since.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final, cast

from pydantic import JsonValue

from contactmesh.contacts import CARRIER_PROPERTY, NumberKind, read_number
from contactmesh.contracts.carrier.check import ChangeCode, Checked, LineChange
from contactmesh.contracts.carrier.records import (
    MOST_NUMBERS,
    MOST_REFERENCES,
    DataVolume,
    LineType,
    RegistrationRef,
    ShownState,
)
from contactmesh.terminal.rules.ownership import Entries, entries_of, entry_value
from contactmesh.terminal.rules.views import CardJson

_MARKS: Final = ("label", "pref")


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A live number of a contact as the registry last told it.

    Attributes:
        ref: which tenure of the number it is.
        number: the number in E.164.
        line_type: what it is for.
        ported: whether it came from another carrier.
        labels: what its owner calls it.
        dial_priority: where its owner wants it dialled, 1 first.
        state: what the network knew of it, with `state_at`, if that was granted.
        state_at: when the carrier confirmed the state.
        remaining: what was left of its plan, with `remaining_at`, if that was granted.
        remaining_at: when the carrier confirmed that.
    """

    ref: RegistrationRef
    number: str
    line_type: LineType = LineType.MOBILE
    ported: bool = False
    labels: tuple[str, ...] = ()
    dial_priority: int | None = None
    state: ShownState | None = None
    state_at: datetime | None = None
    remaining: DataVolume | None = None
    remaining_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GoneNumber:
    """A number that is the contact's no more.

    Attributes:
        number: the number in E.164.
        successor: the number that came in its place, none if it was withdrawn.
        as_of: the newest revision of the contact's cards when this was told.
    """

    number: str
    successor: str | None
    as_of: int


@dataclass(frozen=True, slots=True)
class Question:
    """What a check asks about: what the phonebook knows of a contact's numbers.

    Attributes:
        registrations: the numbers whose reference is known, with their numbers.
        numbers: others, in E.164.
        unasked: known numbers for which the check has no room.
    """

    registrations: Mapping[RegistrationRef, str]
    numbers: tuple[str, ...]
    unasked: frozenset[str] = frozenset()


def question(
    card: CardJson, lines: Iterable[KnownLine], region: str | None, *, doubted: bool
) -> Question:
    """What to ask about a contact.

    Only the registry's own answers are believed for references. Anybody may have written what a
    card says, and a wrong one would count against the viewer.

    Args:
        card: the contact as it is shown.
        lines: what an earlier check told.
        region: the country (ISO 3166) of numbers without a country code.
        doubted: whether the references of the lines may be wrong: then numbers alone are asked.
    """
    told = {line.ref: line.number for line in lines}
    registrations = {} if doubted else dict(islice(told.items(), MOST_REFERENCES))
    phones = entries_of(card, "phones").values()
    on_card = (_complete(phone.get("number"), region) for phone in phones)
    by_ref = set(registrations.values())
    others = tuple(
        dict.fromkeys(
            number
            for number in (*told.values(), *on_card)
            if number is not None and number not in by_ref
        )
    )
    return Question(registrations, others[:MOST_NUMBERS], frozenset(others[MOST_NUMBERS:]))


def _complete(text: JsonValue, region: str | None) -> str | None:
    if not isinstance(text, str):
        return None
    read = read_number(text, region)
    return read.key if read.kind is NumberKind.COMPLETE else None


def news(answer: Checked, asked: Question) -> tuple[LineChange, ...]:
    """The changes of an answer, without known numbers that are added only for want of room."""
    return tuple(
        change
        for change in answer.changes
        if change.known is not None
        or change.number is not None
        or change.line is None
        or change.line.msisdn not in asked.unasked
    )


def lines_told(answer: Checked) -> tuple[KnownLine, ...]:
    """The live numbers of an answer with their state and usage, in the dial order offered."""
    status = {report.ref: report for report in answer.status}
    told = []
    for line in answer.lines:
        known = KnownLine(
            ref=line.ref,
            number=line.msisdn,
            line_type=line.line_type,
            ported=line.ported,
            labels=line.labels,
            dial_priority=line.dial_priority,
        )
        report = status.get(line.ref)
        if report is not None and report.state is not None:
            known = replace(known, state=report.state.state, state_at=report.state.last_status_time)
        if report is not None and report.usage is not None:
            known = replace(
                known,
                remaining=report.usage.remaining,
                remaining_at=report.usage.last_status_time,
            )
        told.append(known)
    return tuple(told)


def gone_after(
    gone: Iterable[GoneNumber], answer: Checked, asked: Question, as_of: int
) -> tuple[GoneNumber, ...]:
    """The numbers that are the contact's no more, after an answer.

    Args:
        gone: those known before.
        answer: the answer.
        asked: what was asked.
        as_of: the newest revision of the contact's cards now.
    """
    live = {line.msisdn for line in answer.lines}
    by_number = {each.number: each for each in gone}
    for change in answer.changes:
        number = _asked_about(change, asked)
        if number is None:
            continue
        if change.code is ChangeCode.NUMBER_WITHDRAWN:
            by_number[number] = GoneNumber(number, None, as_of)
        elif change.number_changed and change.line is not None:
            by_number[number] = GoneNumber(number, change.line.msisdn, as_of)
    return tuple(each for number, each in by_number.items() if number not in live)


def _asked_about(change: LineChange, asked: Question) -> str | None:
    if change.known is not None:
        return asked.registrations.get(change.known)
    return change.number


def in_order(lines: Iterable[KnownLine], order: Sequence[RegistrationRef]) -> tuple[KnownLine, ...]:
    """Numbers in the viewer's own dial order, the rest after them in the owner's.

    Args:
        lines: the numbers.
        order: the viewer's own order; empty for the owner's.
    """
    own = {ref: place for place, ref in enumerate(order)}

    def place(line: KnownLine) -> tuple[int, int, str, int]:
        priority = 1_000 if line.dial_priority is None else line.dial_priority
        seq = int(line.ref.registration_seq)
        return (own.get(line.ref, len(own)), priority, line.ref.carrier_id, seq)

    return tuple(sorted(lines, key=place))


def lay_over(
    card: CardJson,
    lines: Iterable[KnownLine],
    gone: Iterable[GoneNumber],
    *,
    of_member: Iterable[str],
    rev: int,
    region: str | None,
) -> CardJson:
    """A card with what the registry said of the numbers on it.

    The owner's own label and preference stay on a number that was replaced.

    Args:
        card: what groups and owner make up.
        lines: the live numbers.
        gone: the numbers that are the contact's no more.
        of_member: the keys of those phones that a group's card brought.
        rev: the newest revision of the groups' cards.
        region: the country (ISO 3166) of numbers without a country code.
    """
    by_number = {each.number: each for each in gone}
    live = {line.number: line for line in lines}
    theirs = frozenset(of_member)

    def leads_to(key: str, number: str) -> str | None:
        passed: set[str] = set()
        while number not in live and number not in passed:
            known = by_number.get(number)
            if known is None or (key in theirs and rev > known.as_of):
                break
            if known.successor is None:
                return None
            passed.add(number)
            number = known.successor
        return number

    phones: dict[str, dict[str, JsonValue]] = {}
    left: list[tuple[str, Mapping[str, JsonValue]]] = []
    for key, phone in _standing_first(entries_of(card, "phones"), live, region):
        number = _complete(phone.get("number"), region)
        now = None if number is None else leads_to(key, number)
        if number is None or now == number:
            phones[key] = dict(phone)
        elif now is not None:
            left.append((now, phone))
            if not _shows(phones, now, region):
                moved = {**phone, "number": now}
                moved.pop(CARRIER_PROPERTY, None)
                phones[key] = moved
    for number, phone in left:
        _hand_on_marks(phones, number, phone, region)
    for number, line in live.items():
        if not _shows(phones, number, region):
            phones[f"line-{line.ref.carrier_id}-{line.ref.registration_seq}"] = _added(line)
    if phones == entries_of(card, "phones"):
        return card
    shown = {name: value for name, value in card.items() if name != "phones"}
    return {**shown, "phones": cast("JsonValue", phones)} if phones else shown


def _standing_first(
    phones: Entries, live: Mapping[str, KnownLine], region: str | None
) -> list[tuple[str, Mapping[str, JsonValue]]]:
    """Phones that are live as they are come before those that may lead to the same number."""
    return sorted(
        phones.items(), key=lambda item: entry_value("phones", item[1], region) not in live
    )


def _shows(phones: Entries, number: str, region: str | None) -> bool:
    return any(entry_value("phones", phone, region) == number for phone in phones.values())


def _hand_on_marks(
    phones: dict[str, dict[str, JsonValue]],
    number: str,
    phone: Mapping[str, JsonValue],
    region: str | None,
) -> None:
    for other in phones.values():
        if entry_value("phones", other, region) == number:
            for mark in _MARKS:
                if mark in phone:
                    other.setdefault(mark, phone[mark])
            return


def _added(line: KnownLine) -> dict[str, JsonValue]:
    phone: dict[str, JsonValue] = {"number": line.number}
    if line.line_type is LineType.MOBILE:
        phone["features"] = {"mobile": True}
    if line.labels:
        phone["label"] = ", ".join(line.labels)
    return phone
