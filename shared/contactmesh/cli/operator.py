"""`contactmesh operator`: registering people, letting their terminals in, keeping them out."""

from typing import Annotated

import typer

from contactmesh.cli import operator_carrier, operator_integrator, parked, texts
from contactmesh.cli.operator_desk import Desk, as_wanted, at_the_desk
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_json,
    print_note,
    print_rows,
    print_text,
)
from contactmesh.contracts.identity import RegisterUser

app = typer.Typer(help=texts.HELP_OPERATOR, epilog=texts.EXAMPLES_OPERATOR, no_args_is_help=True)
user = typer.Typer(help=texts.HELP_USERS, no_args_is_help=True)
terminal = typer.Typer(help=texts.HELP_TERMINALS, no_args_is_help=True)
app.add_typer(user, name="user")
app.add_typer(terminal, name="terminal")
app.add_typer(operator_carrier.app, name="carrier")
app.add_typer(operator_integrator.app, name="integrator")
app.add_typer(parked.app, name="parked")

UserArgument = Annotated[str, typer.Argument(help=texts.HELP_USER_ID)]
TerminalArgument = Annotated[str, typer.Argument(help=texts.HELP_TERMINAL_ID)]


@user.command("add", help=texts.HELP_USER_ADD, epilog=texts.EXAMPLE_USER_ADD)
@at_the_desk
async def add_user(
    desk: Desk,
    user_id: UserArgument,
    name: Annotated[str, typer.Option("--name", help=texts.HELP_NAME)],
    as_json: AsJson = False,
) -> None:
    """Register a user."""
    wrong = {"user_id": texts.BAD_USER_ID, "display_name": texts.BAD_NAME}
    wanted = as_wanted(RegisterUser, wrong, user_id=user_id, display_name=name)
    async with desk.client() as client:
        row = await client.register(wanted)
    if as_json:
        print_json(row)
    else:
        print_text(texts.USER_ADDED.format(name=row.display_name, user_id=row.user_id))
        if row.terminals == 0:
            print_note(texts.USER_ADD_NEXT.format(user_id=row.user_id, where=desk.where))


@user.command("list", help=texts.HELP_USER_LIST, epilog=texts.EXAMPLE_USER_LIST)
@at_the_desk
async def list_users(
    desk: Desk,
    as_json: AsJson = False,
) -> None:
    """List all users."""
    async with desk.client() as client:
        rows = await client.users()
    print_rows(
        rows,
        texts.COLUMNS_USERS,
        lambda row: (row.user_id, row.display_name, str(row.terminals)),
        none=texts.NO_USERS,
        as_json=as_json,
    )


@user.command("code", help=texts.HELP_USER_CODE, epilog=texts.EXAMPLE_USER_CODE)
@at_the_desk
async def mint_code(
    desk: Desk,
    user_id: UserArgument,
    as_json: AsJson = False,
) -> None:
    """Mint a one-time enrolment code."""
    async with desk.client() as client:
        minted = await client.mint(user_id)
    if as_json:
        print_json(minted)
    else:
        print_text(
            texts.CODE_MINTED.format(
                code=minted.code,
                user_id=user_id,
                expires_at=local_time(minted.expires_at),
                where=desk.where,
            )
        )


@terminal.command("list", help=texts.HELP_TERMINAL_LIST, epilog=texts.EXAMPLE_TERMINAL_LIST)
@at_the_desk
async def list_terminals(
    desk: Desk,
    user_id: UserArgument,
    as_json: AsJson = False,
) -> None:
    """List a user's terminals."""
    async with desk.client() as client:
        rows = await client.terminals(user_id)
    print_rows(
        rows,
        texts.COLUMNS_TERMINALS,
        lambda row: (
            row.terminal_id,
            row.name,
            local_time(row.enrolled_at),
            "" if row.revoked_at is None else local_time(row.revoked_at),
        ),
        none=texts.NO_TERMINALS.format(user_id=user_id, where=desk.where),
        as_json=as_json,
    )


@terminal.command("revoke", help=texts.HELP_TERMINAL_REVOKE, epilog=texts.EXAMPLE_TERMINAL_REVOKE)
@at_the_desk
async def revoke_terminal(
    desk: Desk,
    terminal_id: TerminalArgument,
    as_json: AsJson = False,
) -> None:
    """Shut a terminal out."""
    async with desk.client() as client:
        await client.revoke(terminal_id)
    if as_json:
        print_json({"terminal_id": terminal_id, "revoked": True})
    else:
        print_text(texts.TERMINAL_REVOKED.format(terminal_id=terminal_id))


@terminal.command(
    "rotate-secret", help=texts.HELP_TERMINAL_ROTATE, epilog=texts.EXAMPLE_TERMINAL_ROTATE
)
@at_the_desk
async def rotate_secret(
    desk: Desk,
    terminal_id: TerminalArgument,
    as_json: AsJson = False,
) -> None:
    """Make a terminal change its secret."""
    async with desk.client() as client:
        await client.demand_rotation(terminal_id)
    if as_json:
        print_json({"terminal_id": terminal_id, "must_rotate": True})
    else:
        print_text(texts.TERMINAL_MUST_ROTATE.format(terminal_id=terminal_id))
