"""Groups: making them, seeing them, and leaving them."""

from datetime import datetime
from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue, ValidationError

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.connecting import connected, phonebook_of
from contactmesh.cli.terminal.naming import (
    GroupName,
    UserName,
    find_group,
    group_named,
    short_id,
    user_named,
)
from contactmesh.cli.terminal.people import People
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.group.commands import GroupShown
from contactmesh.contracts.group.views import GroupSummary
from contactmesh.terminal import TerminalInUse

app = typer.Typer()


@app.command(
    "create",
    help=texts.HELP_GROUP_CREATE,
    epilog=texts.EXAMPLE_GROUP_CREATE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def create(
    place: Place,
    name: Annotated[str, typer.Argument(help=texts.HELP_NEW_GROUP)],
    member: Annotated[
        list[str] | None, typer.Option("--member", metavar="USER", help=texts.HELP_MEMBER)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a group."""
    async with connected(place) as terminal:
        members = [await user_named(terminal.phonebook, each) for each in member or []]
        try:
            group_id = await terminal.create_group(name, members)
        except ValidationError as error:
            raise WrongUsage(texts.BAD_GROUP_NAME) from error
    if as_json:
        print_json({"group_id": group_id, "name": name.strip(), "members": list(members)})
        return
    print_text(texts.GROUP_CREATED.format(name=name.strip(), group_id=group_id))
    print_note(suggested(texts.GROUP_NEXT, name=quote(name.strip())))


@app.command(
    "list",
    help=texts.HELP_GROUP_LIST,
    epilog=texts.EXAMPLE_GROUP_LIST,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def list_groups(place: Place, as_json: AsJson = False) -> None:
    """List the user's groups."""
    try:
        async with connected(place) as terminal:
            listing = await terminal.groups()
            people = await People.known(terminal.phonebook, terminal.user_id)
    except TerminalInUse:
        await _list_known(place, as_json)
        return
    if as_json:
        print_json(listing.groups)
    elif listing.groups:
        print_table(
            texts.COLUMNS_GROUPS,
            [
                (
                    group.name,
                    str(group.members),
                    people.name(group.owner_id),
                    texts.ROLES[group.role],
                    _day(group.joined_at),
                    short_id(group.group_id),
                )
                for group in listing.groups
            ],
        )
    else:
        print_note(suggested(texts.NO_GROUPS))
    if listing.invitations and not as_json:
        _tell_waiting(len(listing.invitations))


@app.command(
    "show",
    help=texts.HELP_GROUP_SHOW,
    epilog=texts.EXAMPLE_GROUP_SHOW,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def show(place: Place, group: GroupName, as_json: AsJson = False) -> None:
    """Show a group and its members."""
    try:
        async with connected(place) as terminal:
            found = await group_named(terminal, group)
            shown = await terminal.show(found.group_id)
            people = await People.known(terminal.phonebook, terminal.user_id)
    except TerminalInUse:
        await _show_known(place, group, as_json)
        return
    if as_json:
        print_json(shown)
    else:
        _show(shown, people)


@app.command(
    "leave",
    help=texts.HELP_GROUP_LEAVE,
    epilog=texts.EXAMPLE_GROUP_LEAVE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def leave(
    place: Place, group: GroupName, yes: SaidYes = False, as_json: AsJson = False
) -> None:
    """Leave a group."""
    async with connected(place, asks=not yes) as terminal:
        found = await group_named(terminal, group)
        sure(texts.ASK_LEAVE.format(group=found.name), yes)
        await terminal.leave(found.group_id)
    _tell(found, "left", texts.LEFT.format(group=found.name), as_json)


@app.command(
    "remove",
    help=texts.HELP_GROUP_REMOVE,
    epilog=texts.EXAMPLE_GROUP_REMOVE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def remove(
    place: Place, group: GroupName, user: UserName, yes: SaidYes = False, as_json: AsJson = False
) -> None:
    """Remove a member from one's own group."""
    async with connected(place, asks=not yes) as terminal:
        found = await group_named(terminal, group)
        user_id = await user_named(terminal.phonebook, user)
        sure(texts.ASK_REMOVE.format(user_id=user_id, group=found.name), yes)
        await terminal.remove(found.group_id, user_id)
    text = texts.REMOVED.format(user_id=user_id, group=found.name)
    _tell(found, "removed", text, as_json, user_id=user_id)


@app.command(
    "hand-over",
    help=texts.HELP_GROUP_HAND_OVER,
    epilog=texts.EXAMPLE_GROUP_HAND_OVER,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def hand_over(
    place: Place, group: GroupName, user: UserName, as_json: AsJson = False
) -> None:
    """Make another member the owner."""
    async with connected(place) as terminal:
        found = await group_named(terminal, group)
        user_id = await user_named(terminal.phonebook, user)
        await terminal.hand_over(found.group_id, user_id)
    text = texts.HANDED_OVER.format(user_id=user_id, group=found.name)
    _tell(found, "handed_over", text, as_json, user_id=user_id)


@app.command(
    "dissolve",
    help=texts.HELP_GROUP_DISSOLVE,
    epilog=texts.EXAMPLE_GROUP_DISSOLVE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def dissolve(
    place: Place, group: GroupName, yes: SaidYes = False, as_json: AsJson = False
) -> None:
    """End one's own group for everyone."""
    async with connected(place, asks=not yes) as terminal:
        found = await group_named(terminal, group)
        sure(texts.ASK_DISSOLVE.format(group=found.name, members=found.members), yes)
        await terminal.dissolve(found.group_id)
    _tell(found, "dissolved", texts.DISSOLVED.format(group=found.name), as_json)


@app.command(
    "subscribe",
    help=texts.HELP_GROUP_SUBSCRIBE,
    epilog=texts.EXAMPLE_GROUP_SUBSCRIBE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def subscribe(place: Place, group: GroupName, as_json: AsJson = False) -> None:
    """Receive a group's pushes on this terminal."""
    async with connected(place) as terminal:
        found = await group_named(terminal, group)
        await terminal.subscribe(found.group_id)
    _tell(found, "subscribed", texts.SUBSCRIBED.format(group=found.name), as_json)


@app.command(
    "unsubscribe",
    help=texts.HELP_GROUP_UNSUBSCRIBE,
    epilog=texts.EXAMPLE_GROUP_UNSUBSCRIBE,
    rich_help_panel=texts.PANEL_MEMBERSHIP,
)
@at_a_terminal
async def unsubscribe(place: Place, group: GroupName, as_json: AsJson = False) -> None:
    """Receive no pushes of a group on this terminal."""
    async with connected(place) as terminal:
        found = await group_named(terminal, group)
        await terminal.unsubscribe(found.group_id)
    _tell(found, "unsubscribed", texts.UNSUBSCRIBED.format(group=found.name), as_json)


async def _list_known(place: Place, as_json: bool) -> None:
    """List the groups as the phonebook knows them, beside the process that runs the terminal."""
    async with phonebook_of(place) as phonebook:
        people = await People.known(phonebook, place.user_id)
        waiting = await phonebook.invitations()
        groups = [
            (group, len(await phonebook.members(group.group_id)) + 1)
            for group in await phonebook.groups()
        ]
    if as_json:
        print_json(
            [
                {
                    "group_id": group.group_id,
                    "name": group.name,
                    "owner_id": group.owner_id,
                    "members": members,
                }
                for group, members in groups
            ]
        )
        return
    print_note(texts.AS_KNOWN)
    if groups:
        print_table(
            texts.COLUMNS_KNOWN_GROUPS,
            [
                (group.name, str(members), people.name(group.owner_id), short_id(group.group_id))
                for group, members in groups
            ],
        )
    else:
        print_note(suggested(texts.NO_GROUPS))
    if waiting:
        _tell_waiting(len(waiting))


async def _show_known(place: Place, name: str, as_json: bool) -> None:
    async with phonebook_of(place) as phonebook:
        group = find_group(await phonebook.groups(), name)
        people = await People.known(phonebook, place.user_id)
        members = await phonebook.members(group.group_id)
    if as_json:
        known: list[JsonValue] = [
            {"user_id": member.user_id, "role": member.role} for member in members
        ]
        print_json(
            {
                "group": {
                    "group_id": group.group_id,
                    "name": group.name,
                    "owner_id": group.owner_id,
                },
                "members": known,
            }
        )
        return
    print_text(texts.GROUP_TITLE.format(name=group.name, group_id=group.group_id))
    print_note(texts.AS_KNOWN)
    print_text("")
    roles = {member.user_id: texts.ROLES[member.role] for member in members if member.role}
    print_table(
        texts.COLUMNS_KNOWN_MEMBERS,
        [
            (
                user_id,
                people.display_name(user_id),
                texts.OWNER if user_id == group.owner_id else roles.get(user_id, ""),
            )
            for user_id in (place.user_id, *(member.user_id for member in members))
        ],
    )


def _tell_waiting(count: int) -> None:
    text = texts.INVITATION_WAITS if count == 1 else texts.INVITATIONS_WAIT
    print_note(suggested(text, count=count))


def _tell(group: GroupSummary, outcome: str, text: str, as_json: bool, **more: JsonValue) -> None:
    if as_json:
        print_json({"group_id": group.group_id, "name": group.name, "outcome": outcome, **more})
    else:
        print_text(text)


def _show(shown: GroupShown, people: People) -> None:
    group = shown.group
    print_text(texts.GROUP_TITLE.format(name=group.name, group_id=group.group_id))
    print_text(texts.PUSHED if shown.push else texts.NOT_PUSHED)
    if shown.card_rev is not None:
        print_text(texts.CARD_SHARED)
    else:
        print_text(suggested(texts.CARD_NOT_SHARED, group=quote(group.name)))
    print_text("")
    print_table(
        texts.COLUMNS_MEMBERS,
        [
            (
                member.user_id,
                people.display_name(member.user_id),
                texts.OWNER if member.user_id == group.owner_id else texts.ROLES[member.role],
                _day(member.joined_at),
                texts.BLOCKED if member.user_id in shown.blocked else "",
            )
            for member in shown.members
        ],
    )
    if shown.invitations:
        print_text("")
        print_table(
            texts.COLUMNS_INVITED,
            [
                (
                    people.name(invitation.invitee_id),
                    people.name(invitation.inviter_id),
                    _day(invitation.expires_at),
                    short_id(invitation.invitation_id),
                )
                for invitation in shown.invitations
            ],
        )


def _day(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d")
