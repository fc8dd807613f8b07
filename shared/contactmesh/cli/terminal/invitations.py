"""Invitations: sending, answering and withdrawing them."""

from collections.abc import Sequence
from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected, phonebook_of
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
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.group.views import InvitationView
from contactmesh.terminal import CommandRefused, OpenInvitation, TerminalInUse

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
    try:
        async with connected(place) as terminal:
            listing = await terminal.groups()
            received: Sequence[InvitationView | OpenInvitation] = listing.invitations
            sent = await sent_invitations(terminal, listing)
            people = await People.known(terminal.phonebook, terminal.user_id)
    except TerminalInUse:
        async with phonebook_of(place) as phonebook:
            received, sent = await phonebook.invitations(), []
            people = await People.known(phonebook, place.user_id)
        if not as_json:
            print_note(texts.AS_KNOWN_RECEIVED)
    if as_json:
        print_json([*(_json_of(each, place.user_id) for each in received), *sent])
    elif received or sent:
        print_table(
            texts.COLUMNS_INVITATIONS,
            [
                (
                    invitation.group_name,
                    people.name(invitation.inviter_id),
                    people.name(_invitee(invitation, place.user_id)),
                    invitation.expires_at.astimezone().strftime("%Y-%m-%d"),
                    short_id(invitation.invitation_id),
                )
                for invitation in (*received, *sent)
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
        print_note(suggested(texts.ACCEPTED_NEXT, group=quote(found.group_name)))


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


def _invitee(invitation: InvitationView | OpenInvitation, own_id: str) -> str:
    return own_id if isinstance(invitation, OpenInvitation) else invitation.invitee_id


def _json_of(invitation: InvitationView | OpenInvitation, own_id: str) -> JsonValue:
    if isinstance(invitation, InvitationView):
        view: JsonValue = invitation.payload()
        return view
    return {
        "invitation_id": invitation.invitation_id,
        "group_id": invitation.group_id,
        "group_name": invitation.group_name,
        "inviter_id": invitation.inviter_id,
        "invitee_id": own_id,
        "expires_at": invitation.expires_at.isoformat(),
    }


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
