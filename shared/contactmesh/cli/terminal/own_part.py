"""What is one's own on a contact: notes and labels, and which member it is."""

from typing import Annotated, cast

import typer
from pydantic import JsonValue, ValidationError

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.cards import numbers_of
from contactmesh.cli.terminal.connecting import phonebook_of
from contactmesh.cli.terminal.contacts import contact_json
from contactmesh.cli.terminal.naming import ContactName, UserName, contact_named, user_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.contacts import Card
from contactmesh.terminal import Contact, Phonebook
from contactmesh.terminal.rules.ownership import entries_of, entry_value

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
        own = await _own_part(phonebook, found)
        notes = {} if replace else dict(entries_of(own, "notes"))
        if text:
            notes[_free_key("note", notes)] = {"note": text}
        written = await _write(phonebook, found, own, "notes", cast("JsonValue", notes))
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
        own = await _own_part(phonebook, found)
        phones = {key: dict(phone) for key, phone in entries_of(own, "phones").items()}
        key, shown = _phone(found, number, enrolment.region)
        value = entry_value("phones", shown, enrolment.region)
        own_key = next(
            (
                each
                for each, phone in phones.items()
                if entry_value("phones", phone, enrolment.region) == value
            ),
            _free_key(key, phones),
        )
        phone = phones.setdefault(own_key, dict(shown))
        phone.pop("label", None)
        if text:
            phone["label"] = text
        written = await _write(phonebook, found, own, "phones", cast("JsonValue", phones))
    shown_text = texts.LABELLED if text else texts.UNLABELLED
    _tell(written, shown_text.format(number=said_number(shown), label=text), as_json)


def said_number(phone: object) -> str:
    """The number of a phone entry, as people write it."""
    number = phone.get("number", "") if isinstance(phone, dict) else ""
    return str(number).removeprefix("tel:")


def _phone(contact: Contact, number: str, region: str | None) -> tuple[str, dict[str, JsonValue]]:
    sought = entry_value("phones", {"number": number}, region)
    for key, phone in entries_of(contact.card.to_json(), "phones").items():
        if entry_value("phones", phone, region) == sought:
            return key, dict(phone)
    known = ", ".join(numbers_of(contact.card)) or texts.NO_NUMBER
    raise CommandError(
        texts.NUMBER_NOT_THERE.format(name=contact.display_name, number=number, known=known)
    )


async def _own_part(phonebook: Phonebook, contact: Contact) -> dict[str, JsonValue]:
    own = await phonebook.own_part(contact.contact_id)
    if own is not None:
        return dict(own.to_json())
    return {"@type": "Card", "version": "1.0", "uid": contact.card.uid}


async def _write(
    phonebook: Phonebook,
    contact: Contact,
    own: dict[str, JsonValue],
    name: str,
    value: JsonValue,
) -> Contact:
    edited = {**own, name: value} if value else {k: v for k, v in own.items() if k != name}
    try:
        card = Card.model_validate(edited)
    except ValidationError as error:
        raise WrongUsage(texts.BAD_TEXT) from error
    await phonebook.write_own(contact.contact_id, card)
    return await phonebook.contact(contact.contact_id)


def _free_key(wanted: str, taken: object) -> str:
    keys = set(taken) if isinstance(taken, dict) else set()
    number, key = 1, wanted
    while key in keys:
        number += 1
        key = f"{wanted}{number}"
    return key


def _tell(contact: Contact, text: str, as_json: bool) -> None:
    if as_json:
        print_json(contact_json(contact))
    else:
        print_text(text)
