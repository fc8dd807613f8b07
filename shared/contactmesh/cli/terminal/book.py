"""What counts for the whole address book: how edits that meet are joined, and who is its owner."""

from enum import StrEnum
from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_note, print_text
from contactmesh.cli.terminal import sync_texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import contact_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import BookView
from contactmesh.contracts.sync.records import Policy
from contactmesh.terminal import CommandRefused, Contact, Phonebook, Terminal

app = typer.Typer()


class PolicyName(StrEnum):
    """The policies as they are typed."""

    MERGE = "merge"
    LATEST_WINS = "latest-wins"

    @property
    def policy(self) -> Policy:
        """The policy itself."""
        return Policy[self.name]


@app.command(
    "sync-policy",
    help=sync_texts.HELP_POLICY,
    epilog=sync_texts.EXAMPLE_POLICY,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def sync_policy(
    place: Place,
    chosen: Annotated[
        PolicyName | None,
        typer.Argument(metavar="merge|latest-wins", help=sync_texts.HELP_POLICY_VALUE),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show or set what becomes of edits that meet."""
    async with connected(place) as terminal:
        if chosen is not None:
            await terminal.set_policy(chosen.policy)
            policy = chosen.policy
        else:
            book = await _book(terminal)
            policy = Policy.MERGE if book is None else book.policy
    if as_json:
        print_json({"policy": PolicyName[policy.name]})
    else:
        print_text(sync_texts.POLICIES[policy])


@app.command(
    "own-card",
    help=sync_texts.HELP_OWN_CARD,
    epilog=sync_texts.EXAMPLES_OWN_CARD,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def own_card(
    place: Place,
    name: Annotated[
        str | None, typer.Argument(metavar="CONTACT", help=sync_texts.HELP_OWN_CARD_CONTACT)
    ] = None,
    none: Annotated[bool, typer.Option("--none", help=sync_texts.HELP_OWN_CARD_NONE)] = False,
    as_json: AsJson = False,
) -> None:
    """Show or say which contact is one's own card."""
    if none and name is not None:
        raise WrongUsage(sync_texts.CONTACT_OR_NONE)
    async with connected(place) as terminal:
        if name is not None:
            contact = await contact_named(terminal.phonebook, name)
            await _set(terminal, contact)
            uid: str | None = (await terminal.phonebook.uids_of((contact.contact_id,)))[0]
        elif none:
            await terminal.set_own_card(None)
            uid = None
        else:
            book = await _book(terminal)
            uid = None if book is None else book.own_card_uid
        found = None if uid is None else (await contacts_by_uid(terminal.phonebook)).get(uid)
    if as_json:
        contact_id = None if found is None else found.contact_id
        print_json({"uid": uid, "contact_id": contact_id})
    elif found is not None:
        print_text(sync_texts.OWN_CARD_IS.format(name=found.display_name))
    elif uid is not None:
        print_note(suggested(sync_texts.OWN_CARD_ELSEWHERE))
    elif none:
        print_text(sync_texts.OWN_CARD_GONE)
    else:
        print_note(suggested(sync_texts.NO_OWN_CARD))


async def contacts_by_uid(phonebook: Phonebook) -> dict[str, Contact]:
    """The contacts of which the owner has an entry, by the entry's uid."""
    own = [contact for contact in await phonebook.contacts() if contact.own]
    uids = await phonebook.uids_of([contact.contact_id for contact in own])
    return dict(zip(uids, own, strict=True))


async def _book(terminal: Terminal) -> BookView | None:
    return next((book for book in (await terminal.books()).books if book.book == "main"), None)


async def _set(terminal: Terminal, contact: Contact) -> None:
    try:
        await terminal.set_own_card(contact.contact_id)
    except CommandRefused as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        text = suggested(sync_texts.NOT_IN_BOOK, name=contact.display_name)
        raise CommandError(text) from error
