"""Who may look at one's numbers, who did, and in which order one dials others'."""

from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_json,
    print_note,
    print_rows,
    print_text,
)
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import ContactName, UserName, contact_named, user_named
from contactmesh.cli.terminal.people import People
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import match_key
from contactmesh.contracts.carrier.access import Granted, Look
from contactmesh.terminal import Terminal

app = typer.Typer()


@app.command(
    "grant",
    help=texts.HELP_GRANT,
    epilog=texts.EXAMPLE_GRANT,
    rich_help_panel=texts.PANEL_NUMBERS,
)
@at_a_terminal
async def grant(
    place: Place,
    user: UserName,
    details: Annotated[bool, typer.Option(help=texts.HELP_GRANT_DETAILS)] = True,
    state: Annotated[bool, typer.Option(help=texts.HELP_GRANT_STATE)] = False,
    usage: Annotated[bool, typer.Option(help=texts.HELP_GRANT_USAGE)] = False,
    as_json: AsJson = False,
) -> None:
    """Grant a user looks at one's numbers."""
    async with connected(place) as terminal:
        user_id = await user_named(terminal.phonebook, user)
        await terminal.grant(user_id, details=details, state=state, usage=usage)
    granted = Granted(viewer_id=user_id, details=details, state=state, usage=usage)
    if as_json:
        print_json(granted)
    else:
        print_text(texts.GRANTED.format(user_id=user_id, what=_sees(granted)))


@app.command(
    "revoke",
    help=texts.HELP_REVOKE,
    epilog=texts.EXAMPLE_REVOKE,
    rich_help_panel=texts.PANEL_NUMBERS,
)
@at_a_terminal
async def revoke(place: Place, user: UserName, as_json: AsJson = False) -> None:
    """Take a user's grant back."""
    async with connected(place) as terminal:
        user_id = await user_named(terminal.phonebook, user)
        await terminal.revoke_grant(user_id)
    if as_json:
        print_json({"viewer_id": user_id, "revoked": True})
    else:
        print_text(texts.REVOKED_GRANT.format(user_id=user_id))


@app.command("grants", help=texts.HELP_GRANTS, rich_help_panel=texts.PANEL_NUMBERS)
@at_a_terminal
async def grants(place: Place, as_json: AsJson = False) -> None:
    """List one's grants."""
    async with connected(place) as terminal:
        made = (await terminal.grants()).grants
        people = await People.known(terminal.phonebook, terminal.user_id)
    print_rows(
        made,
        texts.COLUMNS_GRANTS,
        lambda each: (each.viewer_id, people.display_name(each.viewer_id), _sees(each)),
        none=texts.NO_GRANTS,
        as_json=as_json,
    )


@app.command("looks", help=texts.HELP_LOOKS, rich_help_panel=texts.PANEL_NUMBERS)
@at_a_terminal
async def looks(
    place: Place,
    limit: Annotated[int, typer.Option(help=texts.HELP_LOOKS_LIMIT, min=1, max=10_000)] = 100,
    as_json: AsJson = False,
) -> None:
    """List who looked at one's numbers."""
    async with connected(place) as terminal:
        found, older = await _looks(terminal, limit)
        people = await People.known(terminal.phonebook, terminal.user_id)
    print_rows(
        found,
        texts.COLUMNS_LOOKS,
        lambda look: (
            local_time(look.at.isoformat()),
            local_time(look.last_at.isoformat()),
            str(look.count),
            look.viewer_id,
            people.display_name(look.viewer_id),
            ", ".join(look.fields),
            texts.ALLOWED[look.allowed],
        ),
        none=texts.NO_LOOKS,
        as_json=as_json,
    )
    if older:
        print_note(texts.OLDER_LOOKS)


@app.command(
    "dial-order",
    help=texts.HELP_DIAL_ORDER,
    epilog=texts.EXAMPLE_DIAL_ORDER,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def dial_order(
    place: Place,
    name: ContactName,
    numbers: Annotated[
        list[str] | None, typer.Argument(metavar="NUMBER...", help=texts.HELP_DIAL_NUMBERS)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Keep one's own dial order for a contact."""
    _, enrolment = place.enrolled()
    async with connected(place) as terminal:
        contact = await contact_named(terminal.phonebook, name)
        lines = (await terminal.phonebook.lines(contact.contact_id)).lines
        known = {line.number: line.ref for line in lines}
        order = []
        for number in numbers or ():
            ref = known.get(match_key(number, enrolment.region) or "")
            if ref is None:
                raise CommandError(suggested(texts.NOT_AT_THE_REGISTRY, number=number))
            order.append(ref)
        await terminal.set_dial_order(contact.contact_id, order)
        now = await terminal.phonebook.lines(contact.contact_id)
    dialled = [line.number for line in now.lines]
    if as_json:
        print_json({"contact_id": contact.contact_id, "own": bool(order), "numbers": dialled})
    elif order:
        print_text(texts.DIAL_ORDER.format(name=contact.display_name, numbers=", ".join(dialled)))
    else:
        print_text(texts.DIAL_ORDER_GONE.format(name=contact.display_name))


async def _looks(terminal: Terminal, limit: int) -> tuple[list[Look], bool]:
    """The latest looks, and whether there are older ones."""
    log = await terminal.looks()
    found = list(log.looks)
    while log.has_more and len(found) < limit:
        log = await terminal.looks(before=found[-1].at)
        found += log.looks
    return found[:limit], log.has_more or len(found) > limit


def _sees(granted: Granted) -> str:
    each = (
        (granted.details, texts.DETAILS),
        (granted.state, texts.STATE),
        (granted.usage, texts.USAGE),
    )
    return ", ".join(what for seen, what in each if seen) or texts.NOTHING_GRANTED
