"""Invitations: sending, answering and withdrawing them."""

from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import (
    GroupName,
    InvitationName,
    find_invitation,
    group_named,
    sent_invitations,
    short_id,
    user_named,
)
from contactmesh.cli.terminal.people import People
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.contracts.group.views import InvitationView
from contactmesh.terminal import CommandRefused

app = typer.Typer()


@app.command(
    "invite",
    help=texts.HELP_INVITE,
    epilog=texts.EXAMPLE_INVITE,
    rich_help_panel=texts.PANEL_INVITATIONS,
)
@at_a_terminal
async def invite(
    place: Place,
    group: GroupName,
    users: Annotated[list[str], typer.Argument(metavar="USER...", help=texts.HELP_USERS)],
    as_json: AsJson = False,
) -> None:
    """Invite users to a group."""
    sent: list[JsonValue] = []
    refused: CommandRefused | None = None
    async with connected(place) as terminal:
        found = await group_named(terminal, group)
        for user_id in [await user_named(terminal.phonebook, user) for user in users]:
            try:
                invitation_id = await terminal.invite(found.group_id, user_id)
            except CommandRefused as error:
                refused = error
                print_note(texts.NOT_INVITED.format(user_id=user_id, reason=error.error.message))
                continue
            sent.append({"user_id": user_id, "invitation_id": invitation_id})
            if not as_json:
                print_text(texts.INVITED.format(user_id=user_id, group=found.name))
    if as_json:
        print_json(sent)
    if refused is not None:
        raise refused


@app.command(
    "invitations",
    help=texts.HELP_INVITATIONS,
    epilog=texts.EXAMPLE_INVITATIONS,
    rich_help_panel=texts.PANEL_INVITATIONS,
)
@at_a_terminal
async def invitations(place: Place, as_json: AsJson = False) -> None:
    """List the invitations that wait."""
    async with connected(place) as terminal:
        listing = await terminal.groups()
        sent = await sent_invitations(terminal, listing)
        people = await People.known(terminal.phonebook, terminal.user_id)
    if as_json:
        print_json([*listing.invitations, *sent])
    elif listing.invitations or sent:
        print_table(
            texts.COLUMNS_INVITATIONS,
            [
                (
                    invitation.group_name,
                    people.name(invitation.inviter_id),
                    people.name(invitation.invitee_id),
                    invitation.expires_at.astimezone().strftime("%Y-%m-%d"),
                    short_id(invitation.invitation_id),
                )
                for invitation in (*listing.invitations, *sent)
            ],
        )
    else:
        print_note(texts.NO_INVITATIONS)


@app.command(
    "accept",
    help=texts.HELP_ACCEPT,
    epilog=texts.EXAMPLE_ACCEPT,
    rich_help_panel=texts.PANEL_INVITATIONS,
)
@at_a_terminal
async def accept(place: Place, invitation: InvitationName, as_json: AsJson = False) -> None:
    """Accept an invitation."""
    async with connected(place) as terminal:
        found = find_invitation((await terminal.groups()).invitations, invitation)
        await terminal.accept(found.invitation_id)
    _tell(found, "accepted", texts.ACCEPTED.format(group=found.group_name), as_json)
    if not as_json:
        print_note(texts.ACCEPTED_NEXT.format(group=quote(found.group_name)))


@app.command(
    "decline",
    help=texts.HELP_DECLINE,
    epilog=texts.EXAMPLE_DECLINE,
    rich_help_panel=texts.PANEL_INVITATIONS,
)
@at_a_terminal
async def decline(place: Place, invitation: InvitationName, as_json: AsJson = False) -> None:
    """Decline an invitation."""
    async with connected(place) as terminal:
        found = find_invitation((await terminal.groups()).invitations, invitation)
        await terminal.decline(found.invitation_id)
    _tell(found, "declined", texts.DECLINED.format(group=found.group_name), as_json)


@app.command(
    "withdraw",
    help=texts.HELP_WITHDRAW,
    epilog=texts.EXAMPLE_WITHDRAW,
    rich_help_panel=texts.PANEL_INVITATIONS,
)
@at_a_terminal
async def withdraw(place: Place, invitation: InvitationName, as_json: AsJson = False) -> None:
    """Take an invitation back."""
    async with connected(place) as terminal:
        sent = await sent_invitations(terminal, await terminal.groups())
        found = find_invitation(sent, invitation)
        await terminal.withdraw(found.invitation_id)
    text = texts.WITHDRAWN.format(user_id=found.invitee_id, group=found.group_name)
    _tell(found, "withdrawn", text, as_json)


def _tell(invitation: InvitationView, outcome: str, text: str, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "invitation_id": invitation.invitation_id,
                "group_id": invitation.group_id,
                "group_name": invitation.group_name,
                "outcome": outcome,
            }
        )
    else:
        print_text(text)
