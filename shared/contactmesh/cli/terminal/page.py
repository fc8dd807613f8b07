"""A contact's page: opening it asks the registry whether the numbers still stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from contactmesh.cli.errors import SystemUnreachable, told
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_error,
    print_json,
    print_note,
    print_table,
    print_text,
)
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected, phonebook_of
from contactmesh.cli.terminal.contacts import contact_json
from contactmesh.cli.terminal.enrolling import show_terminal
from contactmesh.cli.terminal.field_names import said
from contactmesh.cli.terminal.naming import contact_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.contacts import match_key
from contactmesh.contracts.carrier.check import ChangeCode, LineChange
from contactmesh.contracts.carrier.records import DataVolume, ShownState
from contactmesh.contracts.errors import ErrorCode
from contactmesh.terminal import (
    AuthenticationRefused,
    CommandRefused,
    Contact,
    KnownLine,
    KnownLines,
    NobodyToAskAbout,
    TerminalInUse,
)
from contactmesh.terminal.rules.lines import Question
from contactmesh.terminal.rules.ownership import Entry, entries_of

app = typer.Typer()

PATIENCE_SECONDS: Final = 6.0
"""How long a page waits for the registry before it shows what is known."""
OF_THE_REGISTRY: Final = (
    "carrier_id",
    "registration_seq",
    "line_type",
    "ported",
    "shared_labels",
    "dial_priority",
    "state",
    "state_at",
    "remaining",
    "remaining_at",
)
"""What a script finds at each number, null where the registry knows nothing of it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking the registry.

    Attributes:
        changes: what became of the numbers.
        before: what the phonebook knew before.
        problem: why there is no answer, in a word for scripts; none if there is.
        reason: the same for people.
    """

    changes: tuple[LineChange, ...] = ()
    before: Question | None = None
    problem: str | None = None
    reason: str = texts.CHECKED_NOW


@app.command(
    "show",
    help=texts.HELP_SHOW,
    epilog=texts.EXAMPLE_SHOW,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def show(
    place: Place,
    name: Annotated[
        str | None, typer.Argument(metavar="CONTACT", help=texts.HELP_PAGE_CONTACT)
    ] = None,
    identity: Annotated[
        str | None, typer.Option("--identity", metavar="USER", help=texts.HELP_PAGE_IDENTITY)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a contact's page, or the terminal."""
    if name is None:
        await show_terminal(place, as_json=as_json)
        return
    async with phonebook_of(place) as phonebook:
        contact_id = (await contact_named(phonebook, name)).contact_id
    asked = await _ask(place, contact_id, identity)
    _, enrolment = place.enrolled()
    async with phonebook_of(place) as phonebook:
        contact, known = await phonebook.contact(contact_id), await phonebook.lines(contact_id)
    if as_json:
        print_json(_page_json(contact, known, asked, enrolment.region))
    else:
        _print_page(contact, known, asked, enrolment.region)
    if asked.problem == ErrorCode.RATE_LIMITED:
        print_error(asked.reason)
        raise typer.Exit(ExitCode.FAILED)


async def _ask(place: Place, contact_id: str, identity: str | None) -> Asked:
    try:
        async with connected(place, deadline_seconds=PATIENCE_SECONDS) as terminal:
            checked = await terminal.check(contact_id, identity)
        return Asked(checked.changes, checked.asked)
    except CommandRefused as refused:
        reason = texts.UPDATE_FAILED if refused.code is ErrorCode.NOT_FOUND else told(refused)
        return Asked(problem=refused.code, reason=reason)
    except NobodyToAskAbout:
        return Asked(problem="nobody", reason=texts.NOT_ASKED_NOBODY)
    except TerminalInUse:
        return Asked(problem="in_use", reason=texts.NOT_ASKED_IN_USE)
    except AuthenticationRefused:
        return Asked(problem="revoked", reason=texts.NOT_ASKED_REVOKED)
    except SystemUnreachable:
        return Asked(problem="unreachable", reason=texts.NOT_ASKED_UNREACHABLE)


