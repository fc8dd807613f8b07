"""What waits for a SIM: looking at it before deciding."""

import sys
from collections import Counter
from collections.abc import Sequence
from shlex import quote
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, counted, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sim_texts, space_texts, texts
from contactmesh.cli.terminal.cards import Change, brief, change_line, changes_between, numbers_of
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import SimName, sim_here
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.terminal import PendingBook, PendingChange, PendingContact
from contactmesh.terminal.rules.ownership import plain_text

app = typer.Typer()

Diff = Annotated[bool, typer.Option("--diff", help=space_texts.HELP_DIFF)]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help=space_texts.HELP_LIMIT)
]

_MOST_ON_A_SCREEN: Final = 50


@app.command(
    "pending",
    help=space_texts.HELP_PENDING,
    epilog=space_texts.EXAMPLES_PENDING,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def pending(
    place: Place,
    sim: SimName,
    diff: Diff = False,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Show what waits for a SIM."""
    _, enrolment = place.enrolled()
    async with connected(place) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        book = await terminal.pending(found.sim_id)
    if as_json:
        print_json(_book_json(book))
        return
    shown = by_name(book.contacts)[: _most_shown(limit)]
    if not book.contacts:
        print_note(space_texts.NOTHING_WAITS.format(name=found.name))
    elif diff:
        for each in shown:
            _show_diff(each)
    else:
        print_table(space_texts.COLUMNS_PENDING, map(_row, shown))
    if len(book.contacts) > 1:
        print_note(in_all(book.contacts))
    if len(shown) < len(book.contacts):
        print_note(suggested(space_texts.SEE_ALL, shown=len(shown), sim=quote(found.name)))
    if book.filling:
        print_note(space_texts.STILL_FILLING)
    elif book.contacts:
        print_note(suggested(space_texts.ACCEPT_NEXT, sim=quote(found.name)))


def by_name(contacts: Sequence[PendingContact]) -> list[PendingContact]:
    """What waits, in the order in which people look for it."""
    return sorted(contacts, key=lambda each: (plain_text(each.display_name), each.uid))


def in_all(contacts: Sequence[PendingContact]) -> str:
    """How many wait, and what accepting them would do."""
    number = Counter(map(_counts_as, contacts))
    parts = [
        text.format(count=number[change])
        for change, text in space_texts.COUNTED_CHANGES.items()
        if number[change]
    ]
    return space_texts.IN_ALL.format(
        contacts=counted(len(contacts), texts.CONTACTS), parts=", ".join(parts)
    )


def _counts_as(contact: PendingContact) -> str:
    kept = contact.change is PendingChange.REMOVED and contact.changed_here
    return space_texts.KEPT_COUNT if kept else contact.change.value


def _most_shown(limit: int | None) -> int | None:
    """How many are listed: as many as are wanted, and no flood on a screen unasked."""
    if limit is None:
        return _MOST_ON_A_SCREEN if sys.stdout.isatty() else None
    return limit or None


def _changes(contact: PendingContact) -> list[Change]:
    """What accepting a contact would change in the phonebook."""
    return changes_between(contact.before, contact.after, contact.changed_fields or None)


def _what(contact: PendingContact) -> str:
    if contact.change is PendingChange.REMOVED and contact.changed_here:
        return space_texts.KEPT
    return space_texts.CHANGES[contact.change]


def _in_brief(contact: PendingContact) -> str:
    if contact.change is PendingChange.CHANGED:
        lines = [change_line(change) for change in _changes(contact)]
        return brief(lines, most=2, most_cells=48)
    return "" if contact.card is None else brief(numbers_of(contact.card), most=2, most_cells=40)


def _row(contact: PendingContact) -> tuple[str, ...]:
    return (
        contact.display_name,
        _what(contact),
        _in_brief(contact),
        space_texts.CHANGED_HERE if contact.changed_here else "",
        short_contact_id(contact.uid),
    )


def _show_diff(contact: PendingContact) -> None:
    merged = contact.changed_here and contact.change is PendingChange.CHANGED
    title = space_texts.DIFF_TITLE_HERE if merged else space_texts.DIFF_TITLE
    print_text(title.format(name=contact.display_name, change=_what(contact)))
    for change in _changes(contact):
        print_text(space_texts.DIFF_LINE.format(line=change_line(change)))


def _book_json(book: PendingBook) -> JsonValue:
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
                    for change in _changes(contact)
                ],
                "card": None if contact.card is None else dict(contact.card.to_json()),
            }
            for contact in book.contacts
        ],
    }
