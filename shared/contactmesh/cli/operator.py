"""`contactmesh operator`: registering people, letting their terminals in, keeping them out."""

from typing import Annotated

import typer
from pydantic import ValidationError

from contactmesh.cli import operator_carrier, parked, texts
from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.locating import (
    DataFolder,
    IdentityUrl,
    OperatorTokenFile,
    operator_access,
    where_options,
)
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_json,
    print_note,
    print_table,
    print_text,
)
from contactmesh.cli.running import async_command
from contactmesh.contracts.identity import RegisterUser

app = typer.Typer(help=texts.HELP_OPERATOR, epilog=texts.EXAMPLES_OPERATOR, no_args_is_help=True)
user = typer.Typer(help=texts.HELP_USERS, no_args_is_help=True)
terminal = typer.Typer(help=texts.HELP_TERMINALS, no_args_is_help=True)
app.add_typer(user, name="user")
app.add_typer(terminal, name="terminal")
app.add_typer(operator_carrier.app, name="carrier")
app.add_typer(parked.app, name="parked")

UserArgument = Annotated[str, typer.Argument(help=texts.HELP_USER_ID)]
TerminalArgument = Annotated[str, typer.Argument(help=texts.HELP_TERMINAL_ID)]


@user.command("add", help=texts.HELP_USER_ADD, epilog=texts.EXAMPLE_USER_ADD)
@async_command
async def add_user(
    user_id: UserArgument,
    name: Annotated[str, typer.Option("--name", help=texts.HELP_NAME)],
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Register a user."""
    wanted = _user_to_register(user_id, name)
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        row = await client.register(wanted)
    if as_json:
        print_json(row)
    else:
        print_text(texts.USER_ADDED.format(name=row.display_name, user_id=row.user_id))
        if row.terminals == 0:
            print_note(
                texts.USER_ADD_NEXT.format(
                    user_id=row.user_id, where=where_options(data, identity_url)
                )
            )


@user.command("list", help=texts.HELP_USER_LIST, epilog=texts.EXAMPLE_USER_LIST)
@async_command
async def list_users(
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """List all users."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        rows = await client.users()
    if as_json:
        print_json(rows)
    elif rows:
        print_table(
            texts.COLUMNS_USERS,
            [(row.user_id, row.display_name, str(row.terminals)) for row in rows],
        )
    else:
        print_note(texts.NO_USERS)


@user.command("code", help=texts.HELP_USER_CODE, epilog=texts.EXAMPLE_USER_CODE)
@async_command
async def mint_code(
    user_id: UserArgument,
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Mint a one-time enrolment code."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        minted = await client.mint(user_id)
    if as_json:
        print_json(minted)
    else:
        print_text(
            texts.CODE_MINTED.format(
                code=minted.code,
                user_id=user_id,
                expires_at=local_time(minted.expires_at),
                where=where_options(data, identity_url),
            )
        )


@terminal.command("list", help=texts.HELP_TERMINAL_LIST, epilog=texts.EXAMPLE_TERMINAL_LIST)
@async_command
async def list_terminals(
    user_id: UserArgument,
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """List a user's terminals."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        rows = await client.terminals(user_id)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(
            texts.COLUMNS_TERMINALS,
            [
                (
                    row.terminal_id,
                    row.name,
                    local_time(row.enrolled_at),
                    "" if row.revoked_at is None else local_time(row.revoked_at),
                )
                for row in rows
            ],
        )
    else:
        print_note(
            texts.NO_TERMINALS.format(user_id=user_id, where=where_options(data, identity_url))
        )


@terminal.command("revoke", help=texts.HELP_TERMINAL_REVOKE, epilog=texts.EXAMPLE_TERMINAL_REVOKE)
@async_command
async def revoke_terminal(
    terminal_id: TerminalArgument,
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Shut a terminal out."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        await client.revoke(terminal_id)
    if as_json:
        print_json({"terminal_id": terminal_id, "revoked": True})
    else:
        print_text(texts.TERMINAL_REVOKED.format(terminal_id=terminal_id))


def _user_to_register(user_id: str, name: str) -> RegisterUser:
    try:
        return RegisterUser(user_id=user_id, display_name=name)
    except ValidationError as error:
        wrong = {item["loc"][0] for item in error.errors(include_input=False)}
        text = texts.BAD_USER_ID if "user_id" in wrong else texts.BAD_NAME
        raise WrongUsage(text) from None
