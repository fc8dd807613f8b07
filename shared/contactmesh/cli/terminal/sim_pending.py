"""What waits for a SIM: looking at it before deciding."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sim_texts
from contactmesh.cli.terminal.cards import Change, brief, change_line, changes_between
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import SimName, sim_here
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import Card
from contactmesh.terminal import PendingBook, PendingChange, PendingContact, Phonebook

app = typer.Typer()

Diff = Annotated[bool, typer.Option("--diff", help=sim_texts.HELP_DIFF)]


@app.command(
    "pending",
    help=sim_texts.HELP_PENDING,
    epilog=sim_texts.EXAMPLES_PENDING,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def pending(
    place: Place,
    sim: SimName,
    diff: Diff = False,
    as_json: AsJson = False,
) -> None:
    """Show what waits for a SIM."""
    _, enrolment = place.enrolled()
    async with connected(place) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        book = await terminal.pending(found.sim_id)
        changes = await _changes(terminal.phonebook, book.contacts)
    if as_json:
        print_json(_book_json(book, changes))
        return
    if not book.contacts:
        print_note(sim_texts.NOTHING_WAITS.format(name=found.name))
    elif diff:
        for each in book.contacts:
            _show_diff(each, changes[each.uid])
    else:
        rows = [_row(each, changes[each.uid]) for each in book.contacts]
        print_table(sim_texts.COLUMNS_PENDING, rows)
    if book.filling:
        print_note(sim_texts.STILL_FILLING)
    elif book.contacts:
        print_note(suggested(sim_texts.DECIDE_NEXT, sim=quote(found.name)))


async def _changes(
    phonebook: Phonebook, contacts: Sequence[PendingContact]
) -> dict[str, list[Change]]:
    """What differs between the phonebook and what waits, by uid."""
    ids = {each.card.uid: each.contact_id for each in await phonebook.contacts() if each.own}
    changes = {}
    for contact in contacts:
        own: Card | None = None
        if contact.uid in ids:
            own = await phonebook.own_part(ids[contact.uid])
        fields = contact.changed_fields if contact.change is PendingChange.CHANGED else None
        changes[contact.uid] = changes_between(own, contact.card, fields)
    return changes


def _row(contact: PendingContact, changes: Sequence[Change]) -> tuple[str, ...]:
    lines = [change_line(change) for change in changes]
    return (
        contact.display_name,
        sim_texts.CHANGES[contact.change],
        brief(lines, most=2, most_cells=48) if contact.change is PendingChange.CHANGED else "",
        sim_texts.CHANGED_HERE if contact.changed_here else "",
        short_contact_id(contact.uid),
    )


def _show_diff(contact: PendingContact, changes: Sequence[Change]) -> None:
    title = sim_texts.DIFF_TITLE_HERE if contact.changed_here else sim_texts.DIFF_TITLE
    print_text(title.format(name=contact.display_name, change=sim_texts.CHANGES[contact.change]))
    for change in changes:
        print_text(sim_texts.DIFF_LINE.format(line=change_line(change)))


def _book_json(book: PendingBook, changes: Mapping[str, Sequence[Change]]) -> JsonValue:
    return {
        "pending_rev": book.pending_rev,
        "filling": book.filling,
        "contacts": [
            {
                "uid": contact.uid,
                "display_name": contact.display_name,
                "change": contact.change,
                "changed_here": contact.changed_here,
                "changes": [
                    {"field": change.field, "old": change.old, "new": change.new}
                    for change in changes[contact.uid]
                ],
                "card": None if contact.card is None else dict(contact.card.to_json()),
            }
            for contact in book.contacts
        ],
    }
