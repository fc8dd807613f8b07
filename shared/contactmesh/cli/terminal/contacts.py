"""Reading the phonebook: all of it, and one contact with who said what."""

from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.cards import Line, brief, lines_of, numbers_of, private_of, seen
from contactmesh.cli.terminal.connecting import phonebook_of
from contactmesh.cli.terminal.field_names import field_name
from contactmesh.cli.terminal.naming import ContactName, contact_named, short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.sync_telling import tell_failing
from contactmesh.terminal import Contact, Phonebook
from contactmesh.terminal.rules.views import CardJson

app = typer.Typer()


@app.command(
    "contacts",
    help=texts.HELP_CONTACTS,
    epilog=texts.EXAMPLES_CONTACTS,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def contacts(
    place: Place,
    search: Annotated[str | None, typer.Argument(help=texts.HELP_SEARCH)] = None,
    as_json: AsJson = False,
) -> None:
    """List the contacts."""
    async with phonebook_of(place) as phonebook:
        found = await phonebook.contacts(search)
        names = await group_names(phonebook)
        await tell_failing(phonebook)
    if as_json:
        print_json([contact_json(contact) for contact in found])
    elif found:
        print_table(
            texts.COLUMNS_CONTACTS,
            [
                (
                    contact.display_name,
                    brief(numbers_of(contact.card), most=2, most_cells=40),
                    ", ".join(names.get(group, group) for group in contact.groups),
                    brief(private_of(contact.card), most=2, most_cells=16),
                    short_contact_id(contact.contact_id),
                )
                for contact in found
            ],
        )
    else:
        print_note(
            texts.NOTHING_FOUND.format(search=search) if search else suggested(texts.NO_CONTACTS)
        )


@app.command(
    "contact",
    help=texts.HELP_CONTACT_SHOW,
    epilog=texts.EXAMPLE_CONTACT,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def contact(place: Place, name: ContactName, as_json: AsJson = False) -> None:
    """Show one contact."""
    _, enrolment = place.enrolled()
    async with phonebook_of(place) as phonebook:
        found = await contact_named(phonebook, name)
        names = await group_names(phonebook)
        cards = await _member_cards(phonebook, found)
    lines = lines_of(found.card, cards, enrolment.region)
    if as_json:
        fields: list[JsonValue] = [_line_json(line) for line in lines]
        print_json({**contact_json(found), "fields": fields})
        return
    print_text(texts.CONTACT_TITLE.format(name=found.display_name, contact_id=found.contact_id))
    print_text(_origin(found, names))
    if lines:
        print_text("")
        print_table(
            texts.COLUMNS_CONTACT,
            [
                (
                    field_name(line.field),
                    seen(line.value),
                    line.label,
                    texts.THEIRS if line.of_member else texts.OWN,
                )
                for line in lines
            ],
        )


def contact_json(contact: Contact) -> dict[str, JsonValue]:
    """A contact for scripts."""
    return {
        "contact_id": contact.contact_id,
        "display_name": contact.display_name,
        "user_id": contact.user_id,
        "groups": list(contact.groups),
        "own": contact.own,
        "card": dict(contact.card.to_json()),
    }


async def group_names(phonebook: Phonebook) -> dict[str, str]:
    """The names of the groups that the terminal knows, by id."""
    return {group.group_id: group.name for group in await phonebook.groups()}


async def _member_cards(phonebook: Phonebook, contact: Contact) -> list[CardJson]:
    return [
        member.card.to_json()
        for group in contact.groups
        for member in await phonebook.members(group)
        if member.user_id == contact.user_id and member.card is not None
    ]


def _line_json(line: Line) -> JsonValue:
    return {
        "field": line.field,
        "value": line.value,
        "label": line.label,
        "of": "member" if line.of_member else "owner",
    }


def _origin(contact: Contact, names: dict[str, str]) -> str:
    if contact.user_id is None:
        return texts.CONTACT_OWN
    groups = ", ".join(names.get(group, group) for group in contact.groups)
    text = texts.CONTACT_LINKED if contact.own else texts.CONTACT_OF_GROUP
    return text.format(user_id=contact.user_id, groups=groups)