def _print_page(contact: Contact, known: KnownLines, asked: Asked, region: str | None) -> None:
    print_text(texts.CONTACT_TITLE.format(name=contact.display_name, contact_id=contact.contact_id))
    if asked.problem is None:
        print_note(asked.reason if known.lines else f"{asked.reason} {texts.NO_LIVE_NUMBER}")
    elif known.checked_at is None:
        print_note(f"{asked.reason} {texts.CHECKED_NEVER}")
    else:
        then = texts.CHECKED_THEN.format(time=local_time(known.checked_at.isoformat()))
        print_note(f"{asked.reason} {then}")
    for change in asked.changes:
        if text := _change(change, asked.before):
            print_text(text)
    rows = [_row(line, phone) for line, phone in _numbers(contact, known, region)]
    if rows:
        print_text("")
        print_table(texts.COLUMNS_PAGE, rows)


def _change(change: LineChange, before: Question | None) -> str:
    now, carrier = "", ""
    if change.line is not None:
        now, carrier = change.line.msisdn, change.line.ref.carrier_id
    if change.ported and not change.number_changed:
        return texts.PORTED_TO.format(now=now, carrier=carrier)
    known = change.number
    if change.known is not None and before is not None:
        known = before.registrations.get(change.known)
    text = texts.CHANGES.get(change.code, "")
    return text.format(before=known or texts.A_NUMBER, now=now, carrier=carrier)


def _numbers(
    contact: Contact, known: KnownLines, region: str | None
) -> list[tuple[KnownLine | None, Entry]]:
    """The numbers as they are best dialled; those that the registry does not know come after."""
    phones = list(entries_of(contact.card.to_json(), "phones").values())
    by_key = {match_key(said(phone["number"]), region): phone for phone in phones}
    lines = [(line, by_key.get(line.number, {"number": line.number})) for line in known.dialling]
    told_of = {line.number for line in known.lines}
    return [
        *lines,
        *((None, phone) for key, phone in by_key.items() if key not in told_of),
    ]


def _row(line: KnownLine | None, phone: Entry) -> Sequence[str]:
    label = str(phone.get("label", ""))
    if line is None:
        return (said(phone["number"]), "", "", "", "", label)
    carrier = line.ref.carrier_id
    shared = ", ".join(line.labels)
    return (
        line.number,
        texts.PORTED.format(carrier=carrier) if line.ported else carrier,
        state_as_of(line.state, line.state_at),
        plan_as_of(line.remaining, line.remaining_at),
        shared,
        "" if label == shared else label,
    )


def state_as_of(state: ShownState | None, at: datetime | None) -> str:
    """A number's state and when it was so; that it is not known, if nobody reported it."""
    return _as_of(None if state is None else texts.STATES[state], at)


def plan_as_of(remaining: DataVolume | None, at: datetime | None) -> str:
    """What is left of a number's plan, likewise."""
    return _as_of(None if remaining is None else texts.VOLUMES[remaining], at)


def _as_of(what: str | None, at: datetime | None) -> str:
    if what is None or at is None:
        return texts.NOT_KNOWN
    return texts.AS_OF.format(what=what, time=local_time(at.isoformat()))


def _page_json(
    contact: Contact, known: KnownLines, asked: Asked, region: str | None
) -> dict[str, JsonValue]:
    return {
        **contact_json(contact),
        "identity_id": known.identity_id,
        "asked": asked.problem is None,
        "problem": asked.problem,
        "checked_at": None if known.checked_at is None else known.checked_at.isoformat(),
        "changes": [
            change.payload() for change in asked.changes if change.code is not ChangeCode.UNCHANGED
        ],
        "numbers": [_number_json(line, phone) for line, phone in _numbers(contact, known, region)],
    }


def _number_json(line: KnownLine | None, phone: Entry) -> JsonValue:
    label = phone.get("label")
    if line is None:
        return {"number": said(phone["number"]), "label": label, **dict.fromkeys(OF_THE_REGISTRY)}
    return {
        "number": line.number,
        "label": label,
        "carrier_id": line.ref.carrier_id,
        "registration_seq": line.ref.registration_seq,
        "line_type": line.line_type,
        "ported": line.ported,
        "shared_labels": list(line.labels),
        "dial_priority": line.dial_priority,
        "state": line.state,
        "state_at": None if line.state_at is None else line.state_at.isoformat(),
        "remaining": line.remaining,
        "remaining_at": None if line.remaining_at is None else line.remaining_at.isoformat(),
    }
