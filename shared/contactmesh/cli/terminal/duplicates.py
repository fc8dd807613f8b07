"""Contacts that may be one person: finding them, making one of two, and parting them again."""

from datetime import UTC, datetime
from typing import Annotated

import typer
import uuid_utils
from pydantic import JsonValue

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.cards import brief, numbers_of
from contactmesh.cli.terminal.connecting import phonebook_of
from contactmesh.cli.terminal.naming import by_id, mark_of, one_named, short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.times import told
from contactmesh.terminal import Contact, Duplicate, Joined, Phonebook

app = typer.Typer()


@app.command(
    "duplicates",
    help=sync_texts.HELP_DUPLICATES,
    epilog=sync_texts.EXAMPLES_DUPLICATES,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def duplicates(
    place: Place,
    join: Annotated[
        str | None, typer.Option("--join", metavar="ID", help=sync_texts.HELP_JOIN)
    ] = None,
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="ID", help=sync_texts.HELP_UNDO)
    ] = None,
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """List contacts that may be one person, join two, or part them."""
    if join is not None and undo is not None:
        raise WrongUsage(sync_texts.JOIN_OR_UNDO)
    async with phonebook_of(place) as phonebook:
        if join is not None:
            await _join(phonebook, join, yes, as_json)
        elif undo is not None:
            await _undo(phonebook, undo, as_json)
        else:
            await _list(phonebook, as_json)


async def _join(phonebook: Phonebook, name: str, yes: bool, as_json: bool) -> None:
    pair = one_named(
        name,
        by_id(await phonebook.duplicates(), name, _mark),
        sync_texts.NO_PAIR,
        lambda pair: f"{_mark(pair)} ({pair.first.display_name}, {pair.second.display_name})",
    )
    sure(sync_texts.ASK_JOIN.format(first=_seen(pair.first), second=_seen(pair.second)), yes)
    join_id, first = str(uuid_utils.uuid7()), pair.first.contact_id
    await phonebook.join(first, pair.second.contact_id, datetime.now(UTC), join_id)
    joined = await phonebook.contact(first)
    if as_json:
        print_json({"join_id": join_id, "contact_id": first, "name": joined.display_name})
    else:
        print_text(sync_texts.JOINED.format(name=joined.display_name))
        print_note(suggested(sync_texts.UNDO_NEXT, join=short_contact_id(join_id)))


async def _undo(phonebook: Phonebook, name: str, as_json: bool) -> None:
    joined = one_named(
        name,
        by_id(await phonebook.joins(datetime.now(UTC)), name, lambda one: one.join_id),
        sync_texts.NO_JOIN,
        lambda one: f"{short_contact_id(one.join_id)} ({one.display_name})",
    )
    await phonebook.undo_join(joined.join_id, datetime.now(UTC))
    if as_json:
        print_json({"join_id": joined.join_id, "outcome": "undone"})
    else:
        print_text(sync_texts.PARTED.format(name=joined.display_name))


async def _list(phonebook: Phonebook, as_json: bool) -> None:
    pairs, joins = await phonebook.duplicates(), await phonebook.joins(datetime.now(UTC))
    if as_json:
        print_json({"pairs": list(map(_json, pairs)), "joins": list(map(_join_json, joins))})
        return
    if pairs:
        print_table(sync_texts.COLUMNS_DUPLICATES, map(_row, pairs))
        print_note(suggested(sync_texts.JOIN_NEXT))
    else:
        print_note(sync_texts.NO_DUPLICATES)
    if joins:
        print_text("")
        print_table(
            sync_texts.COLUMNS_JOINS,
            [
                (one.display_name, told(one.joined_at), short_contact_id(one.join_id))
                for one in joins
            ],
        )
        print_note(suggested(sync_texts.UNDO_LISTED))


def _mark(pair: Duplicate) -> str:
    return mark_of(pair.first.contact_id, pair.second.contact_id)


def _seen(contact: Contact) -> str:
    numbers = brief(numbers_of(contact.card), most=2, most_cells=24)
    name = contact.display_name
    return sync_texts.SEEN_AS.format(name=name, numbers=numbers) if numbers else name


def _row(pair: Duplicate) -> tuple[str, ...]:
    return (
        _seen(pair.first),
        _seen(pair.second),
        sync_texts.LIKELY.format(percent=round(100 * pair.score)),
        ", ".join(pair.reasons),
        _mark(pair),
    )


def _json(pair: Duplicate) -> JsonValue:
    return {
        "id": _mark(pair),
        "first": _contact_json(pair.first),
        "second": _contact_json(pair.second),
        "score": pair.score,
        "reasons": list(pair.reasons),
    }


def _contact_json(contact: Contact) -> JsonValue:
    return {"contact_id": contact.contact_id, "display_name": contact.display_name}


def _join_json(one: Joined) -> JsonValue:
    return {
        "join_id": one.join_id,
        "joined_at": one.joined_at.isoformat(),
        "display_name": one.display_name,
    }
