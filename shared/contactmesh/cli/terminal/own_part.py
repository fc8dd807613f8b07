"""What is one's own on a contact: notes, labels, which member it is, and the entry itself."""

from typing import Annotated

import typer

from contactmesh.cli.output import AsJson, print_json, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.connecting import phonebook_of
from contactmesh.cli.terminal.contacts import contact_json
from contactmesh.cli.terminal.naming import ContactName, UserName, contact_named, user_named
from contactmesh.cli.terminal.own_edits import with_label, with_note
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.terminal import Contact

app = typer.Typer()


@app.command(
    "link",
    help=texts.HELP_LINK,
    epilog=texts.EXAMPLE_LINK,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def link(place: Place, name: ContactName, user: UserName, as_json: AsJson = False) -> None:
    """Say that a contact is a member."""
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        user_id = await user_named(phonebook, user)
        await phonebook.link(found.contact_id, user_id)
        linked = await phonebook.contact(found.contact_id)
    _tell(linked, texts.LINKED.format(name=linked.display_name, user_id=user_id), as_json)


@app.command(
    "unlink",
    help=texts.HELP_UNLINK,
    epilog=texts.EXAMPLE_UNLINK,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def unlink(place: Place, name: ContactName, as_json: AsJson = False) -> None:
    """Part a contact from its member."""
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        await phonebook.unlink(found.contact_id)
        parted = await phonebook.contact(found.contact_id)
    text = texts.UNLINKED.format(name=parted.display_name, user_id=found.user_id)
    _tell(parted, text, as_json)


@app.command(
    "note",
    help=texts.HELP_NOTE,
    epilog=texts.EXAMPLE_NOTE,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def note(
    place: Place,
    name: ContactName,
    text: Annotated[str, typer.Argument(help=texts.HELP_NOTE_TEXT)],
    replace: Annotated[bool, typer.Option("--replace", help=texts.HELP_NOTE_REPLACE)] = False,
    as_json: AsJson = False,
) -> None:
    """Write a private note on a contact."""
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        own = await phonebook.own_part(found.contact_id)
        await phonebook.write_own(
            found.contact_id, with_note(own, found.card, text, replace=replace)
        )
        written = await phonebook.contact(found.contact_id)
    _tell(written, texts.NOTED.format(name=written.display_name), as_json)


@app.command(
    "label",
    help=texts.HELP_LABEL,
    epilog=texts.EXAMPLE_LABEL,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def label(
    place: Place,
    name: ContactName,
    number: Annotated[str, typer.Argument(help=texts.HELP_LABEL_NUMBER)],
    text: Annotated[str, typer.Argument(metavar="LABEL", help=texts.HELP_LABEL_TEXT)],
    as_json: AsJson = False,
) -> None:
    """Give a number of a contact a label of one's own."""
    _, enrolment = place.enrolled()
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        own = await phonebook.own_part(found.contact_id)
        labelled = with_label(own, found.card, number, text, region=enrolment.region)
        await phonebook.write_own(found.contact_id, labelled)
        written = await phonebook.contact(found.contact_id)
    told = texts.LABELLED if text else texts.UNLABELLED
    _tell(written, told.format(name=written.display_name, number=number, label=text), as_json)


@app.command(
    "delete",
    help=texts.HELP_DELETE,
    epilog=texts.EXAMPLE_DELETE,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def delete(
    place: Place, name: ContactName, yes: SaidYes = False, as_json: AsJson = False
) -> None:
    """Delete one's own entry of a contact."""
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        sure(texts.ASK_DELETE.format(name=found.display_name), yes)
        await phonebook.delete_own(found.contact_id)
    text = texts.DELETED if found.user_id is None else texts.DELETED_OWN_PART
    _tell(found, text.format(name=found.display_name, user_id=found.user_id), as_json)


def _tell(contact: Contact, text: str, as_json: bool) -> None:
    if as_json:
        print_json(contact_json(contact))
    else:
        print_text(text)
