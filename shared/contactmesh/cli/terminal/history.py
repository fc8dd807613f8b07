"""What a contact was in the last 30 days, and erasing it with all that."""

from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.errors import CommandError
from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.cards import brief
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import ContactName
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.sync_telling import tell_waiting
from contactmesh.cli.terminal.times import told_to_second
from contactmesh.cli.terminal.versions import MOST_LINES, Entry, Numbered, entry_named, versions_of

app = typer.Typer()


@app.command(
    "history",
    help=sync_texts.HELP_HISTORY,
    epilog=sync_texts.EXAMPLE_HISTORY,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def history(place: Place, name: ContactName, as_json: AsJson = False) -> None:
    """Show the versions of a contact."""
    async with connected(place) as terminal:
        await tell_waiting(terminal.phonebook)
        entry = await entry_named(terminal, name)
        versions = await versions_of(terminal, entry)
    if as_json:
        print_json([_json(one) for one in versions])
    else:
        _show(place, entry, versions, terminal.terminal_id)


@app.command(
    "erase",
    help=sync_texts.HELP_ERASE,
    epilog=sync_texts.EXAMPLE_ERASE,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def erase(
    place: Place,
    names: Annotated[
        list[str], typer.Argument(metavar="CONTACT...", help=sync_texts.HELP_ERASE_CONTACTS)
    ],
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """Erase contacts with their history."""
    async with connected(place, asks=not yes) as terminal:
        found = [await entry_named(terminal, name) for name in names]
        contacts = {entry.uid: entry.name for entry in found}
        together = ", ".join(contacts.values())
        ask = sync_texts.ASK_ERASE if len(contacts) > 1 else sync_texts.ASK_ERASE_ONE
        sure(ask.format(names=together), yes)
        erased = await terminal.erase(contacts)
    if not erased:
        raise CommandError(suggested(sync_texts.NO_SUCH_CONTACT, name=together))
    if as_json:
        print_json({"erased": list(erased)})
    else:
        print_text(sync_texts.ERASED.format(names=", ".join(contacts[uid] for uid in erased)))


def by_whom(terminal_id: str | None, here: str, place: Place) -> str:
    """Which terminal did something, by its name if it is one of this machine's."""
    if terminal_id is None:
        return ""
    return sync_texts.HERE if terminal_id == here else place.names.get(terminal_id, terminal_id)


def _show(place: Place, entry: Entry, versions: list[Numbered], here: str) -> None:
    print_table(
        sync_texts.COLUMNS_HISTORY,
        [
            (
                str(one.number),
                told_to_second(one.version.at),
                by_whom(one.version.terminal_id, here, place),
                one.what,
                brief(one.lines, most=MOST_LINES, most_cells=48),
            )
            for one in versions
        ],
    )
    if len(versions) > 1:
        print_note(suggested(sync_texts.RESTORE_NEXT, contact=quote(entry.name)))


def _json(one: Numbered) -> JsonValue:
    version = one.version
    return {"version": one.number, **version.model_dump(mode="json", exclude_none=True)}
