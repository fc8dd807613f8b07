"""Where two terminals changed the same: looking at what lost, and settling it."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.book import contacts_by_uid
from contactmesh.cli.terminal.cards import brief, seen
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.field_names import field_name, said
from contactmesh.cli.terminal.history import by_whom
from contactmesh.cli.terminal.naming import by_id, mark_of, one_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.times import told
from contactmesh.cli.terminal.versions import MOST_LINES, changes
from contactmesh.contacts import Card
from contactmesh.contracts.sync.records import ConflictKind, ConflictView
from contactmesh.terminal import Contact
from contactmesh.terminal.rules.ownership import plain_text

app = typer.Typer()


@app.command(
    "conflicts",
    help=sync_texts.HELP_CONFLICTS,
    epilog=sync_texts.EXAMPLES_CONFLICTS,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def conflicts(
    place: Place,
    take: Annotated[
        list[str] | None, typer.Option("--take", metavar="ID", help=sync_texts.HELP_TAKE)
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="ID", help=sync_texts.HELP_KEEP)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List conflicts, or settle some."""
    async with connected(place) as terminal:
        waiting = await terminal.conflicts()
        chosen = choose(waiting, take or (), keep or ())
        contacts = await contacts_by_uid(terminal.phonebook)
        here = terminal.terminal_id
        for conflict, take_lost in chosen:
            await terminal.settle(conflict.conflict_id, take_lost=take_lost)
            if not as_json:
                _tell_settled(conflict, contacts.get(conflict.uid), take_lost)
    if as_json and chosen:
        print_json(
            [
                {"conflict_id": conflict.conflict_id, "outcome": "taken" if take_lost else "kept"}
                for conflict, take_lost in chosen
            ]
        )
    elif as_json:
        print_json([_json(conflict) for conflict in waiting])
    elif not waiting:
        print_note(sync_texts.NO_CONFLICTS)
    elif not chosen:
        rows = [_row(place, each, contacts.get(each.uid), here) for each in waiting]
        print_table(sync_texts.COLUMNS_CONFLICTS, rows)
        print_note(suggested(sync_texts.SETTLE_NEXT))


def choose(
    waiting: Sequence[ConflictView], take: Iterable[str], keep: Iterable[str]
) -> list[tuple[ConflictView, bool]]:
    """The conflicts that are named, each with whether what lost is taken.

    The latest comes last: of two values that lost at the same place, it is the one to take.

    Raises:
        NoSuchThing: none, or those of several contacts, are named so.
        WrongUsage: one is named both ways.
    """
    taken, kept = (
        {each.conflict_id for name in names for each in find_conflicts(waiting, name)}
        for names in (take, keep)
    )
    if taken & kept:
        raise WrongUsage(sync_texts.TAKE_OR_KEEP)
    return [
        (each, each.conflict_id in taken)
        for each in reversed(waiting)
        if each.conflict_id in taken | kept
    ]


def find_conflicts(waiting: Sequence[ConflictView], name: str) -> list[ConflictView]:
    """A conflict by its id as it is shown, all of a contact by its name, or simply all.

    Raises:
        NoSuchThing: none, or those of several contacts, are named so.
    """
    sought = plain_text(name)
    named = [each for each in waiting if plain_text(each.name) == sought]
    if not named and sought == sync_texts.ALL:
        return list(waiting)
    if len({each.uid for each in named}) == 1:
        return named
    one = one_named(
        name,
        named or by_id(waiting, name, lambda each: mark_of(each.conflict_id)),
        sync_texts.NO_CONFLICT,
        lambda each: f"{mark_of(each.conflict_id)} ({each.name}, {_field(each)})",
    )
    return [one]


def _field(conflict: ConflictView, contact: Contact | None = None) -> str:
    if not conflict.path:
        return sync_texts.WHOLE_CONTACT
    return field_name(conflict.path, () if contact is None else (contact.card,))


def _stands(conflict: ConflictView, contact: Contact | None) -> str:
    """What counts now."""
    if conflict.kind is ConflictKind.FIELD:
        return _value(conflict.kept)
    return sync_texts.THE_DELETION if contact is None else sync_texts.THE_CONTACT


def _lost(conflict: ConflictView, contact: Contact | None) -> str:
    """What does not count; of a whole contact, in what it is different."""
    if conflict.kind is ConflictKind.FIELD:
        return _value(conflict.lost)
    if conflict.lost is None:
        return sync_texts.THE_DELETION
    lines = changes(None if contact is None else contact.card, Card.model_validate(conflict.lost))
    return brief(lines, most=MOST_LINES, most_cells=48)


def _value(value: JsonValue) -> str:
    if value is None:
        return sync_texts.NOTHING_THERE
    return brief([seen(said(value))], most=1, most_cells=40)


def _row(
    place: Place, conflict: ConflictView, contact: Contact | None, here: str
) -> tuple[str, ...]:
    return (
        conflict.name,
        _field(conflict, contact),
        _stands(conflict, contact),
        _lost(conflict, contact),
        by_whom(conflict.lost_by, here, place),
        told(conflict.at),
        mark_of(conflict.conflict_id),
    )


def _tell_settled(conflict: ConflictView, contact: Contact | None, take_lost: bool) -> None:
    text = sync_texts.TAKEN if take_lost else sync_texts.KEPT
    print_text(text.format(name=conflict.name, lost=_lost(conflict, contact)))


def _json(conflict: ConflictView) -> JsonValue:
    return {
        "id": mark_of(conflict.conflict_id),
        **conflict.model_dump(mode="json", exclude_none=True),
    }
